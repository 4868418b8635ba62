//! What `hakaru tune` loses against an exhaustive grid, and what it saves.
//!
//! For each app: (1) tune from 1 × 5 with a tenth of the grid's time, (2) measure every cell of the grid, (3) compare
//! tune's pick with the grid's winner in fresh interleaved ABBA blocks. Asked: the 95 % interval of the loss in
//! throughput stays below 3 %.

use std::error::Error;
use std::time::Instant;

use crate::options::{list, value};
use crate::pairs::{Pair, estimate};
use crate::program::{Load, Project};

const LOSS_MAX: f64 = 0.03;
const TIME_SHARE_MAX: f64 = 0.1;
/// Seconds that a boot, the reset of the data and the end of a run take beside the load, roughly: for the budget only.
const BOOT: f64 = 1.5;
const WORKERS: u32 = 2;

struct Options {
    threads_max: u32,
    cell: Load,
    /// ABBA blocks of the final comparison.
    blocks: u32,
}

/// Runs it; whether the bounds are held for every app.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let apps: Vec<String> = list(arguments, "apps", "io,cpu,mixed")?;
    let options = Options {
        threads_max: value(arguments, "threads-max", 16)?,
        cell: Load {
            rate: None,
            seconds: value(arguments, "seconds", 20.0)?,
            warmup: value(arguments, "warmup", 3.0)?,
        },
        blocks: value(arguments, "blocks", 6)?,
    };
    let mut held = true;
    for app in &apps {
        held &= of_app(app, &options)?;
    }
    Ok(held)
}

fn of_app(app: &str, options: &Options) -> Result<bool, Box<dyn Error>> {
    let project = Project::new(app)?;
    let cells = f64::from(WORKERS * options.threads_max);
    let whole = cells * (options.cell.seconds + options.cell.warmup + BOOT);
    let tuned = project.tune(TIME_SHARE_MAX * whole, options.threads_max)?;
    let number = |name: &str| {
        tuned["recommended"][name]
            .as_u64()
            .ok_or("nothing is recommended")
    };
    let pick = (number("workers")? as u32, number("threads")? as u32);
    let took = tuned["measuring_s"].as_f64().ok_or("no measuring_s")?;
    let begin = Instant::now();
    let winner = winner(&project, options)?;
    let grid = begin.elapsed().as_secs_f64();
    let loss = loss(&project, pick, winner, options)?;
    let (low, high) = (loss.0 * 100.0, loss.1 * 100.0);
    println!(
        "{app}: tune picks {} × {} in {took:.0} s, {:.1}% of the grid's {grid:.0} s (asked: {:.0}%); the grid picks {} × {}; \
         loss {low:.1}% to {high:.1}% (asked: below {:.0}%)",
        pick.0,
        pick.1,
        took / grid * 100.0,
        TIME_SHARE_MAX * 100.0,
        winner.0,
        winner.1,
        LOSS_MAX * 100.0
    );
    Ok(loss.1 < LOSS_MAX && took <= TIME_SHARE_MAX * grid)
}

/// The cell with most requests a second.
fn winner(project: &Project, options: &Options) -> Result<(u32, u32), Box<dyn Error>> {
    let mut best = ((0, 0), 0.0);
    for workers in 1..=WORKERS {
        for threads in 1..=options.threads_max {
            let (_, seen) = project.run(workers, threads, options.cell)?;
            println!("  {workers} × {threads:<2} {:>9.1} requests/s", seen.rps);
            if seen.rps > best.1 {
                best = ((workers, threads), seen.rps);
            }
        }
    }
    Ok(best.0)
}

/// The ends of the 95 % interval of what the pick loses; nothing when it is the winner.
fn loss(
    project: &Project,
    pick: (u32, u32),
    winner: (u32, u32),
    options: &Options,
) -> Result<(f64, f64), Box<dyn Error>> {
    if pick == winner {
        return Ok((0.0, 0.0));
    }
    let rps = |cell: (u32, u32)| -> Result<f64, Box<dyn Error>> {
        Ok(project.run(cell.0, cell.1, options.cell)?.1.rps)
    };
    let mut blocks = Vec::new();
    for _ in 0..options.blocks {
        let [first, second, third, fourth] = [rps(winner)?, rps(pick)?, rps(pick)?, rps(winner)?];
        blocks.push(vec![Pair {
            a: (first + fourth) / 2.0,
            b: (second + third) / 2.0,
        }]);
    }
    let estimate =
        estimate(&blocks, |pair| 1.0 - pair.b / pair.a).ok_or("no block was measured")?;
    Ok((estimate.low, estimate.high))
}
