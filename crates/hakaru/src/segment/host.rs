//! What a measurement tells of the host and the app's processes.

use recording::{Exchange, HostSample, Nanos, ProcessRole};

/// Share of the cores that others may take, above what they usually take here, until a measurement is made again. Found
/// by weighing.
const DISTURBED: f64 = 0.05;
/// Half of a tick of 10 ms, in which the kernel tells a process's CPU time: the most that a reading of none may stand for.
const HALF_TICK_S: f64 = 0.005;

/// Memory of the app, bytes.
pub(super) fn memory(sample: &HostSample) -> u64 {
    let app = sample
        .processes
        .iter()
        .filter(|process| process.role == ProcessRole::App);
    app.map(|process| process.pss.unwrap_or(process.rss)).sum()
}

/// CPU time of the app's processes between two samples for each request that was answered between them, milliseconds. `None`
/// where the app's processes are not known, or nothing was answered.
pub(super) fn cpu_ms(first: &HostSample, last: &HostSample, exchanges: &[Exchange]) -> Option<f64> {
    let is_app = |role| role == ProcessRole::App;
    let is_known = last.processes.iter().any(|process| is_app(process.role));
    let between = |exchange: &&Exchange| {
        exchange.outcome.was_answered() && (first.at..last.at).contains(&exchange.answered)
    };
    let answered = exchanges.iter().filter(between).count();
    let cpu_s = cpu_s(first, last, is_app).max(HALF_TICK_S);
    (is_known && answered > 0).then(|| cpu_s * 1000.0 / answered as f64)
}

/// CPU time of the processes of these roles between two samples, seconds.
fn cpu_s(first: &HostSample, last: &HostSample, is_meant: impl Fn(ProcessRole) -> bool) -> f64 {
    let meant = last
        .processes
        .iter()
        .filter(|process| is_meant(process.role));
    meant
        .map(|process| {
            let before = (first.processes.iter()).find(|known| known.pid == process.pid);
            let before = before.map_or(Nanos::ZERO, |known| known.cpu);
            process.cpu.0.saturating_sub(before.0) as f64 / 1e9
        })
        .sum()
}

/// CPU that neither this comparison nor nobody used, and what the hypervisor took.
pub(super) fn disturbed(first: &HostSample, last: &HostSample) -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let length = last.at.since(first.at).as_secs_f64() * cores as f64;
    let own = cpu_s(first, last, |_| true);
    let passed = |of: fn(&HostSample) -> Nanos| of(last).0.saturating_sub(of(first).0) as f64 / 1e9;
    let others = (passed(|sample| sample.cpu_busy) - own).max(0.0);
    let stolen = passed(|sample| sample.cpu_steal);
    if length > 0.0 {
        (others + stolen) / length
    } else {
        0.0
    }
}

/// What others usually take of the cores on this host.
#[derive(Default)]
pub(crate) struct Usual {
    seen: Vec<f64>,
}

impl Usual {
    /// Takes the shares of some measurements; says whether others took clearly more in one of them than usual. The first
    /// ones say what is usual.
    pub(crate) fn is_disturbed(&mut self, shares: &[f64]) -> bool {
        let usual = stats::median(&self.seen);
        let most = shares.iter().copied().fold(0.0, f64::max);
        self.seen.extend(shares);
        usual.is_some_and(|usual| most > DISTURBED + 2.0 * usual)
    }

    /// Takes those of a trial, by which nothing is judged.
    pub(crate) fn learn(&mut self, shares: impl IntoIterator<Item = f64>) {
        self.seen.extend(shares);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usual_disturbs_nothing() {
        let check = |before: &[f64], share: f64, expected: bool| {
            let mut usual = Usual::default();
            usual.learn(before.iter().copied());
            assert_eq!(usual.is_disturbed(&[share]), expected, "{before:?} {share}");
        };
        check(&[], 0.5, false);
        check(&[0.0, 0.0], 0.04, false);
        check(&[0.0, 0.0], 0.06, true);
        check(&[0.2, 0.1, 0.2], 0.4, false);
        check(&[0.2, 0.1, 0.2], 0.5, true);
    }
}
