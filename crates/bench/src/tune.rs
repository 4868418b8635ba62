//! Loss of `hakaru tune` against an exhaustive grid, and the time saved.
//!
//! For each app: (1) tune from 1 × 5 with a tenth of the grid's time, (2) measure every cell of the
//! grid, (3) `hakaru compare` tune's pick with the grid's winner, in fresh interleaved ABBA blocks.
//! Asked: the 95 % interval of the loss in throughput stays below 3 %. `compare` shows many rows
//! and may stop early, and its intervals are as much wider; this one is of throughput alone, after
//! all blocks, without what the pace of the cores explains ([`stats::covariate`]). Each of these is
//! a step that is kept ([`Steps`]).

use std::error::Error;

use serde_json::{Value, json};
use stats::comparison::{Block, Measured};
use stats::{covariate, simultaneous_intervals};

use crate::options::{list, value};
use crate::program::{Load, Project};
use crate::steps::Steps;

const LOSS_MAX: f64 = 0.03;
const TIME_SHARE_MAX: f64 = 0.1;
/// Approximate seconds of boot, reset of data and end of a run beside the load: for the budget
/// only.
const BOOT: f64 = 1.5;
const WORKERS: u32 = 2;
/// One of four measurements of a final block, seconds: short, since a shared host drifts by a tenth
/// within half a minute, and only what lies close together can be compared.
const COMPARED: f64 = 5.0;
/// Seconds of such a block, with boots and warm-up, roughly: for a look at the time only.
const BLOCK: f64 = 40.0;
/// Greatest number of final blocks: with a noise of 4 % in each, the interval is then 3 % wide,
/// enough to distinguish a loss of 1 % from one of 3.
const BLOCKS: u32 = 32;
/// Of the interval of the loss.
const ALPHA: f64 = 0.05;
const RESAMPLES: usize = 10_000;

/// Of equals.
const EVEN: Measured = Measured {
    a: [1.0, 1.0],
    b: [1.0, 1.0],
};

/// Runs the benchmark; returns whether the bounds hold for every app.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let mut steps = Steps::open("tune", arguments)?;
    let apps: Vec<String> = list(arguments, "app", "io,cpu,mixed")?;
    let mut held = true;
    for app in &apps {
        let mut measured = App {
            name: app,
            project: Project::new(app, steps.folder())?,
            threads_max: value(arguments, "threads-max", 16)?,
            load: Load {
                rate: None,
                seconds: value(arguments, "seconds", 20.0)?,
                warmup: value(arguments, "warmup", 3.0)?,
            },
            blocks: value(arguments, "blocks", BLOCKS)?,
            steps: &mut steps,
        };
        held &= measured.is_held()?;
    }
    Ok(held)
}

/// Workers and threads.
type Cell = (u32, u32);

struct App<'a> {
    name: &'a str,
    project: Project,
    threads_max: u32,
    load: Load,
    /// Most ABBA blocks of the final comparison.
    blocks: u32,
    steps: &'a mut Steps,
}

/// The cell with most requests per second, and the time taken to find the cell.
struct Grid {
    winner: Cell,
    took_s: f64,
}

/// The ends of a 95 % interval.
struct Loss {
    low: f64,
    high: f64,
}

impl App<'_> {
    fn is_held(&mut self) -> Result<bool, Box<dyn Error>> {
        let (pick, took_s) = self.tuned()?;
        let grid = self.grid()?;
        let share = took_s / grid.took_s;
        let loss = self.loss(pick, grid.winner)?;
        println!(
            "{}: tune picks {} × {} in {took_s:.0} s, {:.1}% of the grid's {:.0} s (asked: {:.0}%); the grid picks {} × {}; \
             loss {:.1}% to {:.1}% (asked: below {:.0}%)",
            self.name,
            pick.0,
            pick.1,
            share * 100.0,
            grid.took_s,
            TIME_SHARE_MAX * 100.0,
            grid.winner.0,
            grid.winner.1,
            loss.low * 100.0,
            loss.high * 100.0,
            LOSS_MAX * 100.0
        );
        Ok(loss.high < LOSS_MAX && share <= TIME_SHARE_MAX)
    }

    /// The same step for the same settings only.
    fn key(&self, what: &str) -> String {
        let Load {
            seconds, warmup, ..
        } = self.load;
        format!("{} {what} {seconds} s after {warmup} s", self.name)
    }

    fn tuned(&mut self) -> Result<(Cell, f64), Box<dyn Error>> {
        let cells = f64::from(WORKERS * self.threads_max);
        let budget = TIME_SHARE_MAX * cells * (self.load.whole() + BOOT);
        let key = self.key(&format!("tuned within {budget:.0} s"));
        let (project, threads_max) = (&self.project, self.threads_max);
        let tuned = (self.steps).take(&key, budget, || project.tune(budget, threads_max))?;
        let number = |name: &str| {
            let number = tuned["recommended"][name].as_u64();
            number.ok_or("nothing is recommended")
        };
        let pick = (number("workers")? as u32, number("threads")? as u32);
        let took_s = tuned["measuring_s"].as_f64().ok_or("no measuring_s")?;
        Ok((pick, took_s))
    }

    fn grid(&mut self) -> Result<Grid, Box<dyn Error>> {
        let (mut best, mut took_s) = (((0, 0), 0.0), 0.0);
        for workers in 1..=WORKERS {
            for threads in 1..=self.threads_max {
                let cell = (workers, threads);
                let key = self.key(&format!("{workers} × {threads}"));
                let (project, load) = (&self.project, self.load);
                let seen = (self.steps).take(&key, load.whole() + BOOT, || {
                    let seen = project.run(workers, threads, load)?;
                    Ok(json!({"rps": seen.figures.rps, "took_s": seen.took_s}))
                })?;
                let rps = number(&seen["rps"])?;
                println!("  {workers} × {threads:<2} {rps:>9.1} requests/s");
                took_s += number(&seen["took_s"])?;
                if rps > best.1 {
                    best = (cell, rps);
                }
            }
        }
        Ok(Grid {
            winner: best.0,
            took_s,
        })
    }

    /// Returns the interval of the winner's throughput advantage over the pick, as a share; nothing
    /// for the same cell.
    fn loss(&mut self, pick: Cell, winner: Cell) -> Result<Loss, Box<dyn Error>> {
        if pick == winner {
            return Ok(Loss {
                low: 0.0,
                high: 0.0,
            });
        }
        let blocks = self.blocks;
        let key = format!(
            "{} {pick:?} against {winner:?} in {blocks} blocks",
            self.name
        );
        let project = &self.project;
        let seen = (self.steps).take(&key, f64::from(blocks) * BLOCK, || {
            let command = |cell: Cell| project.command(cell.0, cell.1).join(" ");
            let (blocks, segment) = (blocks.to_string(), format!("{COMPARED}s"));
            let flags = ["--blocks", &blocks, "--segment", &segment];
            let sides = [&*command(winner), &*command(pick)];
            let compared = project.hakaru("compare", &[&sides[..], &flags].concat())?;
            println!("  {}", compared["verdict"].as_str().unwrap_or_default());
            let rows = compared["rows"].as_array().ok_or("no rows")?;
            let rps = rows.iter().find(|row| row["metric"] == "rps");
            let measured = compared["measured"].as_array().ok_or("no blocks")?;
            Ok(json!({
                "row": rps.ok_or("throughput was not compared")?,
                "ended": compared["ended"],
                "blocks": measured.iter().map(kept).collect::<Vec<_>>(),
            }))
        })?;
        let (low, high) = ratio(&seen)?;
        Ok(Loss {
            low: 1.0 - high,
            high: 1.0 - low,
        })
    }
}

/// Returns the 95 % interval of the ratio of throughput: of throughput alone after all blocks, and
/// `compare`'s own after an early stop.
fn ratio(seen: &Value) -> Result<(f64, f64), Box<dyn Error>> {
    if seen["ended"] != "all blocks" {
        return Ok((number(&seen["row"]["low"])?, number(&seen["row"]["high"])?));
    }
    let mut blocks = Vec::new();
    for block in seen["blocks"].as_array().ok_or("no blocks")? {
        // Cores that were too idle to tell explain nothing.
        let pace = measured(&block["core_pace_us"]).unwrap_or(EVEN);
        blocks.push(Block::of(&[measured(&block["rps"])?, pace]));
    }
    let ratios = covariate::without(&blocks, 0, 1);
    let units: Vec<Vec<f64>> = ratios.into_iter().map(|ratio| vec![ratio]).collect();
    let intervals = simultaneous_intervals(&units, ALPHA, RESAMPLES).ok_or("too few blocks")?;
    Ok((intervals[0].low.exp(), intervals[0].high.exp()))
}

/// What is kept of a block.
fn kept(block: &Value) -> Value {
    json!({ "rps": block["rows"]["rps"], "core_pace_us": block["core_pace_us"] })
}

fn measured(row: &Value) -> Result<Measured, Box<dyn Error>> {
    let pair = |side: &Value| -> Result<[f64; 2], Box<dyn Error>> {
        Ok([number(&side[0])?, number(&side[1])?])
    };
    Ok(Measured {
        a: pair(&row["a"])?,
        b: pair(&row["b"])?,
    })
}

fn number(value: &Value) -> Result<f64, Box<dyn Error>> {
    Ok(value.as_f64().ok_or("a kept step lacks a number")?)
}
