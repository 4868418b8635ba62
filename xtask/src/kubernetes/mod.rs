//! `cargo xtask kubernetes`: `hakaru load --kubernetes` against a real control plane on loopback,
//! whose nodes run pods as processes (`xtask/kubernetes`).
//!
//! Printed times are of this machine: the pods, the cluster and the server under load share the
//! cores.

mod checks;
mod cluster;
mod document;

use std::path::PathBuf;

use crate::arguments::{count, existing};
use crate::run::{Outcome, cargo, run, target_folder};
use checks::Bench;
use cluster::Cluster;

/// What is asked for on the command line.
struct Options {
    pods: u32,
    /// Requests per second of each pod.
    rate: u32,
    seconds: u32,
    nodes: u32,
    /// A program built before.
    program: Option<PathBuf>,
    /// Text in the names of the checks to run.
    only: String,
    /// Run in the cluster instead of the checks.
    command: Vec<String>,
}

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let options = options(arguments)?;
    cluster::build()?;
    let hakaru = match &options.program {
        Some(program) => program.clone(),
        None => {
            run(&mut cargo(&["build", "--quiet", "--package", "hakaru"]))?;
            target_folder().join("debug/hakaru")
        }
    };
    let cluster = Cluster::start(options.nodes, &cluster::image(&hakaru)?)?;
    if let [program, words @ ..] = options.command.as_slice() {
        return run(cluster.command(program, "admin").args(words));
    }
    let work = cluster.folder.join("work");
    std::fs::create_dir(&work)
        .map_err(|error| format!("cannot make {}: {error}", work.display()))?;
    let bench = Bench {
        cluster: &cluster,
        hakaru: cluster::home().join("image/hakaru"),
        work,
        pods: options.pods,
        rate: options.rate,
        seconds: options.seconds,
    };
    eprintln!(
        "kubernetes: {} pods of {} requests/s each for {} s, on {} nodes of one machine",
        options.pods, options.rate, options.seconds, options.nodes
    );
    let chosen = checks::ALL.iter();
    let chosen: Vec<_> = chosen
        .filter(|(what, _)| what.contains(&options.only))
        .collect();
    let mut failed = 0;
    for (what, check) in &chosen {
        match check(&bench).and_then(|told| bench.left().map(|()| told)) {
            Ok(told) => println!("holds  {what}: {told}"),
            Err(why) => {
                failed += 1;
                println!("FAILS  {what}: {why}");
            }
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(format!("{failed} checks of {} failed", chosen.len())),
    }
}

fn options(arguments: &[String]) -> Outcome<Options> {
    let mut options = Options {
        pods: 20,
        rate: 100,
        seconds: 5,
        nodes: 4,
        program: None,
        only: String::new(),
        command: Vec::new(),
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--pods" => options.pods = count(word, value()?)?,
            "--rate" => options.rate = count(word, value()?)?,
            "--seconds" => options.seconds = count(word, value()?)?,
            "--nodes" => options.nodes = count(word, value()?)?,
            "--only" => options.only.clone_from(value()?),
            "--program" => options.program = Some(existing(word, value()?)?),
            "--" => {
                options.command = words.cloned().collect();
                break;
            }
            _ => return Err(format!("kubernetes has no option {word:?}")),
        }
    }
    match options.pods {
        0..2 => Err("--pods: a run that loses a pod needs two of them".to_owned()),
        _ => Ok(options),
    }
}
