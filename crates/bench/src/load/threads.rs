//! What a second thread of the generator gives.
//!
//! A generator on two idle cores and a server on another two need four; the machine has two. So the
//! pair is simulated: both threads run on the two cores that the server runs on too, at the same
//! time, and what a request costs there is compared with what it costs one thread. Threads that
//! wait for each other, share lines of memory or do each other's work spend more CPU on a request,
//! and two idle cores would give so much less.

use std::error::Error;

use super::child;
use super::nginx::{Nginx, Serves};
use super::tools::{self, Task};
use super::{Wanted, mark};
use stats::median;

const CONNECTIONS: u32 = 50;
const THREADS: u32 = 2;
/// Least of one thread's requests per second.
const GOAL: f64 = 1.9;

/// Runs both on each engine in interleaved rounds; returns whether the goal was met.
pub(super) fn run(wanted: &Wanted) -> Result<bool, Box<dyn Error>> {
    println!("\n{THREADS} threads beside one");
    let server = Nginx::start(Serves::File)?;
    let mut met = true;
    let engines = tools::installed().into_iter();
    for tool in engines.filter(|tool| [tools::EPOLL, tools::URING].contains(&tool.name)) {
        let measure = |threads: u32| -> Result<f64, Box<dyn Error>> {
            let task = Task {
                threads,
                ..Task::of(server.url(), CONNECTIONS, wanted.block_seconds)
            };
            let ran = child::run_on_all(&(tool.command)(&task))?;
            let told = (tool.read)(&ran.output).ok_or("hakaru printed something unexpected")?;
            Ok(told.requests / ran.cpu_s)
        };
        let mut ratios = Vec::new();
        for round in 0..wanted.rounds {
            // The order turns.
            let (one, several) = match round % 2 {
                0 => (measure(1)?, measure(THREADS)?),
                _ => {
                    let several = measure(THREADS)?;
                    (measure(1)?, several)
                }
            };
            ratios.push(f64::from(THREADS) * several / one);
        }
        let came = median(&ratios).ok_or("no rounds")?;
        let good = came >= GOAL;
        met &= good;
        println!(
            "  {} {}: {THREADS} threads on idle cores would send {came:.3} × as much as one, asked {GOAL}",
            mark(good),
            tool.name
        );
    }
    Ok(met)
}
