//! Servers whose latencies can be computed: what is measured must be what is true.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::server::Server;
use super::{child, tools};

/// Greatest relative error of a figure.
const PART_MAX: f64 = 0.05;
/// Exact service time of the server.
const EXACTLY: Duration = Duration::from_millis(10);
/// Length of a stall at the beginning of every second.
const STALL: Duration = Duration::from_millis(500);
const SECOND: Duration = Duration::from_secs(1);
/// Number of places in the server, each taken for the service time of a response: 800 responses per
/// second at most.
const PLACES: usize = 4;
const SERVICE: Duration = Duration::from_millis(5);
const LIMIT: f64 = 800.0;
/// Greatest relative error of the limit found.
const LIMIT_PART_MAX: f64 = 0.03;
/// Searches, all of which must be right, and the time of each.
const SEARCHES: (u32, u32) = (10, 60);
const SEARCHES_BRIEF: (u32, u32) = (1, 20);

/// Runs the tables; whether all figures were true.
pub(crate) fn run(seconds: u32, brief: bool) -> Result<bool, Box<dyn Error>> {
    println!("\ntruth, open loop from due");
    let exactly = Server::start(Box::new(|came| came + EXACTLY))?;
    let begin = Instant::now();
    let stalls = Server::start(Box::new(move |came| leave_stall(begin, came)))?;
    let mut met = true;
    let figures = load(exactly.address, 500, seconds)?;
    for (name, came) in [("p50", figures.p50), ("p99", figures.p99)] {
        met &= say(&format!("10 ms exactly, {name}"), came, 10.0);
    }
    tell_lateness(&exactly, &figures);
    // Half of the requests meet a stall and wait for what is left of it, any part being equally
    // likely: beyond the median, the quantile q is 500 ms less 1,000 ms times what lies beyond q.
    let figures = load(stalls.address, 1_000, seconds.max(2))?;
    met &= say("500 ms stalls, p99", figures.p99, 490.0);
    met &= say("500 ms stalls, p99.9", figures.p99_9, 499.0);
    tell_lateness(&stalls, &figures);
    let (searches, length) = if brief { SEARCHES_BRIEF } else { SEARCHES };
    for _ in 0..searches {
        // A server of its own for each, so that no search finds what another left behind.
        let mut places = vec![begin; PLACES];
        let few = Server::start(Box::new(move |came| leave_place(&mut places, came)))?;
        met &= search(few.address, length)?;
    }
    Ok(met)
}

fn say(what: &str, came: Option<f64>, truth: f64) -> bool {
    let good = came.is_some_and(|came| (came / truth - 1.0).abs() <= PART_MAX);
    let came = came.map_or_else(|| "unknown".to_owned(), |came| format!("{came:.2} ms"));
    let mark = super::mark(good);
    println!("  {mark} {what}: {came}, truth {truth} ms");
    good
}

/// Prints the lateness of the server, and of the generator by the generator's own figures: delays
/// by the host are in every figure from due.
fn tell_lateness(server: &Server, figures: &Figures) {
    let late = server.lateness();
    if let (Some(answers), Some(requests)) = (late.get(late.len() * 99 / 100), figures.late) {
        println!("       of it late at p99: answers {answers:.2} ms, requests {requests:.2} ms");
    }
}

struct Figures {
    p50: Option<f64>,
    p99: Option<f64>,
    p99_9: Option<f64>,
    /// How late requests were sent, at p99.
    late: Option<f64>,
}

fn load(address: SocketAddr, rate: u32, seconds: u32) -> Result<Figures, Box<dyn Error>> {
    let mut command = vec![tools::program().display().to_string()];
    let arguments = format!("load http://{address}/ --rate {rate} -c 1000 -d {seconds}s --json");
    command.extend(arguments.split(' ').map(str::to_owned));
    let json: serde_json::Value = serde_json::from_str(&child::run(&command)?.output)?;
    let at = |name: &str| json["latency_ms"][name].as_f64();
    Ok(Figures {
        p50: at("p50"),
        p99: at("p99"),
        p99_9: at("p99.9"),
        late: json["generator"]["lateness_ms"]["p99"].as_f64(),
    })
}

/// Searches the highest rate; returns whether the result is the limit.
fn search(address: SocketAddr, seconds: u32) -> Result<bool, Box<dyn Error>> {
    let url = format!("http://{address}/");
    let mut command = vec![tools::program().display().to_string()];
    command.extend(["load", &url, "--json", "-d", &format!("{seconds}s")].map(str::to_owned));
    command.extend(["--find-max", "p99 < 200ms, errors < 0.1%"].map(str::to_owned));
    let json: serde_json::Value = serde_json::from_str(&child::run(&command)?.output)?;
    let rate = json["max_rate"].as_f64().unwrap_or(0.0);
    let good = (rate / LIMIT - 1.0).abs() <= LIMIT_PART_MAX;
    let mark = super::mark(good);
    println!("  {mark} highest rate of {PLACES} at a time: {rate:.1}, truth {LIMIT}");
    Ok(good)
}

/// Returns the time at which a response leaves the first free place. Computed, not slept up to, so
/// that late wake-ups do not lower the limit.
fn leave_place(places: &mut [Instant], came: Instant) -> Instant {
    let Some(first) = places.iter_mut().min() else {
        return came;
    };
    *first = (*first).max(came) + SERVICE;
    *first
}

fn leave_stall(begin: Instant, came: Instant) -> Instant {
    let since = came.duration_since(begin);
    let phase = Duration::from_nanos((since.as_nanos() % SECOND.as_nanos()) as u64);
    came + STALL.saturating_sub(phase)
}
