//! The differences that are wanted or borne; `docs/hurl.md` gives the reason of each under its
//! title.

use super::Kind;
use super::cases::Case;
use super::verdict::Verdict;

/// A row of the list.
pub(super) struct Known {
    /// Stands in the documentation, word for word.
    pub(super) title: &'static str,
    covers: fn(&Case, Kind, &Verdict, &Verdict) -> bool,
}

const KNOWN: [Known; 0] = [];

pub(super) fn of(
    case: &Case,
    kind: Kind,
    theirs: &Verdict,
    ours: &Verdict,
) -> Option<&'static Known> {
    static ROWS: [Known; KNOWN.len()] = KNOWN;
    ROWS.iter()
        .find(|row| (row.covers)(case, kind, theirs, ours))
}

#[cfg(test)]
pub(super) fn titles() -> impl Iterator<Item = &'static str> {
    KNOWN.into_iter().map(|row| row.title)
}
