//! What a measurement tells of the host and the app's processes.

use figures::numbers;
use recording::{HostSample, Nanos, ProcessRole};
use words::{Text, text};

/// Share of the cores that others may take, above what they usually take here, until a measurement is made again. Found
/// by weighing.
const DISTURBED: f64 = 0.05;
/// How much slower than usual the cores may be. A neighbour all the time makes one of two 1.4 times as slow, so that both together
/// are 1.1 to 1.2 times; at 1.08 a request of `three-servers` cpu took 1 to 2 % more, which is what a measurement is good for anyway.
const SLOW: f64 = 1.08;
/// Cores as fast as in this share of the measurements are the usual ones.
const FAST_SHARE: f64 = 0.25;

/// What the host did to a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Disturbance {
    /// Time of the cores that others and the hypervisor took, as a share of all.
    pub(crate) others: f64,
    /// What a try of a core took in the calmest moments; `None` where the cores cannot be watched.
    pub(crate) pace: Option<Nanos>,
}

/// A disturbance in relation to what is usual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judged {
    others: f64,
    /// 1 is usual.
    slowness: f64,
    /// Above 1 the measurement is better made again.
    pub(crate) excess: f64,
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

/// What is usual on this host.
#[derive(Default)]
pub(crate) struct Usual {
    others: Vec<f64>,
    paces: Vec<Nanos>,
}

impl Usual {
    /// Judges a measurement by those before it, and takes it among them. The first one is as usual.
    pub(crate) fn judge(&mut self, seen: Disturbance) -> Judged {
        let limit = stats::median(&self.others).map(|usual| DISTURBED + 2.0 * usual);
        let fast: Option<Nanos> = stats::quantile(&self.paces, FAST_SHARE);
        let slowness =
            (seen.pace.zip(fast)).map_or(1.0, |(pace, fast)| pace.0 as f64 / fast.0 as f64);
        let taken = limit.map_or(0.0, |limit| seen.others / limit);
        self.others.push(seen.others);
        self.paces.extend(seen.pace);
        self.paces.sort_unstable();
        Judged {
            others: seen.others,
            slowness,
            excess: taken.max(slowness / SLOW),
        }
    }
}

impl Judged {
    pub(crate) fn is_disturbed(&self) -> bool {
        self.excess > 1.0
    }

    /// What disturbed it.
    pub(crate) fn cause(&self) -> Text {
        if self.slowness > SLOW {
            let slowness = format!("{:.2}", self.slowness);
            text!("the cores were {slowness}x slower than usual", slowness)
        } else {
            let share = numbers::share(self.others);
            text!("others took {share} of the cores", share)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usual_disturbs_nothing() {
        let check = |before: &[f64], others: f64, expected: bool| {
            let mut usual = Usual::default();
            let seen = |others| Disturbance { others, pace: None };
            for others in before {
                usual.judge(seen(*others));
            }
            let judged = usual.judge(seen(others));
            assert_eq!(judged.is_disturbed(), expected, "{before:?} {others}");
        };
        check(&[], 0.5, false);
        check(&[0.0, 0.0], 0.04, false);
        check(&[0.0, 0.0], 0.06, true);
        check(&[0.2, 0.1, 0.2], 0.4, false);
        check(&[0.2, 0.1, 0.2], 0.5, true);
    }

    #[test]
    fn slow_cores_disturb_unless_they_are_nearly_always_slow() {
        let check = |before: &[u64], pace: u64, expected: Option<&str>| {
            let mut usual = Usual::default();
            let mut judge = |pace| {
                usual.judge(Disturbance {
                    others: 0.0,
                    pace: Some(Nanos(pace)),
                })
            };
            for pace in before {
                judge(*pace);
            }
            let judged = judge(pace);
            let told = judged.is_disturbed().then(|| judged.cause().to_string());
            assert_eq!(told.as_deref(), expected, "{before:?} {pace}");
        };
        let slower = Some("the cores were 1.25x slower than usual");
        check(&[], 100, None);
        check(&[60, 61], 62, None);
        check(&[60, 60], 75, slower);
        check(&[75, 60, 75, 60, 75], 75, slower);
        check(&[75, 75, 75, 75, 60], 75, None);
        check(&[75, 75], 60, None);
    }
}
