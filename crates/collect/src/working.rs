//! Signs of a host at work on something slow and silent: a hesitating database, a long journal, a
//! packed log.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Interval of signs, a fraction of the near side's patience ([`remote::PATIENCE`]).
const INTERVAL: Duration = Duration::from_secs(4);
/// Most signs for one work: what takes even longer hangs, and is to be given up. Databases and
/// journals have limits of 10 s each.
const SIGNS_MAX: usize = 12;

/// Does `work`; meanwhile another thread calls `say` now and then, until `say` fails.
pub(crate) fn with_signs<T>(
    say: impl Fn() -> io::Result<()> + Send,
    work: impl FnOnce() -> T,
) -> T {
    at_intervals(INTERVAL, say, work)
}

fn at_intervals<T>(
    interval: Duration,
    say: impl Fn() -> io::Result<()> + Send,
    work: impl FnOnce() -> T,
) -> T {
    let (over, working) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let give = move || {
            for _ in 0..SIGNS_MAX {
                let waited = working.recv_timeout(interval);
                if waited != Err(RecvTimeoutError::Timeout) || say().is_err() {
                    return;
                }
            }
        };
        // Without a thread the work is done all the same.
        let _ = thread::Builder::new().spawn_scoped(scope, give);
        let done = work();
        drop(over);
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(1);

    #[test]
    fn signs_come_until_the_work_is_done_or_takes_too_long() {
        let (said, heard) = mpsc::channel();
        let say = move || said.send(()).map_err(io::Error::other);
        let some = at_intervals(MOMENT, say, || heard.iter().take(3).count());
        assert_eq!(some, 3);
        let (said, heard) = mpsc::channel();
        let say = move || said.send(()).map_err(io::Error::other);
        let all = at_intervals(MOMENT, say, || heard.iter().count());
        assert_eq!(all, SIGNS_MAX);
    }

    #[test]
    fn nobody_is_told_twice_that_cannot_be_reached() {
        let (said, heard) = mpsc::channel();
        let say = move || {
            let _ = said.send(());
            Err(io::ErrorKind::BrokenPipe.into())
        };
        assert_eq!(at_intervals(MOMENT, say, || heard.iter().count()), 1);
    }
}
