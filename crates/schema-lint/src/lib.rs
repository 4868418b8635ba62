//! What is likely to hurt about a schema: one file a rule under `rules`, over the outline of a
//! schema and what a server counts.
//!
//! Start at [`check`]. Pure: sizes and uses are given ([`Usage`]), none is asked for here.

mod rules;
mod subject;
mod usage;

use schema::ObjectKind;

pub use rules::{RULES, Rule};
pub use subject::Subject;
pub use usage::{IndexUse, TableUse, Usage};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; often meant so.
    Note,
    /// Likely to hurt.
    Warning,
}

impl Severity {
    /// `note` or `warning`, as SARIF names the levels.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
        }
    }
}

/// A problem found by a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lint {
    /// The rule's name.
    pub rule: &'static str,
    /// Severity in the present context.
    pub severity: Severity,
    /// Kind of the object: a table, column, index or type.
    pub kind: ObjectKind,
    /// The table, or the type.
    pub owner: String,
    /// The object's full name, such as `users.nick`.
    pub name: String,
    /// The problem and the harm, in one sentence.
    pub message: String,
    /// What to do.
    pub advice: String,
}

/// Runs all rules and returns the problems, in the order of the rules, then of the schema.
pub fn check(subject: &Subject<'_>) -> Vec<Lint> {
    RULES
        .iter()
        .flat_map(|rule| (rule.check)(subject))
        .collect()
}
