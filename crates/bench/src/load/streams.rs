//! Hakaru beside h2load over HTTP/2 without TLS: requests a CPU second, in interleaved rounds.

use std::error::Error;

use super::nginx::{Nginx, Serves};
use super::tools::{self, H2LOAD, Task};
use super::{Wanted, mark, print, ratio, rounds};

/// Connections, and requests at once on each.
const SHAPES: [(u32, u32); 5] = [(1, 1), (1, 10), (1, 100), (20, 5), (100, 1)];
/// Least of h2load's requests a CPU second, on each engine.
const GOAL: f64 = 1.0;

/// Runs all shapes; returns whether each engine met the goal in each shape.
pub(super) fn run(wanted: &Wanted) -> Result<bool, Box<dyn Error>> {
    println!("\nHTTP/2 beside h2load");
    let tools = tools::of_http2();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    if !names.contains(&H2LOAD) {
        return Err("there is no h2load in PATH; `cargo xtask setup --for test` unpacks it".into());
    }
    let server = Nginx::start(Serves::Http2)?;
    let mut met = true;
    let is_wanted = |shape: &&(u32, u32)| wanted.has_connections(shape.0);
    for (connections, streams) in SHAPES.iter().filter(is_wanted).copied() {
        let task = Task {
            streams: Some(streams),
            ..Task::of(server.url(), connections, wanted.block_seconds)
        };
        let runs = rounds(&tools, &task, wanted.rounds)?;
        println!(
            "\n{connections} connections × {streams} streams, {} rounds of {} s",
            wanted.rounds, wanted.block_seconds
        );
        print((&names, H2LOAD), &runs);
        for name in names.iter().filter(|name| **name != H2LOAD) {
            let cpu = ratio((name, H2LOAD), &runs, &|run| Some(run.requests_per_cpu_s));
            let cpu = cpu.ok_or("no round had both tools")?;
            let good = cpu >= GOAL;
            met &= good;
            println!(
                "  {} {name} ≥ {GOAL} × h2load a CPU second: {cpu:.3}",
                mark(good)
            );
        }
    }
    Ok(met)
}
