//! What happens to the hosts of a window, for who waits until all have begun.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Something for which others wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The host has begun to record.
    Begun,
    /// The host has ended, or is lost; each host once.
    Ended {
        /// Whether the host had begun.
        has_begun: bool,
    },
}

/// Hosts of which something was heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beginning {
    /// Hosts begun, with the ones ended since.
    pub begun: usize,
    /// Ended hosts.
    pub ended: usize,
}

impl Beginning {
    /// Waits until each of `hosts` has begun or is lost, or until `is_over`, at which it looks at
    /// intervals.
    pub fn wait(
        hosts: usize,
        happened: &Receiver<Moment>,
        interval: Duration,
        is_over: impl Fn() -> bool,
    ) -> Beginning {
        let (mut all, mut lost) = (Beginning::default(), 0);
        while all.begun + lost < hosts && !is_over() {
            match happened.recv_timeout(interval) {
                Ok(Moment::Begun) => all.begun += 1,
                Ok(Moment::Ended { has_begun }) => {
                    all.ended += 1;
                    lost += usize::from(!has_begun);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => all.ended = hosts,
            }
            if all.ended == hosts {
                break;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const MOMENT: Duration = Duration::from_millis(1);

    #[test]
    fn a_host_that_began_and_was_lost_is_not_taken_for_two() {
        let (moments, happened) = mpsc::channel();
        let all = [
            Moment::Begun,
            Moment::Ended { has_begun: true },
            Moment::Begun,
            Moment::Ended { has_begun: false },
        ];
        for moment in all {
            moments.send(moment).expect("taken");
        }
        let found = Beginning::wait(3, &happened, MOMENT, || false);
        assert_eq!(found, Beginning { begun: 2, ended: 2 });
        let nothing = Beginning::wait(1, &happened, MOMENT, || true);
        assert_eq!(nothing, Beginning::default());
        drop(moments);
        let gone = Beginning::wait(3, &happened, MOMENT, || false);
        assert_eq!(gone, Beginning { begun: 0, ended: 3 });
    }
}
