//! When requests of an open load are due. A new pace is a new pacer; nothing else changes.

use recording::Nanos;

/// A schedule: request `tick` is due that long after the start. Never falls as `tick` grows.
pub(crate) trait Pacer {
    fn due_after_start(&self, tick: u64) -> Nanos;
}

/// So many requests a second, evenly. Counted from the start each time, so that no error adds up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant {
    pub(crate) per_second: f64,
}

impl Pacer for Constant {
    fn due_after_start(&self, tick: u64) -> Nanos {
        Nanos((tick as f64 * 1e9 / self.per_second) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_do_not_drift() {
        let pacer = Constant { per_second: 3.0 };
        assert_eq!(pacer.due_after_start(0), Nanos(0));
        assert_eq!(pacer.due_after_start(1), Nanos(333_333_333));
        assert_eq!(
            pacer.due_after_start(3_000_000),
            Nanos(1_000_000 * 1_000_000_000)
        );
    }
}
