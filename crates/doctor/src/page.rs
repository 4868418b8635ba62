//! The page of a diagnosis: lines for a terminal, folded to the terminal's width, or one HTML file.

mod html;
mod terminal;

pub use html::html;
pub use terminal::{comparison, list, markdown, terminal};

use figures::numbers;
use words::{Text, text};

use crate::check::Verdict;
use crate::snapshot::Snapshot;

/// Contents of the page.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The facts.
    pub snapshot: &'a Snapshot,
    /// The findings.
    pub verdicts: &'a [Verdict],
    /// Number of checks made.
    pub checks: usize,
    /// Duration of the diagnosis.
    pub seconds: f64,
}

/// Returns the lines of measured figures, each with a label.
fn measured(snapshot: &Snapshot) -> Vec<(Text, String)> {
    let m = &snapshot.measures;
    let time = |ns: Option<f64>| ns.map(numbers::duration_ns);
    let factor = |factor: Option<crate::snapshot::Factor>| {
        factor.map(|it| format!("{:.2} ({:.2}–{:.2})", it.median, it.low, it.high))
    };
    let noise = m.noise.as_ref();
    let rows = [
        (
            text!("time lost to other programs"),
            noise.map(|noise| numbers::share(noise.lost_share)),
        ),
        (
            text!("stolen by the hypervisor"),
            noise.map(|noise| numbers::share(noise.steal_share)),
        ),
        (text!("mitigations on / off, loop"), factor(m.mitigated)),
        (
            text!("mitigations on / off, Ruby"),
            factor(m.ruby_mitigated),
        ),
        (text!("seccomp filter on / off, loop"), factor(m.filtered)),
        (
            text!("filter, for each system call"),
            time(m.filter_syscall_ns),
        ),
        (text!("turn of a Ruby loop"), time(m.ruby_turn_ns)),
        (text!("read of the clock"), time(m.clock_ns)),
        (text!("system call"), time(m.syscall_ns)),
        (text!("round trip between threads"), time(m.switch_ns)),
        (text!("lateness of a sleep of 1 ms"), time(m.wake_ns)),
        (
            text!("two threads against one"),
            m.two_threads.map(|ratio| format!("{ratio:.2} ×")),
        ),
        (text!("round trip over loopback"), time(m.loopback_ns)),
        (text!("write of 4 KB for good"), time(m.sync_ns)),
        (
            text!("the same at the end of a file"),
            time(m.append_sync_ns),
        ),
        (text!("read of 16 KB from disk"), time(m.page_read_ns)),
        (
            text!("read of 8 KB from the kernel"),
            time(m.cached_read_ns),
        ),
        (text!("SQLite commit, journal"), time(m.sqlite_rollback_ns)),
        (text!("SQLite commit, WAL"), time(m.sqlite_wal_ns)),
        (text!("read of memory at random"), time(m.memory_ns)),
        (
            text!("reading memory in order"),
            m.bandwidth_bytes_per_s
                .map(|rate| format!("{}/s", numbers::bytes(rate as u64))),
        ),
    ];
    rows.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// Returns the subjects examined, in one line each.
fn subjects(snapshot: &Snapshot) -> Vec<String> {
    let machine = &snapshot.machine;
    let mut lines = Vec::new();
    let parts = [
        machine.cpu.clone(),
        machine.cores.map(|cores| format!("{cores} cores")),
        machine.is_virtual.then(|| "virtual".to_owned()),
        machine
            .kernel
            .as_ref()
            .map(|kernel| format!("Linux {kernel}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    lines.push(parts.join(", "));
    if let (Some(pid), Some(name)) = (snapshot.process.pid, &snapshot.process.name) {
        lines.push(format!("{name} ({pid})"));
    }
    lines.extend(snapshot.ruby.iter().map(|ruby| ruby.description.clone()));
    lines.extend(
        snapshot
            .databases
            .iter()
            .map(|database| database.name.clone()),
    );
    lines.retain(|line| !line.is_empty());
    lines
}
