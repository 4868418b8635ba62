//! Runs Hakaru's parts and peers interleaved in one session and prints ratios, never claims.
//!
//! `cargo xtask bench NAME` builds it optimised and runs one benchmark; each is a file here.
#![expect(clippy::print_stdout, reason = "printing its result is what it is for")]

mod advice;
mod agent;
mod apps;
mod code;
mod copy;
mod counted;
mod doctor;
mod experiment;
mod flows;
mod honesty;
mod jit;
mod load;
mod logs;
mod machine;
mod online;
mod options;
mod pairs;
mod plot;
mod profile;
mod program;
mod replay;
mod schema;
mod solutions;
mod steps;
mod trying;
mod tune;
mod whatif;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ended = match arguments.first().map(String::as_str) {
        Some("advice") => advice::run(&arguments[1..]),
        Some("agent") => agent::run(&arguments[1..]),
        Some("code") => code::run(&arguments[1..]),
        Some("doctor") => doctor::run(&arguments[1..]),
        Some("experiment") => experiment::run(&arguments[1..]),
        Some("flows") => flows::run(&arguments[1..]),
        Some("honesty") => honesty::run(&arguments[1..]),
        Some("jit") => jit::run(&arguments[1..]),
        Some("load") => load::run(&arguments[1..]),
        Some("logs") => logs::run(&arguments[1..]),
        Some("online") => online::run(&arguments[1..]),
        Some("profile") => profile::run(&arguments[1..]),
        Some("schema") => schema::run(&arguments[1..]),
        Some("solutions") => solutions::run(&arguments[1..]),
        Some("try") => trying::run(&arguments[1..]),
        Some("tune") => tune::run(&arguments[1..]),
        Some("whatif") => whatif::run(&arguments[1..]),
        other => Err(format!(
            "no benchmark is called {:?}; there are `advice`, `agent`, `code`, `doctor`, `experiment`, `flows`, `honesty`, `jit`, `load`, `logs`, `online`, `profile`, `schema`, `solutions`, \
             `try`, `tune` and `whatif`",
            other.unwrap_or("")
        )
        .into()),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(error) => {
            println!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
