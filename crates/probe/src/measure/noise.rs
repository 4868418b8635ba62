//! Measures other load: a loop only reading the clock, and the time lost.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant, SystemTime};

use doctor::snapshot::Noise;

/// Long enough for the turns of a scheduler.
const SHORTEST: Duration = Duration::from_millis(2500);
/// Long enough for what comes once in a few seconds, short enough to be waited for.
const LONGEST: Duration = Duration::from_secs(5);
/// Longer gaps between two looks at the clock are an interruption.
const GAP_NS: u128 = 20_000;
/// The kernel's unit of CPU time in `/proc`, always 1/100 s by the interface.
const TICK_S: f64 = 0.01;
/// Processes named in the result.
const NAMED: usize = 3;

/// Measures other load for the time left, within 2.5 to 5 s; `None` without access to the own
/// process's counters.
pub(super) fn noise(left: Duration) -> Option<Noise> {
    let wanted = left.clamp(SHORTEST, LONGEST);
    let processes = cpu_by_process();
    let machine = machine_times()?;
    let switches = switched()?;
    let day = SystemTime::now();
    let begin = Instant::now();
    let (mut last, mut lost, mut longest) = (begin, 0u128, 0u128);
    while last.duration_since(begin) < wanted {
        let now = Instant::now();
        let gap = now.duration_since(last).as_nanos();
        if gap > GAP_NS {
            lost += gap;
            longest = longest.max(gap);
        }
        last = now;
    }
    let length = last.duration_since(begin);
    let moved_ns = moved(day, SystemTime::now(), begin.elapsed());
    let switched = switched()?.saturating_sub(switches);
    let (all, stolen) = machine_times()?;
    let steal = stolen.saturating_sub(machine.1) as f64;
    let all = all.saturating_sub(machine.0).max(1) as f64;
    Some(Noise {
        lost_share: lost as f64 / length.as_nanos() as f64,
        switches: switched,
        steal_share: steal / all,
        longest_ns: longest as f64,
        moved_ns,
        busiest: busiest(&processes, &cpu_by_process(), length.as_secs_f64()),
    })
}

/// Returns how far the time of day went in another time than `length`, ns.
fn moved(before: SystemTime, after: SystemTime, length: Duration) -> f64 {
    let went = match after.duration_since(before) {
        Ok(forth) => forth.as_nanos() as f64,
        Err(back) => -(back.duration().as_nanos() as f64),
    };
    (went - length.as_nanos() as f64).abs()
}

/// Returns how many times another thread took the core from the measuring one.
fn switched() -> Option<u64> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

/// Returns the ticks of all cores, and the ticks taken by the hypervisor.
fn machine_times() -> Option<(u64, u64)> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().next()?;
    let ticks: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    // Guest time, behind steal, is in user time already.
    Some((ticks.iter().take(8).sum(), *ticks.get(7)?))
}

/// Returns name and CPU ticks of each process but the measuring one.
fn cpu_by_process() -> HashMap<u32, (String, u64)> {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let read = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, ticks(&stat)?))
    };
    pids.filter(|pid| *pid != own).filter_map(read).collect()
}

fn ticks(stat: &str) -> Option<(String, u64)> {
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut fields = after.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((name.to_owned(), user + system))
}

fn busiest(
    before: &HashMap<u32, (String, u64)>,
    after: &HashMap<u32, (String, u64)>,
    seconds: f64,
) -> Vec<(String, f64)> {
    let mut used: Vec<(String, f64)> = after
        .iter()
        .map(|(pid, (name, ticks))| {
            let known = before.get(pid).map_or(0, |(_, ticks)| *ticks);
            let cores = ticks.saturating_sub(known) as f64 * TICK_S / seconds;
            (format!("{name} ({pid})"), cores)
        })
        .filter(|(_, cores)| *cores >= 0.05)
        .collect();
    used.sort_by(|a, b| b.1.total_cmp(&a.1));
    used.truncate(NAMED);
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_a_process_are_read() {
        let stat = "7 (a) b) R 1 7 7 0 -1 4 1 0 0 0 30 12 0 0 20 0 1 0 9 1 1";
        assert_eq!(ticks(stat), Some(("a) b".to_owned(), 42)));
    }

    #[test]
    fn a_jump_of_the_time_of_day_counts_in_both_directions() {
        let (day, second) = (SystemTime::UNIX_EPOCH, Duration::from_secs(1));
        assert_eq!(moved(day, day + second, second), 0.0);
        assert_eq!(moved(day, day + 3 * second, second), 2e9);
        assert_eq!(moved(day + second, day, second), 2e9);
    }

    #[test]
    fn who_used_most_is_named() {
        let before = HashMap::from([(1, ("a".to_owned(), 10))]);
        let after = HashMap::from([(1, ("a".to_owned(), 60)), (2, ("b".to_owned(), 1))]);
        assert_eq!(busiest(&before, &after, 1.0), [("a (1)".to_owned(), 0.5)]);
    }
}
