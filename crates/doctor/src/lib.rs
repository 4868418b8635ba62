//! Finds what slows down or falsifies measurements on a machine, a container, a Ruby or a database
//! server: facts in, verdicts out.
//!
//! [`snapshot`] has the facts as types, which the crate `probe` reads and measures, and each file
//! of [`checks`] looks at a snapshot and returns what it found. Start reading at [`diagnose`].
//!
//! Invariant: does no I/O, so each check is tested with a snapshot made by hand.

mod boot;
pub mod check;
pub mod checks;
pub mod compare;
pub mod page;
pub mod snapshot;
pub mod v1;

pub use boot::known_parameters;
pub use check::{Area, Check, Found, Level, Look, Verdict};
pub use snapshot::Snapshot;

/// Every verdict on a snapshot within the areas (all when there are none), the gravest first.
pub fn diagnose(snapshot: &Snapshot, areas: &[Area]) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = checks::all()
        .filter(|check| areas.is_empty() || areas.contains(&check.area))
        .flat_map(|check| {
            let found = check.found(snapshot).into_iter();
            found.map(move |found| Verdict { check, found })
        })
        .collect();
    // Within a level the one whose cost is known stands first, then the order of the checks.
    verdicts.sort_by(|a, b| {
        let cost = |verdict: &Verdict| verdict.found.cost.weight();
        let level = b.found.level.cmp(&a.found.level);
        level.then(cost(b).total_cmp(&cost(a)))
    });
    verdicts
}
