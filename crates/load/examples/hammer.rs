//! Loads one URL and prints what came of it, for a look at the engine itself:
//! `cargo run --release -p hakaru-load --example hammer -- [URL [CONNECTIONS [RATE]]]`.
//! Without a URL it loads a server of its own that answers `hello`; with a rate the load is open.

#![expect(clippy::print_stdout, reason = "a program for people")]

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::AtomicBool;

use load::{Pace, Plan, run};
use recording::{Nanos, Outcome};
use scenario::Scenario;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = match arguments.next() {
        Some(url) if url != "-" => url,
        _ => serve_hello()?,
    };
    let connections = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let pace = match arguments.next() {
        None => Pace::Closed,
        Some(rate) => Pace::Constant {
            per_second: rate.parse()?,
        },
    };
    let plan = Plan {
        connections,
        pace,
        warmup: Nanos(500_000_000),
        duration: Nanos(3_000_000_000),
        ..Plan::default()
    };
    let mut exchanges = Vec::new();
    let scenario = Scenario::single(&url)?;
    let result = run(&plan, &scenario, &AtomicBool::new(false), &mut |batch| {
        exchanges.extend(batch.exchanges);
    })?;
    exchanges.retain(|exchange| result.window.contains(exchange.due));
    let seconds = result.window.length().as_secs_f64();
    let ok = exchanges
        .iter()
        .filter(|e| e.outcome == Outcome::Ok)
        .count();
    println!(
        "{} exchanges, {ok} ok, {:.0} a second",
        exchanges.len(),
        ok as f64 / seconds
    );
    show(
        "latency",
        exchanges.iter().map(|e| e.answered.since(e.due)).collect(),
    );
    show(
        "late",
        exchanges.iter().map(|e| e.sent.since(e.due)).collect(),
    );
    let cpu = result.generator.cpu.as_secs_f64();
    println!(
        "generator: {:.0} % of a core, {:.1} us a request; {} unsent",
        100.0 * cpu / seconds,
        1e6 * cpu / ok.max(1) as f64,
        result.generator.unsent
    );
    Ok(())
}

fn show(name: &str, mut lengths: Vec<Nanos>) {
    lengths.sort();
    let at = |share: f64| {
        let position = (lengths.len() as f64 * share) as usize;
        let length = lengths.get(position.min(lengths.len().saturating_sub(1)));
        length.map_or(0.0, |length| length.as_millis_f64())
    };
    println!(
        "{name} ms: p50 {:.3}, p99 {:.3}, max {:.3}",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

/// One thread a connection; a request is whatever one read brings.
fn serve_hello() -> Result<String, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/", listener.local_addr()?);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
                    if stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    Ok(url)
}
