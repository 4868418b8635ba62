//! Changes with losses or conversions of values: nothing happens without permission.

use crate::bench::{self, Bench};

/// A table with rows, and the wanted schema.
pub struct Change {
    /// Statements creating the table `t` with rows.
    pub made: &'static [&'static str],
    pub wanted: &'static str,
    /// What has to be the same afterwards.
    pub asked: &'static str,
}

/// Applies what is not held back, and asks before and after.
pub fn check(bench: &dyn Bench, changes: &[Change]) {
    for change in changes {
        let mut scratch = bench.empty();
        bench::run(&mut *scratch, change.made.iter().copied()).unwrap();
        let before = scratch.database().query(change.asked).unwrap();
        let approached = bench::approach(&mut *scratch, change.wanted);
        let after = scratch.database().query(change.asked);
        assert_eq!(after.as_ref().ok(), Some(&before), "{}", change.wanted);
        approached.unwrap_or_else(|error| panic!("{}\n{error}", change.wanted));
    }
}
