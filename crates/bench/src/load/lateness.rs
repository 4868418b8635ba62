//! Lateness of an open load at half of the generator's capacity, beside a bare loop of sleeps.

use std::error::Error;
use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

use super::nginx::{Nginx, Serves};
use super::{child, tools};

const ROUNDS: (usize, usize) = (5, 1);
const CONNECTIONS: u32 = 50;
/// Greatest p99 of the lateness, in milliseconds, unless twice the bare loop's is more.
const LATE_MS_MAX: f64 = 0.2;
/// Seconds for measuring the capacity.
const CAPACITY_SECONDS: u32 = 2;

/// Runs the rounds; whether the lateness was small in each.
pub(super) fn run(seconds: u32, brief: bool) -> Result<bool, Box<dyn Error>> {
    println!("\nlateness of an open load at half of the capacity, p99");
    let server = Nginx::start(Serves::File)?;
    let rate = capacity(&server)? / 2.0;
    let mut met = true;
    for _ in 0..if brief { ROUNDS.1 } else { ROUNDS.0 } {
        let bare_ms = bare(rate, seconds)?;
        for engine in tools::engines() {
            let late_ms = load(&server, engine, rate, seconds)?;
            let good = late_ms <= LATE_MS_MAX.max(2.0 * bare_ms);
            met &= good;
            println!(
                "  {} {engine} at {rate:.0} a second: {late_ms:.3} ms, a bare loop {bare_ms:.3} ms",
                super::mark(good)
            );
        }
    }
    Ok(met)
}

fn json_of(arguments: &str) -> Result<serde_json::Value, Box<dyn Error>> {
    let mut command = vec![tools::program().display().to_string()];
    command.extend(arguments.split(' ').map(str::to_owned));
    Ok(serde_json::from_str(&child::run(&command)?.output)?)
}

fn capacity(server: &Nginx) -> Result<f64, Box<dyn Error>> {
    let url = server.url();
    let json = json_of(&format!(
        "load {url} -c {CONNECTIONS} -d {CAPACITY_SECONDS}s --engine epoll --json"
    ))?;
    Ok(json["rps"].as_f64().ok_or("no rate in the JSON")?)
}

fn load(server: &Nginx, engine: &str, rate: f64, seconds: u32) -> Result<f64, Box<dyn Error>> {
    let url = server.url();
    let json = json_of(&format!(
        "load {url} --engine {engine} --rate {rate:.0} -d {seconds}s --json"
    ))?;
    let late = json["generator"]["lateness_ms"]["p99"].as_f64();
    Ok(late.ok_or("no lateness in the JSON")?)
}

/// Runs the bare loop on the client's core, as a separate program.
fn bare(rate: f64, seconds: u32) -> Result<f64, Box<dyn Error>> {
    let own = std::env::current_exe()?.display().to_string();
    let words = [
        &own,
        "load",
        "--bare-timer",
        &rate.to_string(),
        &seconds.to_string(),
    ];
    let ran = child::run(&words.map(str::to_owned))?;
    Ok(ran.output.trim().parse()?)
}

/// Sleeps up to each tick of a rate and prints the p99 of the lateness, in milliseconds.
pub(super) fn print_bare(rate: &str, seconds: &str) -> Result<bool, Box<dyn Error>> {
    let (rate, seconds): (f64, f64) = (rate.parse()?, seconds.parse()?);
    let start = now();
    let mut late: Vec<u64> = Vec::new();
    for tick in 1..(rate * seconds) as u64 {
        let due = start + (tick as f64 / rate * 1e9) as u64;
        let left = due.saturating_sub(now());
        std::thread::sleep(Duration::from_nanos(left));
        late.push(now().saturating_sub(due));
    }
    late.sort_unstable();
    let p99 = late.get(late.len() * 99 / 100).ok_or("no ticks")?;
    println!("{}", *p99 as f64 / 1e6);
    Ok(true)
}

fn now() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}
