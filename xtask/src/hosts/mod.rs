//! `cargo xtask hosts`: `hakaru run` over four hosts in namespaces (a proxy, two app hosts, a
//! database), each with an SSH server, and with causes of slowness planted one after the other.
//!
//! All of it is in a network and a process namespace of its own, which takes everything along when
//! this program ends in any way. Namespaces need root.

mod bed;
mod causes;
mod document;
mod fan_out;
mod host;
mod link;
mod ssh;

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::arguments::{count, existing};
use crate::run::{Outcome, cargo, is_root, run, target_folder};
use bed::Bed;

/// Variable of the task inside of the namespaces.
const INSIDE: &str = "HAKARU_XTASK_HOSTS_INSIDE";

/// What is asked for on the command line.
struct Options {
    seconds: u32,
    /// Requests per second.
    rate: u32,
    /// A program built before.
    program: Option<PathBuf>,
    /// Text in the names of the causes to plant.
    only: String,
    /// Only so many collectors.
    fan_out: Option<u32>,
    /// Program of the collectors, if another one.
    collector: Option<PathBuf>,
}

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let options = options(arguments)?;
    if !is_root() {
        return Err(
            "hosts: namespaces with networks, mounts and CPU limits need root; without it, `cargo test -p hakaru --test collect` \
             has several hosts over a real sshd as one user"
                .to_owned(),
        );
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => target_folder().join("debug/hakaru"),
    };
    if env::var_os(INSIDE).is_none() {
        if options.program.is_none() {
            run(&mut cargo(&["build", "--quiet", "--package", "hakaru"]))?;
        }
        return enter(arguments);
    }
    if let Some(hosts) = options.fan_out {
        return fan_out::check(program, options.collector, hosts, options.seconds);
    }
    let mut bed = Bed::new(program)?;
    let mut failed = 0;
    let chosen = causes::ALL.iter();
    let chosen: Vec<_> = chosen
        .filter(|cause| cause.name.contains(&options.only))
        .collect();
    for cause in &chosen {
        match causes::check(cause, &mut bed, options.rate, options.seconds) {
            Ok(told) => println!("holds  {}\n{told}", cause.name),
            Err(why) => {
                failed += 1;
                println!("FAILS  {}: {why}", cause.name);
            }
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(format!("{failed} causes of {} failed", chosen.len())),
    }
}

/// Starts the task again in new namespaces.
fn enter(arguments: &[String]) -> Outcome<()> {
    let own = env::current_exe()
        .map_err(|error| format!("this program's own file is not known: {error}"))?;
    let mut unshare = Command::new("unshare");
    unshare
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child"])
        .args(["--mount-proc", "--"])
        .arg(own)
        .arg("hosts")
        .args(arguments)
        .env(INSIDE, "1");
    run(&mut unshare)
}

fn options(arguments: &[String]) -> Outcome<Options> {
    let mut options = Options {
        seconds: 8,
        rate: 30,
        program: None,
        only: String::new(),
        fan_out: None,
        collector: None,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--seconds" => options.seconds = count(word, value()?)?,
            "--rate" => options.rate = count(word, value()?)?,
            "--fan-out" => options.fan_out = Some(count(word, value()?)?),
            "--collector" => options.collector = Some(existing(word, value()?)?),
            "--only" => options.only.clone_from(value()?),
            "--program" => options.program = Some(existing(word, value()?)?),
            _ => return Err(format!("hosts has no option {word:?}")),
        }
    }
    Ok(options)
}
