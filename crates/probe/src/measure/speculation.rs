//! Measures the cost of speculation mitigations and of a seccomp filter, by the same loop with and
//! without.
//!
//! Both are properties of a thread that its children inherit, and both may stay for good. So each
//! pair of measurements runs in two fresh threads; nothing outlives them.

#![expect(
    unsafe_code,
    reason = "no safe interface installs a seccomp filter or chooses mitigations"
)]

use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use super::{interpreter, push};
use crate::collect::command_output;
use doctor::snapshot::{Factor, Measures, Unseen};

/// Time for all pairs of one measurement: on a machine under load, fewer pairs and a wider
/// interval, not a longer wait.
const DEADLINE: Duration = Duration::from_millis(1200);
/// Pairs of which the median is taken: the interval is the one between the 3rd and the 10th.
const PAIRS: usize = 12;
/// Blocks with a Ruby's start each: ABBA, twice.
const RUBY_PAIRS: usize = 6;
/// Turns of Ruby's loop.
const RUBY_TURNS: u64 = 700_000;

/// `PR_SET_SPECULATION_CTRL`, which the libc crate names for some machines only.
const SET_SPECULATION: libc::c_int = 53;
/// `PR_SPEC_STORE_BYPASS` and `PR_SPEC_INDIRECT_BRANCH`.
const FEATURES: [libc::c_ulong; 2] = [0, 1];
/// `PR_SPEC_DISABLE`: the mitigation is on and could be taken back.
const DISABLE: libc::c_ulong = 4;

/// Switches the mitigations on for the calling thread. At least one must have worked.
fn mitigate() -> io::Result<()> {
    let mut last = Ok(());
    let mut worked = false;
    for feature in FEATURES {
        // SAFETY: this option reads integers only and changes nothing but flags of this thread.
        let result = unsafe { libc::prctl(SET_SPECULATION, feature, DISABLE, 0, 0) };
        match result {
            0 => worked = true,
            _ => last = Err(io::Error::last_os_error()),
        }
    }
    if worked { Ok(()) } else { last }
}

/// Rules before the matching one, as many as in the default filter of container engines.
const RULES: usize = 60;

/// Puts the calling thread under a filter allowing everything, installed without `SPEC_ALLOW`.
fn filter() -> io::Result<()> {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    let statement = |code: u16, k: u32| libc::sock_filter {
        code,
        jt: 0,
        jf: 0,
        k,
    };
    let mut rules = vec![statement(LOAD_NUMBER, 0)];
    // Numbers that no system call has, so that every call passes all rules; both ways lead to the
    // next rule.
    rules.extend((0..RULES).map(|rule| statement(JUMP_IF_EQUAL, 0x4000_0000 + rule as u32)));
    rules.push(statement(RETURN, ALLOW));
    let program = libc::sock_fprog {
        len: rules.len() as u16,
        filter: rules.as_mut_ptr(),
    };
    // SAFETY: sets a flag of this thread.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    const MODE_FILTER: libc::c_ulong = 2;
    // SAFETY: the kernel copies the program, which lives until the end of this function.
    match unsafe { libc::prctl(libc::PR_SET_SECCOMP, MODE_FILTER, &raw const program) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Runs `work` in a separate thread after `prepare`.
fn in_thread<T: Send>(
    prepare: fn() -> io::Result<()>,
    run: impl FnOnce() -> T + Send,
) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| prepare().map(|()| run()));
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Ratios of `run` in a thread after `prepare` to `run` in a plain one, in blocks ABBA.
fn paired(
    prepare: fn() -> io::Result<()>,
    pairs: usize,
    run: impl Fn() -> Option<f64> + Sync,
) -> io::Result<Vec<(f64, f64)>> {
    let mut times = Vec::with_capacity(pairs);
    let begin = Instant::now();
    for pair in 0..pairs {
        if begin.elapsed() > DEADLINE {
            break;
        }
        let with = || in_thread(prepare, &run);
        let without = || in_thread(|| Ok(()), &run);
        let (off, on) = match pair % 2 {
            0 => (without()?, with()?),
            _ => {
                let on = with()?;
                (without()?, on)
            }
        };
        times.extend(off.zip(on));
    }
    Ok(times)
}

/// Returns the median of the ratios with an interval; `None` for too few.
fn factor(times: &[(f64, f64)]) -> Option<Factor> {
    let mut ratios: Vec<f64> = times.iter().map(|(off, on)| on / off).collect();
    ratios.sort_by(f64::total_cmp);
    let (low, high) = stats::quantile_interval(&ratios, 0.5, 0.95)?;
    Some(Factor {
        median: stats::median(&ratios)?,
        low,
        high,
        pairs: ratios.len() as u32,
    })
}

/// The best of three short runs: what others do in between makes a run longer, never shorter.
fn best_of_three(run: impl Fn() -> f64) -> f64 {
    (0..3).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// The loop with mitigations switched on, against without.
pub(super) fn mitigated() -> Result<Option<Factor>, String> {
    let run = || Some(best_of_three(|| interpreter::time(interpreter::TURNS)));
    let times = paired(mitigate, PAIRS, run).map_err(|error| explained(&error))?;
    Ok(factor(&times))
}

/// Cost of a filter.
pub(super) struct Filtered {
    pub(super) factor: Option<Factor>,
    pub(super) syscall_ns: Option<f64>,
}

/// Measures the loop, and a system call, with a filter and without.
pub(super) fn filtered() -> Result<Filtered, String> {
    let run = || Some(best_of_three(|| interpreter::time(interpreter::TURNS)));
    let loops = paired(filter, PAIRS, run).map_err(|error| explained(&error))?;
    let calls = paired(filter, PAIRS, super::io::syscall).map_err(|error| explained(&error))?;
    let more: Vec<f64> = calls.iter().map(|(off, on)| on - off).collect();
    Ok(Filtered {
        factor: factor(&loops),
        syscall_ns: stats::median(&more).map(|ns| ns.max(0.0)),
    })
}

/// Measures the `while` loop of the app's Ruby in the same way.
pub(super) fn ruby(program: &str, measures: &mut Measures, unseen: &mut Vec<Unseen>) {
    let script = format!(
        "clock = -> {{ Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) }}
         run = -> {{ i = sum = 0; t = clock.(); while i < {RUBY_TURNS}; i += 1; sum += i & 7; end; clock.() - t }}
         puts [run.(), run.(), run.()].min"
    );
    let run = || {
        let mut command = Command::new(program);
        command
            .args(["--disable-gems", "-e", &script])
            .env_remove("RUBYOPT");
        let text = command_output(&mut command).ok()?;
        text.trim().parse::<f64>().ok()
    };
    let turn = |times: &[(f64, f64)]| {
        let off: Vec<f64> = times.iter().map(|(off, _)| *off).collect();
        Some(stats::median(&off)? / RUBY_TURNS as f64)
    };
    match paired(mitigate, RUBY_PAIRS, run) {
        Ok(times) => {
            measures.ruby_turn_ns = turn(&times);
            measures.ruby_mitigated = factor(&times);
        }
        Err(error) => push(unseen, "cost of mitigations for Ruby", explained(&error)),
    }
}

fn explained(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EINVAL | libc::ENODEV | libc::ENXIO | libc::EPERM) => {
            "the kernel does not let this process choose its mitigations here".to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_of_the_medians() {
        let times: Vec<(f64, f64)> = (0..12).map(|n| (100.0, 150.0 + f64::from(n))).collect();
        let found = factor(&times).expect("enough pairs");
        assert!(found.low < found.median && found.median < found.high);
        assert!((1.5..1.62).contains(&found.median));
        assert_eq!(factor(&[]), None);
    }

    /// A filter left behind by a finished thread would show in the status of the test's own thread.
    #[test]
    fn nothing_stays_behind() {
        let status = || std::fs::read_to_string("/proc/thread-self/status").expect("a status");
        let line = |text: &str| {
            let found = text.lines().find(|line| line.starts_with("Seccomp:"));
            found.map(str::to_owned)
        };
        let before = line(&status());
        let inside = in_thread(filter, || line(&status())).expect("a filter");
        assert_eq!(inside.as_deref(), Some("Seccomp:\t2"));
        assert_eq!(line(&status()), before);
    }
}
