//! Checks on renamed columns.

use super::{TableDiff, has_same_name};
use crate::mysql::model::{Check, Column};
use crate::mysql::renames::has_word;

impl TableDiff<'_> {
    /// Recreates the checks on renamed columns, which MySQL does not let go otherwise.
    pub(in crate::mysql) fn recreate_checks(&mut self) {
        let (from, to) = (self.from, self.to);
        let checks = from.checks.iter();
        let renamed: Vec<&Check> = checks.filter(|check| self.names_renamed(check)).collect();
        for check in renamed {
            let mut dropped = self.dropped_checks.iter();
            if dropped.any(|gone| std::ptr::eq(*gone, check)) {
                continue;
            }
            let heir = to.checks.iter().find(|heir| {
                let mut added = self.added_checks.iter();
                has_same_name(&check.name, &heir.name)
                    && check.expr == heir.expr
                    && check.is_enforced == heir.is_enforced
                    && !added.any(|known| std::ptr::eq(*known, *heir))
            });
            if let Some(heir) = heir {
                self.dropped_checks.push(check);
                self.added_checks.push(heir);
            }
        }
    }

    /// Whether a check, of before or after, is on a column with a new name.
    pub(in crate::mysql) fn names_renamed(&self, check: &Check) -> bool {
        let is_named = |column: &Column| has_word(&check.expr.norm, &column.name.text);
        let mut columns = self.from.columns.iter();
        columns.any(|column| column.was.is_some() && is_named(column))
    }
}
