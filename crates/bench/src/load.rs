//! The load generator beside its peers on nginx, in interleaved rounds, and against servers whose truth
//! is known.
//!
//! Every tool runs as a program of its own on the second core, so that all are measured from outside in
//! the same way; the server has the first. What is compared within a round is compared as a pair.

mod child;
mod nginx;
mod tools;
mod truth;

use std::error::Error;

use child::Ran;
use nginx::Nginx;
use stats::median;
use tools::{Task, Tool};

/// The peer that the goals are set beside.
const PEER: &str = "wrk";

/// What was asked for, and how long it takes.
struct Wanted {
    brief: bool,
    rounds: usize,
    seconds: u32,
    connections: Vec<u32>,
}

impl Wanted {
    /// `--brief` shows that all works, without a claim; alone, each figure rests on seven rounds.
    fn of(arguments: &[String]) -> Result<Wanted, String> {
        let brief = match arguments {
            [] => false,
            [flag] if flag == "--brief" => true,
            _ => return Err(format!("{arguments:?}: expected --brief or nothing")),
        };
        Ok(Wanted {
            brief,
            rounds: if brief { 1 } else { 7 },
            seconds: if brief { 1 } else { 5 },
            connections: if brief { vec![50] } else { vec![1, 50, 1_000] },
        })
    }
}

/// What one tool did in one round.
struct Run {
    tool: &'static str,
    round: usize,
    requests_per_cpu_s: f64,
    rps: f64,
    memory_mb: f64,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
}

/// Runs all of it; whether every goal was met.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let wanted = Wanted::of(arguments)?;
    let tools = tools::installed();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    println!("tools: {}", names.join(", "));
    let server = Nginx::start()?;
    let mut met = true;
    for connections in &wanted.connections {
        let mut runs = Vec::new();
        for round in 0..wanted.rounds {
            // The order turns, so that none always comes behind the same one.
            for place in 0..tools.len() {
                let tool = &tools[(place + round) % tools.len()];
                let task = Task {
                    url: server.url(),
                    connections: *connections,
                    seconds: wanted.seconds,
                };
                runs.push(measure(tool, &task, round)?);
            }
        }
        println!(
            "\n{connections} connections, {} rounds of {} s",
            wanted.rounds, wanted.seconds
        );
        print(&names, &runs);
        met &= goals(&names, *connections, &runs);
    }
    drop(server);
    met &= truth::run(wanted.seconds, wanted.brief)?;
    Ok(met)
}

fn measure(tool: &Tool, task: &Task<'_>, round: usize) -> Result<Run, Box<dyn Error>> {
    let Ran {
        output,
        cpu_s,
        memory_mb,
    } = child::run(&(tool.command)(task))?;
    let told = (tool.read)(&output)
        .ok_or_else(|| format!("{} printed something unexpected:\n{output}", tool.name))?;
    Ok(Run {
        tool: tool.name,
        round,
        requests_per_cpu_s: told.requests / cpu_s,
        rps: told.requests / f64::from(task.seconds),
        memory_mb,
        p50_ms: told.p50_ms,
        p99_ms: told.p99_ms,
    })
}

fn print(names: &[&str], runs: &[Run]) {
    println!(
        "{:<16}{:>14}{:>12}{:>10}{:>10}{:>10}{:>12}",
        "tool", "req/CPU-s", "req/s", "MB", "p50 ms", "p99 ms", "of wrk"
    );
    for name in names {
        let middle = |of: &dyn Fn(&Run) -> Option<f64>| {
            let values: Vec<f64> = runs
                .iter()
                .filter(|run| run.tool == *name)
                .filter_map(of)
                .collect();
            median(&values)
        };
        let show = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
        };
        println!(
            "{name:<16}{:>14}{:>12}{:>10}{:>10}{:>10}{:>12}",
            show(middle(&|run| Some(run.requests_per_cpu_s)), 0),
            show(middle(&|run| Some(run.rps)), 0),
            show(middle(&|run| Some(run.memory_mb)), 1),
            show(middle(&|run| run.p50_ms), 3),
            show(middle(&|run| run.p99_ms), 3),
            show(ratio(name, runs, &|run| Some(run.requests_per_cpu_s)), 3),
        );
    }
}

/// The median over the rounds of a tool's figure to the peer's in the same round.
fn ratio(name: &str, runs: &[Run], of: &dyn Fn(&Run) -> Option<f64>) -> Option<f64> {
    let in_round = |name: &str, round| {
        runs.iter()
            .find(|run| run.tool == name && run.round == round)
            .and_then(of)
    };
    let rounds = runs.iter().map(|run| run.round).max()? + 1;
    let ratios: Vec<f64> = (0..rounds)
        .filter_map(|round| Some(in_round(name, round)? / in_round(PEER, round)?))
        .collect();
    median(&ratios)
}

/// The goals of the project, said with what came.
fn goals(names: &[&str], connections: u32, runs: &[Run]) -> bool {
    let mut met = true;
    let mut say = |what: String, came: Option<f64>, holds: &dyn Fn(f64) -> bool| {
        let Some(came) = came else {
            return;
        };
        let good = holds(came);
        met &= good;
        println!(
            "  {} {what}: {came:.3}",
            if good { "met   " } else { "MISSED" }
        );
    };
    let cpu = |name| ratio(name, runs, &|run| Some(run.requests_per_cpu_s));
    let least = if connections == 1 {
        (1.0, 1.0)
    } else {
        (1.1, 1.3)
    };
    say(
        format!("epoll ≥ {} × wrk a CPU second", least.0),
        cpu(tools::EPOLL),
        &|came| came >= least.0,
    );
    if names.contains(&tools::URING) {
        say(
            format!("io_uring ≥ {} × wrk a CPU second", least.1),
            cpu(tools::URING),
            &|came| came >= least.1,
        );
    }
    let p50 = ratio(tools::EPOLL, runs, &|run| run.p50_ms);
    say("p50 within 5% of wrk's".to_owned(), p50, &|came| {
        (came - 1.0).abs() <= 0.05
    });
    let memory = (runs.iter())
        .filter(|run| run.tool == tools::EPOLL)
        .map(|run| run.memory_mb)
        .reduce(f64::max);
    say("memory ≤ 32 MB".to_owned(), memory, &|came| came <= 32.0);
    met
}
