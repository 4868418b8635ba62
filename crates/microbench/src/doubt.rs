//! Doubts about the figures: each a sentence with a remedy.

use stats::comparison::BLOCKS_MIN;
use words::{Text, text};

use crate::bench::{Bench, Measured, Row};
use crate::model::{Contender, Job};

/// Shortest batch well above reading two clocks (1 µs), in seconds.
const BATCH_MIN: f64 = 20e-6;
/// Slowdown from the first to the last batches, as a share, from which a script changes the data
/// worked on. Chosen by judgement: below, the heap's own growth does the same.
const GROWTH: f64 = 0.10;
/// In so many of the processes.
const GROWTH_PROCESSES: f64 = 0.8;
/// Ratio of the cores' pace between processes from which the host was disturbed.
const PACE: f64 = 1.15;
/// Least share of time in the collector worth naming.
const GC_SHARE: f64 = 0.2;

/// Returns all doubts, each once: on rows first, then on the host.
pub fn all(bench: &Bench, jobs: &[Job], contenders: &[Contender]) -> Vec<Text> {
    let mut doubts = Vec::new();
    for row in &bench.rows {
        doubts.extend(differing(row, contenders));
        for measured in &row.cells {
            let name = name(measured, jobs, contenders);
            let job = jobs[measured.cell.job]
                .name
                .lines()
                .next()
                .unwrap_or_default();
            doubts.extend(of_code(measured, job));
            doubts.extend(of_warm_up(measured, &name));
            doubts.extend(of_samples(measured, &name));
        }
    }
    doubts.extend(of_contenders(bench, contenders));
    doubts.extend(of_host(bench));
    doubts.extend(too_few(bench));
    let mut told: Vec<Text> = Vec::new();
    for doubt in doubts {
        if !told.contains(&doubt) {
            told.push(doubt);
        }
    }
    told
}

/// The job, with the contender where there are several.
fn name(measured: &Measured, jobs: &[Job], contenders: &[Contender]) -> String {
    let job = jobs[measured.cell.job]
        .name
        .lines()
        .next()
        .unwrap_or_default();
    if contenders.len() == 1 {
        return job.to_owned();
    }
    format!("{job}, {}", contenders[measured.cell.contender].name)
}

/// Returns what the instructions show about the code.
fn of_code(measured: &Measured, name: &str) -> Option<Text> {
    let trial = measured.trial.as_ref()?;
    match (trial.instructions, trial.inputs) {
        (Some([with, alone]), _) if with <= alone => Some(text!(
            "{name}: the compiler drops the script, since nothing uses its value; assign it to a variable",
            name
        )),
        (Some(_), Some(inputs)) if inputs <= 0 => Some(text!(
            "{name}: all the script works on are literals, which a compiler may compute once; take the values from the prelude",
            name
        )),
        _ => None,
    }
}

fn of_warm_up(measured: &Measured, name: &str) -> Vec<Text> {
    let mut doubts = Vec::new();
    let Some(trial) = &measured.trial else {
        return doubts;
    };
    let [before, after] = &trial.jit;
    if !after.name.is_empty()
        && after.name != "none"
        && after.compiled > 0
        && after.compiled == before.compiled
    {
        doubts.push(text!(
            "{name}: {compiler} compiled nothing of it: most of its time is in C code, or it was called too seldom",
            name,
            compiler = after.name.clone()
        ));
    }
    if !trial.has_settled() {
        doubts.push(text!(
            "{name}: still changing after {seconds} s of running; a longer --budget does not help, a longer script may",
            name,
            seconds = format!("{:.1}", trial.curve.iter().sum::<f64>() * trial.turns as f64)
        ));
    }
    doubts
}

fn of_samples(measured: &Measured, name: &str) -> Vec<Text> {
    let samples = &measured.samples;
    let mut doubts = Vec::new();
    let Some(first) = samples.first() else {
        return doubts;
    };
    let batch = first
        .curve
        .first()
        .map(|turn| turn * measured.shape.turns as f64);
    if let Some(batch) = batch.filter(|batch| *batch < BATCH_MIN) {
        doubts.push(text!(
            "{name}: a batch takes {microseconds} µs, which is near what reading the clock takes; give a greater loop_count, or none",
            name,
            microseconds = format!("{:.1}", batch * 1e6)
        ));
    }
    let loops: Vec<f64> = samples
        .iter()
        .filter_map(|sample| sample.overhead)
        .collect();
    let nets: Vec<f64> = samples.iter().map(|sample| sample.cpu).collect();
    if let (Some(overhead), Some(net)) = (stats::median(&loops), stats::median(&nets))
        && measured.shape.has_empty
        && net < overhead
    {
        doubts.push(text!(
            "{name}: the script takes {script} ns, the loop that was taken off {around} ns; do more in one turn",
            name,
            script = format!("{:.1}", net * 1e9),
            around = format!("{:.1}", overhead * 1e9)
        ));
    }
    let growths: Vec<f64> = samples
        .iter()
        .filter_map(|sample| growth(&sample.curve))
        .collect();
    let grown = growths
        .iter()
        .filter(|growth| **growth > 1.0 + GROWTH)
        .count();
    if growths.len() >= 2 && grown as f64 >= GROWTH_PROCESSES * growths.len() as f64 {
        doubts.push(text!(
            "{name}: becomes slower from turn to turn ({ratio}x within a process): it works on what earlier turns left behind",
            name,
            ratio = format!("{:.2}", stats::median(&growths).unwrap_or(1.0))
        ));
    }
    let shares: Vec<f64> = samples.iter().map(|sample| sample.gc_share).collect();
    if let Some(share) = stats::median(&shares).filter(|share| *share > GC_SHARE) {
        doubts.push(text!(
            "{name}: {share} % of its time is the garbage collector's; --no-gc measures without",
            name,
            share = format!("{:.0}", share * 100.0)
        ));
    }
    doubts
}

/// The last third of a process' batches beside the first third.
fn growth(curve: &[f64]) -> Option<f64> {
    let third = curve.len() / 3;
    let ends = [curve.get(..third)?, curve.get(curve.len() - third..)?];
    let [first, last] = ends.map(stats::median);
    Some(last? / first?)
}

/// Contenders whose scripts give different values.
fn differing(row: &Row, contenders: &[Contender]) -> Option<Text> {
    let known = |measured: &Measured| {
        let value = measured.trial.as_ref()?.value.clone()?;
        Some((measured.cell, value))
    };
    let mut values = row.cells.iter().filter_map(known);
    let (first, expected) = values.next()?;
    let (other, value) =
        values.find(|(cell, value)| cell.job == first.job && *value != expected)?;
    Some(text!(
        "{job}: {a} gives {x}, {b} gives {y}: they do not do the same",
        job = row.name.lines().next().unwrap_or_default(),
        a = contenders[first.contender].name.clone(),
        x = expected,
        b = contenders[other.contender].name.clone(),
        y = value
    ))
}

fn of_contenders(bench: &Bench, contenders: &[Contender]) -> Vec<Text> {
    let mut doubts = Vec::new();
    for (index, contender) in contenders.iter().enumerate() {
        let mut trials = bench
            .rows
            .iter()
            .flat_map(|row| &row.cells)
            .filter_map(|measured| {
                let is_it = measured.cell.contender == index;
                measured
                    .trial
                    .as_ref()
                    .filter(|trial| is_it && !trial.ruby.is_empty())
            });
        if trials.next().is_some_and(|trial| !trial.is_optimised) {
            doubts.push(text!(
                "{name} was built without optimisation or with debugging code; its times say nothing about a release build",
                name = contender.name.clone()
            ));
        }
        let same = contenders[..index].iter().find(|earlier| {
            (&earlier.command, &earlier.prelude) == (&contender.command, &contender.prelude)
        });
        if let Some(same) = same {
            doubts.push(text!(
                "{a} and {b} are the same command: what differs between them is chance",
                a = same.name.clone(),
                b = contender.name.clone()
            ));
        }
    }
    doubts
}

fn of_host(bench: &Bench) -> Option<Text> {
    let samples = bench
        .rows
        .iter()
        .flat_map(|row| &row.cells)
        .flat_map(|measured| &measured.samples);
    let mut paces: Vec<f64> = samples.filter_map(|sample| sample.pace).collect();
    paces.sort_by(f64::total_cmp);
    let usual = stats::quantile(&paces, 0.25)?;
    let slow = paces.iter().filter(|pace| **pace > PACE * usual).count();
    let slowest = stats::quantile(&paces, 0.95)? / usual;
    (slow * 20 > paces.len()).then(|| {
        text!(
            "the cores were up to {ratio}x slower in {slow} of {all} processes: something else ran here, or the clock rate changed",
            ratio = format!("{slowest:.2}"),
            slow,
            all = paces.len()
        )
    })
}

fn too_few(bench: &Bench) -> Option<Text> {
    let fewest = bench
        .rows
        .iter()
        .filter(|row| !row.pairs.is_empty())
        .map(|row| row.blocks)
        .min()?;
    (fewest < BLOCKS_MIN).then(|| {
        text!(
            "{blocks} blocks are too few for any claim, which takes {least}; give a longer --budget",
            blocks = fewest,
            least = BLOCKS_MIN
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_from_noise() {
        let growing: Vec<f64> = (0..12).map(|step| 1.0 + 0.1 * f64::from(step)).collect();
        assert!(growth(&growing).expect("enough batches") > 1.5);
        assert!(
            (growth(&[1.0, 1.01, 0.99, 1.0, 1.02, 0.98]).expect("enough batches") - 1.0).abs()
                < 0.05
        );
        assert_eq!(growth(&[1.0, 2.0]), None);
    }
}
