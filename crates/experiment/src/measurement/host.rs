//! Figures of the host and the app's processes during a measurement.

use figures::numbers;
use recording::{HostSample, Nanos, ProcessRole};
use stats::baseline::Relative;
use words::{Text, text};

/// Returns the memory of the app, bytes.
pub(super) fn memory(sample: &HostSample) -> u64 {
    let app = sample
        .processes
        .iter()
        .filter(|process| process.role == ProcessRole::App);
    app.map(|process| process.pss.unwrap_or(process.rss)).sum()
}

/// Returns the CPU time used by other processes plus steal time, as a share of all cores' time.
pub(super) fn others(first: &HostSample, last: &HostSample) -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let length = last.at.since(first.at).as_secs_f64() * cores as f64;
    let own: f64 = (last.processes.iter())
        .map(|process| {
            let before = (first.processes.iter()).find(|known| known.pid == process.pid);
            let before = before.map_or(Nanos::ZERO, |known| known.cpu);
            process.cpu.0.saturating_sub(before.0) as f64 / 1e9
        })
        .sum();
    let passed = |of: fn(&HostSample) -> Nanos| of(last).0.saturating_sub(of(first).0) as f64 / 1e9;
    let others = (passed(|sample| sample.cpu_busy) - own).max(0.0);
    let stolen = passed(|sample| sample.cpu_steal);
    if length > 0.0 {
        (others + stolen) / length
    } else {
        0.0
    }
}

/// Returns what disturbed a measurement, in words.
pub(crate) fn cause(disturbance: &Relative) -> Text {
    if disturbance.is_slow() {
        let slowness = format!("{:.2}", disturbance.slowness);
        text!("the cores were {slowness}x slower than usual", slowness)
    } else {
        let share = numbers::share(disturbance.others);
        text!("others took {share} of the cores", share)
    }
}
