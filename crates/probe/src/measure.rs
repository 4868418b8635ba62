//! Measures the machine, in a few seconds: what a flag costs here, and how much other load there
//! is.

mod blocks;
mod client;
mod interpreter;
mod io;
mod memory;
mod misses;
mod noise;
mod place;
mod ranges;
mod reads;
mod server;
mod speculation;
mod sqlite;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::collect::{Wanted, ruby_program};
use client::AppRuby;
use doctor::Area;
use doctor::snapshot::{Database, DatabaseKind, Measures, Snapshot, Unseen};

/// Time for all measurements: reading facts and the page take some of ten seconds too.
const ALL: Duration = Duration::from_millis(8500);

/// Measures everything, or what was reached before `stop` was set, and stores the figures in the
/// snapshot.
pub fn measure(wanted: &Wanted, snapshot: &mut Snapshot, stop: &AtomicBool) {
    let begin = Instant::now();
    // Relaxed: the flag carries no other data.
    let goes_on = || !stop.load(Ordering::Relaxed);
    let mut measures = Measures::default();
    let unseen = &mut snapshot.unseen;
    let program = ruby_program(wanted).unwrap_or_else(|_| "ruby".to_owned());
    let ruby = AppRuby {
        program: &program,
        folder: &wanted.folder,
    };
    if wanted.has(Area::Cpu) {
        cpu(&mut measures, unseen);
        if snapshot.ruby.is_some() && goes_on() {
            speculation::ruby(ruby.program, &mut measures, unseen);
        }
        hidden(snapshot.machine.is_virtual, &measures, unseen);
    }
    if wanted.has(Area::Memory) && goes_on() {
        measures.bandwidth_bytes_per_s = memory::bandwidth();
        measures.memory_ns = memory::latency();
    }
    if wanted.has(Area::Network) && goes_on() {
        listed(
            "loopback",
            io::loopback(),
            &mut measures.loopback_ns,
            unseen,
        );
    }
    if (wanted.has(Area::Disk) || wanted.has(Area::Database)) && goes_on() {
        disk(&wanted.folder, ruby, &mut measures, unseen);
        reads(&wanted.folder, &mut measures, unseen);
    }
    for database in snapshot.databases.iter_mut().take_while(|_| goes_on()) {
        let known = place::disk(database, &wanted.folder, ruby);
        database.disk = known.costs;
        if let Some(why) = known.unseen {
            push(unseen, "cost of the disk of the database", why);
        }
    }
    // A server that could not be read has no place in the snapshot.
    if wanted.databases.len() == snapshot.databases.len() {
        for (database, url) in snapshot.databases.iter_mut().zip(&wanted.databases) {
            if database.is_local && goes_on() {
                server::ask(url, database, ruby);
            }
        }
    }
    // A file on another disk has that disk's commits.
    let mut databases = snapshot.databases.iter();
    let is_here = |one: &Database| one.kind == DatabaseKind::Sqlite && one.disk.is_none();
    if databases.any(is_here) && goes_on() {
        commits(&wanted.folder, &mut measures, unseen);
    }
    // Last, for as long as the others left.
    if wanted.has(Area::Cpu) && goes_on() {
        measures.noise = noise::noise(ALL.saturating_sub(begin.elapsed()));
    }
    snapshot.measures = measures;
}

/// Measures what mitigations cost, where the process runs with any: of interest to a run, which has
/// no seconds to spare.
pub fn mitigations(wanted: &Wanted, snapshot: &mut Snapshot) {
    let process = &snapshot.process;
    let is = |text: &Option<String>, end: &str| text.as_ref().is_some_and(|it| it.ends_with(end));
    let on = is(&process.store_bypass, "mitigated") || is(&process.indirect_branch, "disabled");
    let program = ruby_program(wanted).ok().filter(|_| on);
    if let Some(program) = program.filter(|_| snapshot.ruby.is_some()) {
        speculation::ruby(&program, &mut snapshot.measures, &mut snapshot.unseen);
    }
}

fn cpu(measures: &mut Measures, unseen: &mut Vec<Unseen>) {
    measures.clock_ns = io::clock();
    measures.syscall_ns = io::syscall();
    measures.wake_ns = io::wake();
    measures.two_threads = interpreter::two_threads();
    listed(
        "context switch",
        io::switch(),
        &mut measures.switch_ns,
        unseen,
    );
    match speculation::mitigated() {
        Ok(factor) => measures.mitigated = factor,
        Err(why) => push(unseen, "cost of mitigations switched on by prctl", why),
    }
    match speculation::filtered() {
        Ok(filtered) => {
            measures.filtered = filtered.factor;
            measures.filter_syscall_ns = filtered.syscall_ns;
        }
        Err(why) => push(unseen, "cost of a seccomp filter", why),
    }
}

/// Lists measurements without a meaning in a virtual machine: the bits of the mitigations may be
/// hidden there, and "no difference" says nothing of the host.
fn hidden(is_virtual: bool, measures: &Measures, unseen: &mut Vec<Unseen>) {
    let acts = |factor: Option<doctor::snapshot::Factor>| factor.is_some_and(|it| it.low > 1.02);
    if is_virtual && !acts(measures.mitigated) && !acts(measures.ruby_mitigated) {
        push(
            unseen,
            "whether the host mitigates",
            "a virtual machine: its hypervisor may hide mitigations or force them, which nothing inside can show"
                .to_owned(),
        );
    }
}

fn disk(folder: &Path, ruby: AppRuby<'_>, measures: &mut Measures, unseen: &mut Vec<Unseen>) {
    match io::sync(folder) {
        Ok((median, max)) => {
            measures.sync_ns = Some(median);
            measures.sync_max_ns = Some(max);
            measures.append_sync_ns = io::append_sync(folder, ruby).ok();
        }
        Err(error) => push(
            unseen,
            "cost of writing to disk for good",
            format!("{}: {error}", folder.display()),
        ),
    }
}

fn reads(folder: &Path, measures: &mut Measures, unseen: &mut Vec<Unseen>) {
    let result = reads::File::make(folder).and_then(|file| {
        measures.cached_read_ns = Some(file.cached()?);
        file.uncached()
    });
    match result {
        Ok(ns) => measures.page_read_ns = Some(ns),
        Err(error) => push(
            unseen,
            "cost of reading from disk",
            format!("{}: {error}", folder.display()),
        ),
    }
}

fn commits(folder: &Path, measures: &mut Measures, unseen: &mut Vec<Unseen>) {
    match sqlite::commits(folder) {
        Ok((rollback, wal)) => {
            measures.sqlite_rollback_ns = Some(rollback);
            measures.sqlite_wal_ns = Some(wal);
        }
        Err(error) => push(
            unseen,
            "cost of a commit of SQLite",
            format!("{}: {error}", folder.display()),
        ),
    }
}

fn listed(
    what: &str,
    measured: std::io::Result<f64>,
    to: &mut Option<f64>,
    unseen: &mut Vec<Unseen>,
) {
    match measured {
        Ok(value) => *to = Some(value),
        Err(error) => push(unseen, what, error.to_string()),
    }
}

fn push(unseen: &mut Vec<Unseen>, what: &str, why: String) {
    unseen.push(Unseen {
        what: what.to_owned(),
        why,
    });
}

/// Times of writes for good, ns: at least 20, then as many as 0.2 s have room for, but none after
/// 2 s. A write returns the instant from which the clock runs.
///
/// A pause lies before each, as an app's other work does. After a pause a disk and idle cores take
/// longer: on a virtual disk 0.09 ms back to back, 0.19 ms after 1 ms and 0.34 ms after 3 ms.
fn writes<E>(mut write: impl FnMut(usize) -> Result<Instant, E>) -> Result<Vec<f64>, E> {
    const PAUSE: Duration = Duration::from_millis(1);
    const ENOUGH: Duration = Duration::from_millis(200);
    let begin = Instant::now();
    let mut times = Vec::new();
    while wants_more(begin.elapsed(), times.len(), ENOUGH) {
        std::thread::sleep(PAUSE);
        let from = write(times.len())?;
        times.push(from.elapsed().as_nanos() as f64);
    }
    Ok(times)
}

/// Whether another write follows: at least 20, and as many as `enough` has room for, but none after
/// 2 s, however slow the disk is.
fn wants_more(elapsed: Duration, done: usize, enough: Duration) -> bool {
    const TIMES_MIN: usize = 20;
    const DEADLINE: Duration = Duration::from_secs(2);
    elapsed < DEADLINE && (done < TIMES_MIN || elapsed < enough)
}

/// The mean, with the longest counted as the second longest. What many of them cost together is
/// their mean, and the times of a disk have a long tail that a median does not show: one with a
/// quota of writes is fast for some and stands still for the next. A single hiccup says little.
fn usual(times: &[f64]) -> f64 {
    let (mut longest, mut second) = (0.0_f64, 0.0_f64);
    for &time in times {
        second = second.max(time.min(longest));
        longest = longest.max(time);
    }
    let sum = times.iter().sum::<f64>() - longest + second;
    sum / times.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{usual, wants_more};

    #[test]
    fn a_slow_disk_is_not_written_to_for_long() {
        let more =
            |ms: u64, done| wants_more(Duration::from_millis(ms), done, Duration::from_millis(400));
        assert!(more(0, 0) && more(399, 300) && more(1999, 19));
        assert!(!more(401, 20) && !more(2000, 3));
    }

    #[test]
    fn a_long_tail_counts_and_a_single_hiccup_does_not() {
        let tail = [1.0, 1.0, 1.0, 9.0, 9.0];
        assert_eq!(usual(&tail), 4.2);
        assert_eq!(usual(&[1.0, 1.0, 1.0, 500.0]), 1.0);
        assert_eq!(usual(&[]), 0.0);
    }
}
