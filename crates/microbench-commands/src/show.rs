//! `hakaru bench workloads --show`: the two workloads with a picture, drawn on the terminal.

use std::process::Command;

use microbench::workloads::{self, CONSOLE, FLUID};

use super::resolve;
use crate::flags::BenchArgs;
use ending::{Cause, Ended, Failure};

/// Of each picture.
const SECONDS: u64 = 10;

/// Draws with the first contender's Ruby.
pub(super) fn show(args: &BenchArgs) -> Result<Ended, Failure> {
    let rubies = resolve::rubies(args)?;
    let pictures = [
        (FLUID, "Fluid.new(400)", "3.times { shown.step }"),
        (CONSOLE, "Console.new", "shown.frame"),
    ];
    for (file, start, step) in pictures {
        let program = workloads::show(file, start, step, SECONDS);
        let command = &rubies[0].command;
        let ended = Command::new(&command[0])
            .args(&command[1..])
            .arg("-e")
            .arg(program)
            .status();
        let ended = ended
            .map_err(|error| Failure::new(Cause::Failed, format!("{}: {error}", command[0])))?;
        if !ended.success() {
            return Ok(Ended::Failed);
        }
    }
    Ok(Ended::Ok)
}
