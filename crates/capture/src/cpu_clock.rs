//! A process's CPU clock, which is finer than the ticks of CPU time in `/proc`.

#![expect(
    unsafe_code,
    reason = "no safe interface names another process's clock"
)]

use recording::Nanos;

/// CPU time used by all threads of a process since the start; `None` for a process unknown to the
/// kernel.
pub fn cpu_time_of(pid: u32) -> Option<Nanos> {
    let pid = libc::pid_t::try_from(pid).ok()?;
    let mut clock: libc::clockid_t = 0;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: both calls write into variables that live here.
    let is_read = unsafe {
        libc::clock_getcpuclockid(pid, &raw mut clock) == 0
            && libc::clock_gettime(clock, &raw mut time) == 0
    };
    is_read.then_some(Nanos(
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_while_something_is_computed() {
        let before = cpu_time_of(std::process::id()).expect("this process");
        let mut value = 1u64;
        let after = loop {
            value = std::hint::black_box(value.wrapping_mul(3));
            let now = cpu_time_of(std::process::id()).expect("this process");
            if now.0 > before.0 + 1_000_000 {
                break now;
            }
        };
        assert!(after.0 > before.0 && value != 0);
    }

    #[test]
    fn who_is_not_there_has_no_clock() {
        assert_eq!(cpu_time_of(u32::MAX), None);
    }
}
