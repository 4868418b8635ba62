//! What the agent adds to a request, counted instead of timed: instructions and missed caches under
//! callgrind, which are the same on a busy host as on a quiet one.
//!
//! Beside the agent stands the least that any agent has to do (`crates/agent/examples/floor.rs`):
//! the difference between the two is what ours could save. A simulated cache knows nothing of other
//! processes or of the kernel, so that the estimate is a lower one.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::apps::{App, Inside};

/// Collections would fall into one window and not into the other.
const HELLO: &str = "GC.disable\nrun ->(env) { [200, {}, ['hello']] }";
const FLAGS: [&str; 2] = ["-t", "5:5"];
const CONNECTIONS: u32 = 4;
/// Warm-up until inline caches are filled, seconds, at one or two hundred requests per second under
/// callgrind.
const WARMUP_S: f64 = 4.0;
const SECONDS: f64 = 16.0;

/// Misses of the first-level caches, by callgrind's names.
const L1: [&str; 3] = ["I1mr", "D1mr", "D1mw"];
const LAST_LEVEL: [&str; 3] = ["ILmr", "DLmr", "DLmw"];
/// Cycles of a miss, as in callgrind's own estimate.
const L1_CYCLES: f64 = 10.0;
const LAST_LEVEL_CYCLES: f64 = 100.0;

/// Counts a request.
#[derive(Clone, Copy)]
struct Counts {
    requests: u64,
    instructions: f64,
    l1: f64,
    last_level: f64,
}

impl Counts {
    fn cycles(&self) -> f64 {
        self.instructions + L1_CYCLES * self.l1 + LAST_LEVEL_CYCLES * self.last_level
    }
}

/// Counts each case; the first is the base of comparison.
pub(crate) fn run(cases: &[(&str, Inside)]) -> Result<(), Box<dyn Error>> {
    println!(
        "counted under callgrind, a request:      instructions  L1 misses  last level  cycles, estimated"
    );
    let mut without: Option<Counts> = None;
    for (name, inside) in cases {
        let seen = count(*inside)?;
        let line = |counts: [f64; 4]| {
            let [instructions, l1, last_level, cycles] = counts;
            println!("  {name:<38}{instructions:>13.0}{l1:>11.1}{last_level:>12.1}{cycles:>19.0}");
        };
        match without {
            None => line([seen.instructions, seen.l1, seen.last_level, seen.cycles()]),
            Some(base) => line([
                seen.instructions - base.instructions,
                seen.l1 - base.l1,
                seen.last_level - base.last_level,
                seen.cycles() - base.cycles(),
            ]),
        }
        without.get_or_insert(seen);
        println!("    from {} requests", seen.requests);
    }
    println!("  all but the first: what is added to it");
    Ok(())
}

fn count(inside: Inside) -> Result<Counts, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let file = format!("--callgrind-out-file={}", out.display());
    let under = [
        "valgrind",
        "--quiet",
        "--tool=callgrind",
        "--cache-sim=yes",
        "--instr-atstart=no",
        &file,
        "RUBY",
        "-S",
        "puma",
    ];
    // `ruby` in `PATH` may be a script that starts Ruby, and valgrind would count the shell.
    let start = "exec(*ARGV.map { |word| word == 'RUBY' ? RbConfig.ruby : word })";
    let under = [&["ruby", "-e", start][..], &under].concat();
    let app = App::boot_under(&under, &FLAGS, HELLO, inside)?;
    let pid = app.pid().ok_or("the server has no process")?;
    app.requests(CONNECTIONS, WARMUP_S)?;
    control(&["-i", "on"], pid)?;
    let requests = app.requests(CONNECTIONS, SECONDS)?;
    control(&["-i", "off"], pid)?;
    control(&["-d"], pid)?;
    read(&out.with_extension("1"), requests)
}

/// Controls callgrind inside a process.
fn control(words: &[&str], pid: u32) -> Result<(), Box<dyn Error>> {
    let told = Command::new("callgrind_control")
        .args(words)
        .arg(pid.to_string())
        .output()?;
    match told.status.success() {
        true => Ok(()),
        false => Err(format!(
            "callgrind_control {words:?} {pid}: {}",
            String::from_utf8_lossy(&told.stderr)
        )
        .into()),
    }
}

/// The sums of callgrind's file, for each of so many requests.
fn read(path: &Path, requests: u64) -> Result<Counts, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let words = |mark: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(mark));
        line.ok_or_else(|| format!("{} has no line {mark}", path.display()))
    };
    let names: Vec<&str> = words("events:")?.split_whitespace().collect();
    let sums: Vec<f64> = words("totals:")
        .or_else(|_| words("summary:"))?
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    let sum = |wanted: &[&str]| {
        let found = names
            .iter()
            .zip(&sums)
            .filter(|(name, _)| wanted.contains(name));
        found.map(|(_, sum)| sum).sum::<f64>() / requests as f64
    };
    Ok(Counts {
        requests,
        instructions: sum(&["Ir"]),
        l1: sum(&L1),
        last_level: sum(&LAST_LEVEL),
    })
}
