//! What a measurement tells of the host and the app's processes.

use capture::cpu_time_of;
use recording::{HostSample, Nanos, ProcessRole, Timestamp, Window};

/// Share of the cores that others may take, above what they usually take here, until a measurement is made again. Found
/// by weighing.
const DISTURBED: f64 = 0.05;
/// Requests that a slice of time needs, and slices that a measurement needs, for some to be chosen.
const SLICE_REQUESTS: usize = 10;
const SLICES_MIN: usize = 4;

/// Follows the CPU time of an app's processes.
pub(super) struct CpuWatch {
    pids: Vec<u32>,
    /// Instants and the processes' CPU time at them.
    marks: Vec<(Timestamp, Nanos)>,
}

impl CpuWatch {
    pub(super) fn new(pids: Vec<u32>) -> CpuWatch {
        CpuWatch {
            pids,
            marks: Vec::new(),
        }
    }

    /// Reads it, now. Processes that are gone count no more.
    pub(super) fn mark(&mut self) {
        let cpu = self.pids.iter().filter_map(|pid| cpu_time_of(*pid));
        let cpu = cpu.fold(Nanos::ZERO, |all, one| Nanos(all.0 + one.0));
        self.marks.push((load::now(), cpu));
    }

    /// CPU time for each request of the window, milliseconds, where all requests were answered at these instants: the lower
    /// quartile over the slices between two marks, or all of it where these are few. A core slows down by a third, for
    /// tenths of a second to half a minute, when a neighbour uses the other thread of the same physical core, and nothing
    /// tells that; moments without it are the same on both sides of a comparison. `None` when no CPU time or no answer is
    /// known.
    pub(super) fn each_ms(&self, window: Window, mut answered: Vec<Timestamp>) -> Option<f64> {
        answered.sort_unstable();
        let within = |mark: &&(Timestamp, Nanos)| window.contains(mark.0);
        let marks: Vec<(Timestamp, Nanos)> = self.marks.iter().filter(within).copied().collect();
        let each = |[from, to]: [&(Timestamp, Nanos); 2], least: usize| {
            let before = |end: Timestamp| answered.partition_point(|at| *at < end);
            let requests = before(to.0) - before(from.0);
            let cpu_ms = Nanos(to.1.0.saturating_sub(from.1.0)).as_millis_f64();
            (requests >= least && cpu_ms > 0.0).then(|| cpu_ms / requests as f64)
        };
        let slices = marks.array_windows::<2>();
        let mut slices: Vec<f64> = slices
            .filter_map(|[from, to]| each([from, to], SLICE_REQUESTS))
            .collect();
        if slices.len() < SLICES_MIN {
            return each([self.marks.first()?, self.marks.last()?], 1);
        }
        slices.sort_by(f64::total_cmp);
        stats::quantile(&slices, 0.25)
    }
}

/// Memory of the app, bytes.
pub(super) fn memory(sample: &HostSample) -> u64 {
    let app = sample
        .processes
        .iter()
        .filter(|process| process.role == ProcessRole::App);
    app.map(|process| process.pss.unwrap_or(process.rss)).sum()
}

/// CPU that neither this comparison nor nobody used, and what the hypervisor took.
pub(super) fn disturbed(first: &HostSample, last: &HostSample) -> f64 {
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

    /// Slices of 200 ms in which each of the requests takes so many milliseconds of CPU.
    fn watched(slices_ms: &[f64], requests: u64) -> (CpuWatch, Vec<Timestamp>) {
        const SLICE_NS: u64 = 200_000_000;
        let at = |slice: usize, part: u64| {
            let nanos = 1 + SLICE_NS * slice as u64 + SLICE_NS * part / requests;
            Timestamp::from_monotonic_nanos(nanos)
        };
        let mut watch = CpuWatch::new(Vec::new());
        let mut cpu = 0.0;
        watch.marks.push((at(0, 0), Nanos(0)));
        for (slice, each_ms) in slices_ms.iter().enumerate() {
            cpu += each_ms * requests as f64 * 1e6;
            watch.marks.push((at(slice + 1, 0), Nanos(cpu as u64)));
        }
        let slices = 0..slices_ms.len();
        let answered = slices.flat_map(|slice| (0..requests).map(move |part| at(slice, part)));
        (watch, answered.collect())
    }

    #[test]
    fn slow_moments_of_the_host_count_only_where_there_is_little_else() {
        let window = Window {
            start: Timestamp::from_monotonic_nanos(0),
            end: Timestamp::from_monotonic_nanos(u64::MAX),
        };
        let check = |slices_ms: &[f64], requests: u64, expected: Option<f64>| {
            let (watch, answered) = watched(slices_ms, requests);
            let seen = watch.each_ms(window, answered);
            let is_near = match (seen, expected) {
                (Some(seen), Some(expected)) => (seen - expected).abs() < 1e-3,
                (seen, expected) => seen.is_none() && expected.is_none(),
            };
            assert!(is_near, "{slices_ms:?}: {seen:?}");
        };
        check(&[2.0, 3.0, 2.0, 3.0, 3.0, 3.0, 3.0, 2.0], 40, Some(2.0));
        check(&[3.0; 8], 40, Some(3.0));
        check(&[2.0, 3.0, 4.0], 40, Some(3.0));
        check(&[2.0, 3.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0], 4, Some(2.75));
        check(&[0.0; 8], 40, None);
        check(&[], 40, None);
    }

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
