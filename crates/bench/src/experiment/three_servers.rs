//! Experiment of the three servers: a handler with waits, one with computation, one with both, in
//! Ruby and in Go, under more and more connections.
//!
//! Each kind's figures are kept in a file of their own, so that a kind can be measured again alone;
//! the page is written from all files that are there.

mod page;

use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::copy::Copy;
use crate::machine;
use crate::options::{list, value};

/// Where the page and the figures are kept.
const FOLDER: &str = "docs/experiments";

/// Workers and threads of Puma.
#[derive(Clone, Copy, Debug)]
struct Setup {
    workers: u32,
    threads: u32,
}

/// One handler.
struct Kind {
    name: &'static str,
    about: &'static str,
    ruby: &'static [Setup],
}

const fn setup(workers: u32, threads: u32) -> Setup {
    Setup { workers, threads }
}

/// `io` has as many threads as there are clients at most, the others as many as are right. Two
/// workers and their master are the three processes of the published experiment.
const KINDS: [Kind; 3] = [
    Kind {
        name: "io",
        about: "only waits, 50 ms",
        ruby: &[setup(1, 200)],
    },
    Kind {
        name: "cpu",
        about: "only computes, 5 ms",
        ruby: &[setup(1, 1)],
    },
    Kind {
        name: "mixed",
        about: "computes 3 ms and waits 7 ms",
        ruby: &[setup(1, 3), setup(2, 3)],
    },
];

/// A host on which the published figures could have been taken.
const CORES_PUBLISHED: u32 = 10;

impl Setup {
    fn command(self, port: u16, kind: &str) -> Vec<String> {
        let mut words = vec!["puma".to_owned()];
        if self.workers > 1 {
            words.extend(["-w".to_owned(), self.workers.to_string()]);
        }
        words.extend(["-t".to_owned(), format!("{0}:{0}", self.threads)]);
        words.extend(["-b".to_owned(), format!("tcp://127.0.0.1:{port}")]);
        words.push(format!("{kind}.ru"));
        words
    }

    fn name(self) -> String {
        format!("Ruby {} × {}", self.workers, self.threads)
    }
}

struct Options {
    connections: Vec<u32>,
    seconds: f64,
    warmup: f64,
}

/// Measures the kinds given, and writes the page; returns whether the published shape was observed.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let kinds: Vec<String> = list(arguments, "kinds", "io,cpu,mixed")?;
    let into = PathBuf::from(value(arguments, "into", default_folder())?);
    let options = Options {
        connections: list(arguments, "connections", "1,10,20,50,100,200")?,
        seconds: value(arguments, "seconds", 4.0)?,
        warmup: value(arguments, "warmup", 1.0)?,
    };
    let figures = into.join("three-servers");
    std::fs::create_dir_all(&figures)?;
    // With no name the page alone is written anew.
    for name in kinds.iter().filter(|name| !name.is_empty()) {
        let kind = KINDS.iter().find(|kind| kind.name == name);
        let kind = kind.ok_or_else(|| format!("no server is called {name:?}"))?;
        let measured = measure(kind, &options)?;
        std::fs::write(file(&figures, kind), format!("{measured:#}\n"))?;
    }
    let kept = KINDS.iter().map(|kind| read(&figures, kind));
    let kept = kept.collect::<Result<Vec<Value>, _>>()?;
    page::write(&into, &kept)
}

fn default_folder() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(FOLDER).display().to_string()
}

fn file(figures: &Path, kind: &Kind) -> PathBuf {
    figures.join(format!("{}.json", kind.name))
}

fn read(figures: &Path, kind: &Kind) -> Result<Value, Box<dyn Error>> {
    let path = file(figures, kind);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("{}: {error}; measure it with --kinds", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

fn measure(kind: &Kind, options: &Options) -> Result<Value, Box<dyn Error>> {
    let copy = Copy::of("three-servers")?;
    let configs = [
        format!("{}.toml", kind.name),
        format!("go-{}.toml", kind.name),
    ];
    let port = copy.move_port(&configs.each_ref().map(String::as_str))?;
    let mut curves = Vec::new();
    for setup in kind.ruby {
        let command = setup.command(port, kind.name);
        curves.push(sweep(&copy, &configs[0], &command, &setup.name(), options)?);
    }
    curves.push(sweep(&copy, &configs[1], &[], "Go", options)?);
    let shipped = shipped(&copy, &configs[0], options)?;
    let number = shipped["number"].as_i64().ok_or("the run was not kept")?;
    for setup in kind.ruby {
        curves.push(predict(&copy, number, *setup, None, options)?);
    }
    let ten = kind.ruby.last().copied().ok_or("no setup")?;
    curves.push(predict(&copy, number, ten, Some(CORES_PUBLISHED), options)?);
    let machine = machine::line(&[&["ruby", "-v"], &["puma", "--version"], &["go", "version"]]);
    Ok(json!({
        "kind": kind.name,
        "about": kind.about,
        "date": machine::date(),
        "machine": machine,
        "seconds": options.seconds,
        "balance_ms": shipped["routes"][0]["balance_ms"],
        "threads": threads(&shipped),
        "curves": curves,
    }))
}

fn words(fixed: &[&str], config: &str, options: &Options) -> Vec<String> {
    let mut words: Vec<String> = fixed.iter().map(|word| (*word).to_owned()).collect();
    words.extend(["--config".to_owned(), config.to_owned()]);
    words.extend(["--duration".to_owned(), format!("{}s", options.seconds)]);
    words.extend(["--warmup".to_owned(), format!("{}s", options.warmup)]);
    words
}

fn sweep(
    copy: &Copy,
    config: &str,
    command: &[String],
    name: &str,
    options: &Options,
) -> Result<Value, Box<dyn Error>> {
    let connections: Vec<String> = options.connections.iter().map(u32::to_string).collect();
    let mut words = words(&["sweep", "--all"], config, options);
    words.extend(["--connections".to_owned(), connections.join(",")]);
    let swept = copy.hakaru(&words, command)?;
    let steps = swept["steps"].as_array().ok_or("no steps")?;
    let of_step = |step: &Value| {
        json!({
            "connections": step["connections"],
            "rps": step["rps"],
            "p50_ms": step["latency_ms"]["p50"],
            "p95_ms": step["latency_ms"]["p95"],
            "app_cores": step["cores"]["app"],
            "memory_bytes": step["memory_bytes"],
            "failed": step["failed"],
        })
    };
    for step in steps {
        println!(
            "{config} {name}: {} connections: {} requests/s",
            step["connections"], step["rps"]
        );
    }
    let steps: Vec<Value> = steps.iter().map(of_step).collect();
    Ok(json!({ "name": name, "predicted": false, "steps": steps }))
}

/// Runs the server with the default threads: the base of parts, advice and all predictions.
fn shipped(copy: &Copy, config: &str, options: &Options) -> Result<Value, Box<dyn Error>> {
    copy.hakaru(&words(&["run"], config, options), &[])
}

/// Returns the number of threads advised by the run.
fn threads(run: &Value) -> Option<u32> {
    let findings = run["findings"].as_array()?;
    let advice = findings.iter().find(|finding| finding["id"] == "threads")?;
    let text = advice["remedy"].to_string();
    let (_, rest) = text.split_once("-t ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Returns the prediction on the given number of cores; without a number on the cores of the host.
fn predict(
    copy: &Copy,
    number: i64,
    setup: Setup,
    cores: Option<u32>,
    options: &Options,
) -> Result<Value, Box<dyn Error>> {
    let mut steps = Vec::new();
    for connections in &options.connections {
        let mut words: Vec<String> =
            vec!["predict".to_owned(), "--run".to_owned(), number.to_string()];
        for (name, value) in [
            ("--workers", Some(setup.workers)),
            ("--threads", Some(setup.threads)),
            ("--connections", Some(*connections)),
            ("--cores", cores),
        ] {
            words.extend(
                value
                    .into_iter()
                    .flat_map(|value| [name.to_owned(), value.to_string()]),
            );
        }
        let rps = copy.hakaru(&words, &[])?["predicted"]["rps"].clone();
        steps.push(json!({ "connections": connections, "rps": rps }));
    }
    let on = cores
        .map(|cores| format!(" on {cores} cores"))
        .unwrap_or_default();
    Ok(
        json!({ "name": format!("{}, predicted{on}", setup.name()), "predicted": true, "cores": cores, "steps": steps }),
    )
}
