//! Short statements beside busy cores: most of the recorded time is a wait for a core.
//!
//! A lookup beside scans that keep all cores busy waits for its turn, a time slice or more at a
//! time. The simulation adds such waits by itself, so what is replayed is the statement without
//! them: the first quartile of the statement's times. Longer statements may take long by their
//! arguments, and are left as recorded.

use std::collections::HashMap;

use breakdown::Joined;
use recording::{Handled, Nanos, SqlUse, TextId};

use crate::cores;

/// Share of busy cores from which a statement waits for one. Chosen by judgement: below, one of a
/// few cores is free more often than not.
const BUSY_MIN: f64 = 0.9;
/// Fewest requests with a statement for a quartile.
const USES_MIN: usize = 20;

/// Times of short statements without waiting for a core.
#[derive(Clone, Debug, Default)]
pub(super) struct Short {
    /// Nanoseconds of an execution, by statement.
    quick: HashMap<TextId, f64>,
}

impl Short {
    /// Finds the short statements of a run on `cores` cores, of which `busy` were busy on average.
    pub(super) fn of(joined: &Joined<'_>, cores: u32, busy: f64) -> Short {
        if busy < BUSY_MIN * f64::from(cores.max(1)) {
            return Short::default();
        }
        let mut times: HashMap<TextId, Vec<u64>> = HashMap::new();
        let handled = joined.requests.iter().filter_map(|seen| seen.handled);
        for used in handled.flat_map(|handled| &handled.sql) {
            let each = own(used).0 / u64::from(used.count.max(1));
            times.entry(used.digest).or_default().push(each);
        }
        let quick = times.into_iter().filter_map(|(digest, mut times)| {
            let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
            let is_short = times.len() >= USES_MIN && mean < cores::slice(cores);
            times.sort_unstable();
            let quarter = stats::quantile(&times, 0.25).filter(|_| is_short)?;
            Some((digest, quarter as f64))
        });
        Short {
            quick: quick.collect(),
        }
    }

    /// Returns the share of a request's time in SQL without waiting for a core, 0 to 1.
    pub(super) fn share(&self, handled: &Handled) -> f64 {
        let (mut all, mut alone) = (0.0, 0.0);
        for used in &handled.sql {
            let own = own(used).0 as f64;
            let quick = self.quick.get(&used.digest);
            all += own;
            alone += quick.map_or(own, |each| own.min(each * f64::from(used.count)));
        }
        if all > 0.0 { alone / all } else { 1.0 }
    }
}

/// The time of a statement in one request without waiting for the GVL.
fn own(used: &SqlUse) -> Nanos {
    used.time - used.gvl_wait
}
