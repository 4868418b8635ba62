//! Cost of profiling, and error of the shares: the same programs bare, under the sampler in each
//! mode and rate, and under stackprof, in turns.
//!
//! A program does a fixed amount of work and prints its units per second, and the share of its
//! time that one method took by its own clock. Each round runs all variants, in every other round
//! in the reverse order; the ratio to the bare program of the same round is the unit.

mod rack;
mod tick;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use capture::{ProfileCollector, Rings, unpack_agent};
use stats::{median, percentile_interval};

struct Program {
    name: &'static str,
    text: &'static str,
    /// Least throughput under the modes wall and cpu, as a share of the bare throughput; `None` for
    /// no bound.
    ratio_min: Option<f64>,
}

/// Programs; each runs `unit` a fixed number of times, with `Object#measured` as part.
const PROGRAMS: [Program; 3] = [
    Program {
        name: "loop",
        text: "def measured = 30_000.times { |i| i * 2 }\ndef other = 20_000.times { |i| i + 1 }\n",
        ratio_min: Some(0.99),
    },
    Program {
        name: "calls, strings and sorting",
        text: "N = Array.new(3000) { rand }\ndef measured = N.sort\ndef other = 2000.times { |i| i.to_s }\n",
        ratio_min: None,
    },
    Program {
        name: "threads that sleep",
        text: "def measured = 4.times.map { Thread.new { 5.times { sleep 0.0003 } } }.each(&:join)\n\
               def other = 10_000.times { |i| i + 1 }\n",
        ratio_min: None,
    },
];

/// Runs the two methods in turns, and prints units per second, the measured method's share, and
/// stackprof's samples.
const FRAME: &str = r##"
clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
rounds = Integer(ARGV.fetch(0))
StackProf.start(mode: :wall, interval: 1000) if defined?(StackProf)
begun = clock.call
inside = 0.0
rounds.times do
  at = clock.call
  measured
  inside += clock.call - at
  other
end
took = clock.call - begun
samples = 0
if defined?(StackProf)
  StackProf.stop
  samples = StackProf.results[:samples]
end
puts "#{rounds / took} #{inside / took} #{samples}"
"##;

#[derive(Clone, Copy)]
enum Variant {
    Bare,
    /// Mode and rate.
    Ours(&'static str, u32),
    Stackprof,
}

const VARIANTS: [Variant; 8] = [
    Variant::Bare,
    Variant::Ours("wall", 100),
    Variant::Ours("wall", 1000),
    Variant::Ours("cpu", 100),
    Variant::Ours("cpu", 1000),
    Variant::Ours("alloc", 1000),
    Variant::Stackprof,
    // Once more: how far apart two equal ones are is the noise.
    Variant::Bare,
];

struct Measured {
    units: f64,
    samples: u64,
    /// Measured share less the true share; of wall time only.
    error: Option<f64>,
}

/// Rounds, and repetitions of a program in one.
struct Size {
    rounds: usize,
    units: u32,
}

const FULL: Size = Size {
    rounds: 12,
    units: 1500,
};
/// Size for the test which keeps the benchmark running.
const BRIEF: Size = Size {
    rounds: 2,
    units: 60,
};

/// Prints one table a program, then the Rack app; returns whether every bound held. `--brief` only
/// shows that it runs, `--only loop` (or `rack`, or the name's first word) runs a part, `--rounds
/// N` that many rounds.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let brief = arguments.iter().any(|argument| argument == "--brief");
    let mut size = if brief { BRIEF } else { FULL };
    size.rounds = crate::options::value(arguments, "rounds", size.rounds)?;
    let only: String = crate::options::value(arguments, "only", String::new())?;
    let has_stackprof = Command::new("ruby")
        .args(["-rstackprof", "-e", "0"])
        .stderr(Stdio::null())
        .status()?
        .success();
    if !has_stackprof {
        println!("stackprof is not there: apt-get install ruby-stackprof brings it; left out");
    }
    tick::tell();
    let mut held = true;
    for program in PROGRAMS
        .iter()
        .filter(|program| program.name.starts_with(&only))
    {
        println!(
            "\n{}: throughput as a ratio to the bare program, median and 95 % interval",
            program.name
        );
        held &= measure(program, &size, has_stackprof)?;
    }
    if "rack".starts_with(&only) {
        held &= rack::run(brief, size.rounds, has_stackprof)?;
    }
    Ok(held || brief)
}

fn measure(program: &Program, size: &Size, has_stackprof: bool) -> Result<bool, Box<dyn Error>> {
    let mut all: Vec<Vec<Measured>> = VARIANTS.iter().map(|_| Vec::new()).collect();
    for round in 0..size.rounds {
        let mut order: Vec<usize> = (0..VARIANTS.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let variant = VARIANTS[index];
            if has_stackprof || !matches!(variant, Variant::Stackprof) {
                all[index].push(once(program, variant, size.units)?);
            }
        }
    }
    let mut held = true;
    for (index, variant) in VARIANTS.iter().enumerate().skip(1) {
        let ratios: Vec<f64> = all[index]
            .iter()
            .zip(&all[0])
            .map(|(one, bare)| one.units / bare.units)
            .collect();
        let Some(ratio) = median(&ratios) else {
            continue;
        };
        let interval = percentile_interval(&ratios, median, 2000, 0.95)
            .map_or_else(String::new, |found| {
                format!("({:.3}–{:.3})", found.low, found.high)
            });
        let samples =
            all[index].iter().map(|one| one.samples).sum::<u64>() / all[index].len() as u64;
        let errors: Vec<f64> = all[index]
            .iter()
            .filter_map(|one| one.error.map(f64::abs))
            .collect();
        let error = median(&errors).map_or_else(String::new, |error| {
            format!("   error {:.1} points", error * 100.0)
        });
        let asked = program
            .ratio_min
            .filter(|_| matches!(variant, Variant::Ours("wall" | "cpu", _)));
        held &= asked.is_none_or(|least| ratio >= least);
        println!(
            "  {:18} {ratio:.3} {interval:15} {samples:>6} samples{error}{}",
            name(*variant),
            verdict(ratio, asked)
        );
    }
    Ok(held)
}

/// Returns the bound on a ratio, and whether the bound holds.
fn verdict(ratio: f64, asked: Option<f64>) -> String {
    asked.map_or_else(String::new, |least| {
        let met = if ratio >= least { "met" } else { "MISSED" };
        format!("   asked ≥ {least}: {met}")
    })
}

fn name(variant: Variant) -> String {
    match variant {
        Variant::Bare => "bare again (noise)".to_owned(),
        Variant::Ours(mode, rate) => format!("{mode} at {rate} Hz"),
        Variant::Stackprof => "stackprof 1000 Hz".to_owned(),
    }
}

fn once(program: &Program, variant: Variant, units: u32) -> Result<Measured, Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("hakaru-bench-").tempdir()?;
    let file = folder.path().join("program.rb");
    fs::write(&file, format!("{}{FRAME}", program.text))?;
    let mut command = Command::new("ruby");
    if matches!(variant, Variant::Stackprof) {
        command.arg("-rstackprof");
    }
    command
        .arg(&file)
        .arg(units.to_string())
        .stdout(Stdio::piped());
    let Variant::Ours(mode, rate) = variant else {
        let (units, _, samples) = told(command.spawn()?)?;
        return Ok(Measured {
            units,
            samples,
            error: None,
        });
    };
    let rings = tempfile::Builder::new()
        .prefix("hakaru-bench-rings-")
        .tempdir_in("/dev/shm")?;
    let library = unpack_agent(&folder.path().join("agent"))?;
    command
        .env("RUBYOPT", format!("-r{}", library.display()))
        .env("HAKARU_RING_DIR", rings.path())
        .env("HAKARU_PROFILE", format!("{mode} {rate} now"));
    let mut child = command.spawn()?;
    let collector = read(&mut child, rings.path())?;
    let (units, truth, _) = told(child)?;
    let (profile, _) = collector.end(mode, 1_000_000_000 / u64::from(rate));
    Ok(Measured {
        units,
        samples: profile.observations(),
        error: (mode == "wall").then(|| share(&profile) - truth),
    })
}

/// Reads the rings until the program ends, as often as `hakaru profile` does.
fn read(child: &mut Child, folder: &Path) -> Result<ProfileCollector, Box<dyn Error>> {
    const POLL: Duration = Duration::from_millis(20);
    let mut rings = Rings::new(folder);
    let mut collector = ProfileCollector::default();
    loop {
        let ended = child.try_wait()?.is_some();
        for (pid, record) in rings.poll().profile {
            collector.add(pid, record);
        }
        if ended {
            return Ok(collector);
        }
        std::thread::sleep(POLL);
    }
}

fn told(child: Child) -> Result<(f64, f64, u64), Box<dyn Error>> {
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = text.split_whitespace();
    let mut next = || {
        words
            .next()
            .ok_or_else(|| format!("the program told only {text:?}"))
    };
    Ok((next()?.parse()?, next()?.parse()?, next()?.parse()?))
}

/// The measured method's share of what the main thread did in the two methods' block.
fn share(profile: &stacks::Profile) -> f64 {
    let main = stacks::filter::only(profile, |sample| {
        let thread = profile.thread(sample.thread);
        thread.pid == thread.tid
    });
    let table = stacks::table(&main);
    let weight = |name: &str| -> f64 {
        let rows = table.inclusive.iter().filter(|row| row.frame.name == name);
        rows.map(|row| row.weight as f64).sum()
    };
    weight("Object#measured") / weight("block in <main>").max(1.0)
}
