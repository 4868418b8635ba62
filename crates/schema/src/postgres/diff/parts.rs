//! Constraints and indexes of tables on both sides.

use super::Sides;
use crate::postgres::model::{Constraint, Index, Table};
use crate::postgres::name::Name;

impl<'a> Sides<'a> {
    /// Whether both say the same, or the server said so.
    pub(in crate::postgres) fn is_same_constraint(
        &self,
        from: &Constraint,
        to: &Constraint,
        table: &Name,
    ) -> bool {
        let stored = self
            .stored_table(table)
            .and_then(|stored| stored.constraints.get(&to.name));
        let same = self.same;
        same.constraint(from, to, table)
            || stored.is_some_and(|stored| same.constraint(from, stored, table))
    }

    /// Whether an existing constraint stays, perhaps renamed.
    pub(in crate::postgres) fn is_constraint_kept(
        &self,
        from: &'a Table,
        to: &'a Table,
        constraint: &Constraint,
    ) -> bool {
        to.constraints.contains(&constraint.name)
            || to.constraints.values().any(|wanted| {
                !wanted.is_named
                    && !from.constraints.contains(&wanted.name)
                    && self.is_same_constraint(constraint, wanted, &to.name)
            })
    }

    /// Whether nothing but the check of the rows is missing.
    pub(in crate::postgres) fn is_validated(
        &self,
        found: &Constraint,
        wanted: &Constraint,
        table: &Name,
    ) -> bool {
        let mut checked = found.clone();
        checked.not_valid = false;
        found.not_valid && !wanted.not_valid && self.is_same_constraint(&checked, wanted, table)
    }

    /// Whether an index says the same on both sides.
    pub(in crate::postgres) fn is_same_index(
        &self,
        from: &Index,
        to: &Index,
        stored: Option<&Index>,
        on: &Name,
    ) -> bool {
        let same = self.same;
        same.index(from, to, on) || stored.is_some_and(|stored| same.index(from, stored, on))
    }
}
