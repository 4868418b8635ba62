//! The load generator beside peers on nginx, in interleaved rounds, and against servers with known
//! truth.
//!
//! Every tool runs as a program of its own on the second core, so that all are measured from
//! outside in the same way; the server has the first. What is compared within a round is compared
//! as a pair.

mod bare;
mod child;
mod goaway;
mod lateness;
mod memory;
mod nginx;
mod scripted;
mod server;
mod streams;
mod threads;
mod tools;
mod truth;

use std::error::Error;

use child::Ran;
use nginx::{Nginx, Serves};
use stats::median;
use tools::{Task, Tool};

use crate::options;

/// Peer for comparison with the goals.
const PEER: &str = "wrk";
/// Tools required in every round; any other tool may fail in a round.
const JUDGED: [&str; 3] = [tools::EPOLL, tools::URING, PEER];
/// What can be run alone.
const PARTS: [&str; 8] = [
    "peers", "http2", "goaway", "scenario", "threads", "lateness", "truth", "memory",
];

/// Parts and rounds to run, with durations.
struct Wanted {
    brief: bool,
    /// Name of the only part to run; empty: all.
    part: String,
    rounds: usize,
    /// Of one tool in one round: short, since the host's speed changes by a quarter within seconds.
    block_seconds: u32,
    /// Of a load beside no peer.
    seconds: u32,
    connections: Vec<u32>,
    /// The only number of connections; 0: all.
    only: u32,
}

impl Wanted {
    /// Reads the options: `--brief` shows the benchmark working, without a claim; otherwise each
    /// figure rests on fifteen rounds, or on `--rounds N`. `--part NAME` runs one part,
    /// `--connections N` one number of connections beside the peers.
    fn of(arguments: &[String]) -> Result<Wanted, Box<dyn Error>> {
        let part: String = options::value(arguments, "part", String::new())?;
        let known = |part: &str| part.is_empty() || PARTS.contains(&part);
        let brief = arguments.iter().any(|word| word == "--brief");
        let only: u32 = options::value(arguments, "connections", 0)?;
        let rounds: usize = options::value(arguments, "rounds", 0)?;
        let given = [!part.is_empty(), only > 0, rounds > 0];
        let words = usize::from(brief) + 2 * given.iter().filter(|given| **given).count();
        if arguments.len() != words || !known(&part) {
            let parts = PARTS.join(", ");
            return Err(format!(
                "{arguments:?}: expected --brief, --part NAME, of {parts}, --connections N or --rounds N"
            )
            .into());
        }
        let connections = match only {
            0 if brief => vec![50],
            0 => vec![1, 50, 1_000],
            only => vec![only],
        };
        Ok(Wanted {
            brief,
            part,
            rounds: match rounds {
                0 if brief => 1,
                0 => 15,
                rounds => rounds,
            },
            block_seconds: if brief { 1 } else { 3 },
            seconds: if brief { 1 } else { 5 },
            connections,
            only,
        })
    }

    fn has_connections(&self, connections: u32) -> bool {
        self.only == 0 || self.only == connections
    }

    fn has(&self, part: &str) -> bool {
        self.part.is_empty() || self.part == part
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

/// Runs all parts; returns whether every goal was met.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    if let [flag, rate, seconds] = arguments
        && flag == "--bare-timer"
    {
        return lateness::print_bare(rate, seconds);
    }
    if let [flag, url, connections, seconds] = arguments
        && flag == "--bare-client"
    {
        return bare::print(url, connections, seconds);
    }
    let wanted = Wanted::of(arguments)?;
    let mut met = true;
    if wanted.has("peers") {
        met &= peers(&wanted)?;
    }
    if wanted.has("http2") {
        met &= streams::run(&wanted)?;
    }
    if wanted.has("goaway") {
        met &= goaway::run(wanted.brief)?;
    }
    if wanted.has("scenario") {
        met &= scripted::run(&wanted)?;
    }
    if wanted.has("threads") {
        met &= threads::run(&wanted)?;
    }
    if wanted.has("lateness") {
        met &= lateness::run(wanted.seconds, wanted.brief)?;
    }
    if wanted.has("truth") {
        met &= truth::run(wanted.seconds, wanted.brief)?;
    }
    if wanted.has("memory") {
        met &= memory::run(wanted.brief)?;
    }
    Ok(met)
}

/// The tools beside each other on nginx.
fn peers(wanted: &Wanted) -> Result<bool, Box<dyn Error>> {
    let tools = tools::installed();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    println!("tools: {}", names.join(", "));
    let server = Nginx::start(Serves::File)?;
    let mut met = true;
    for connections in &wanted.connections {
        let task = Task::of(server.url(), *connections, wanted.block_seconds);
        let runs = rounds(&tools, &task, wanted.rounds)?;
        println!(
            "\n{connections} connections, {} rounds of {} s",
            wanted.rounds, wanted.block_seconds
        );
        print((&names, PEER), &runs);
        met &= goals(&names, *connections, &runs);
    }
    Ok(met)
}

/// Lets the tools take turns for so many rounds.
fn rounds(
    tools: &[&'static Tool],
    task: &Task<'_>,
    count: usize,
) -> Result<Vec<Run>, Box<dyn Error>> {
    let mut runs = Vec::new();
    for round in 0..count {
        // The order turns, so that none always comes behind the same one.
        for place in 0..tools.len() {
            let tool = &tools[(place + round) % tools.len()];
            match measure(tool, task, round) {
                Ok(run) => runs.push(run),
                Err(error) if JUDGED.contains(&tool.name) => return Err(error),
                Err(error) => println!("round {round} goes without {}: {error}", tool.name),
            }
        }
    }
    Ok(runs)
}

fn measure(tool: &Tool, task: &Task<'_>, round: usize) -> Result<Run, Box<dyn Error>> {
    let Ran {
        output,
        cpu_s,
        memory_mb,
    } = child::run(&(tool.command)(task))?;
    let told = (tool.read)(&output).ok_or_else(|| unread(tool.name, &output))?;
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

/// Returns an error with some lines of a tool's unreadable output; a list of failed requests may
/// have thousands of lines.
fn unread(tool: &str, output: &str) -> String {
    const LINES: usize = 8;
    let lines: Vec<&str> = output.lines().take(LINES).collect();
    let left = output.lines().count() - lines.len();
    let lines = lines.join("\n");
    format!("{tool} printed something unexpected ({left} more lines):\n{lines}")
}

/// Prints the middle of each figure, and the share of the peer's requests a CPU second.
fn print((names, peer): (&[&str], &str), runs: &[Run]) {
    println!(
        "{:<16}{:>14}{:>12}{:>10}{:>10}{:>10}{:>12}",
        "tool",
        "req/CPU-s",
        "req/s",
        "MB",
        "p50 ms",
        "p99 ms",
        format!("of {peer}")
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
            show(
                ratio((name, peer), runs, &|run| Some(run.requests_per_cpu_s)),
                3
            ),
        );
    }
}

/// The median over the rounds of a tool's figure to the peer's in the same round.
fn ratio(
    (name, peer): (&str, &str),
    runs: &[Run],
    of: &dyn Fn(&Run) -> Option<f64>,
) -> Option<f64> {
    let in_round = |name: &str, round| {
        runs.iter()
            .find(|run| run.tool == name && run.round == round)
            .and_then(of)
    };
    let rounds = runs.iter().map(|run| run.round).max()? + 1;
    let ratios: Vec<f64> = (0..rounds)
        .filter_map(|round| Some(in_round(name, round)? / in_round(peer, round)?))
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
        println!("  {} {what}: {came:.3}", mark(good));
    };
    let cpu = |name| ratio((name, PEER), runs, &|run| Some(run.requests_per_cpu_s));
    let least = match connections {
        1 => (1.0, 1.0),
        // Of the engine that is the default.
        50 => (1.1, 1.9),
        _ => (1.1, 1.3),
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
    for (name, peer) in frugal(connections) {
        let came = ratio((name, peer), runs, &|run| Some(run.requests_per_cpu_s));
        say(
            format!("{name} ≥ 1.0 × {peer} a CPU second"),
            came,
            &|came| came >= 1.0,
        );
    }
    for name in [tools::EPOLL, tools::URING] {
        let p50 = ratio((name, PEER), runs, &|run| run.p50_ms);
        say(format!("{name}: p50 to wrk's, within 5%"), p50, &|came| {
            (came - 1.0).abs() <= 0.05
        });
        // In a closed load the mean latency times the throughput is the number of connections
        // (Little 1961): who gets more answers out of the same server sees them sooner. Told for
        // the reader, judged by nothing.
        if let Some(level) = ratio((name, PEER), runs, &|run| Some(run.p50_ms? * run.rps)) {
            println!("         the same at equal throughput: {level:.3}");
        }
        let memory = (runs.iter())
            .filter(|run| run.tool == name)
            .map(|run| run.memory_mb)
            .reduce(f64::max);
        say(format!("{name}: memory ≤ 32 MB"), memory, &|came| {
            came <= 32.0
        });
    }
    met
}

/// Returns our engines, each with the peers to beat beside wrk: the most frugal at one connection.
fn frugal(connections: u32) -> impl Iterator<Item = (&'static str, &'static str)> {
    let engines = [tools::EPOLL, tools::URING];
    let pairs = engines
        .into_iter()
        .flat_map(|engine| [(engine, tools::AB), (engine, tools::H2LOAD)]);
    pairs.filter(move |_| connections == 1)
}

/// How a goal came out.
fn mark(good: bool) -> &'static str {
    if good { "met   " } else { "MISSED" }
}
