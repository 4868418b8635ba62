//! All rules, in display order.

mod duplicate_index;
mod enum_hazard;
mod foreign_key_type;
mod foreign_key_without_index;
mod missing_primary_key;
mod small_primary_key;
mod timestamp_without_zone;
mod unused_index;

use crate::{Lint, Subject};

/// A rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Name in flags and reports.
    pub name: &'static str,
    /// Description of the problem, in one sentence.
    pub about: &'static str,
    /// Function searching a schema for the problem.
    pub check: fn(&Subject<'_>) -> Vec<Lint>,
}

/// All rules.
pub const RULES: [Rule; 8] = [
    missing_primary_key::RULE,
    foreign_key_without_index::RULE,
    foreign_key_type::RULE,
    duplicate_index::RULE,
    unused_index::RULE,
    timestamp_without_zone::RULE,
    enum_hazard::RULE,
    small_primary_key::RULE,
];
