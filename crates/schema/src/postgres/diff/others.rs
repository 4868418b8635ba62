//! Sequences, views and objects compared by words.

use super::{Sides, ViewStep};
use crate::postgres::expr;
use crate::postgres::kept::{self, Key};
use crate::postgres::model::{Kept, Sequence, View};

impl<'a> Sides<'a> {
    pub(in crate::postgres) fn sequence_differs(&self, to: &Sequence) -> bool {
        self.from
            .sequences
            .get(&to.name)
            .is_none_or(|from| from.options != to.options)
    }

    /// Whether the object has to be made or changed.
    pub(in crate::postgres) fn kept_differs(&self, key: &Key, to: &Kept) -> bool {
        let Some(from) = self.from.kept.get(key) else {
            return true;
        };
        let stored = self.stored.and_then(|stored| stored.kept.get(key));
        // What a copy is of is known to the server only.
        let is_unknown = kept::has_copy(&to.norm);
        let is_same = from.norm == to.norm || stored.is_some_and(|it| from.norm == it.norm);
        !is_unknown && !is_same
    }

    fn is_same_view(&self, from: &View, to: &View) -> bool {
        let stored = self.stored.and_then(|stored| stored.views.get(&to.name));
        self.same.view(from, to) || stored.is_some_and(|stored| self.same.view(from, stored))
    }

    /// Whether the new query returns the old columns, perhaps followed by more.
    fn can_replace(&self, from: &View, to: &View) -> bool {
        if from.materialized || to.materialized || from.columns != to.columns {
            return false;
        }
        let targets = |view: &View| expr::targets(&view.query, &self.to.default_schema);
        let stored = self.stored.and_then(|stored| stored.views.get(&to.name));
        match (targets(from), targets(stored.unwrap_or(to))) {
            (Some(old), Some(new)) => new.starts_with(&old),
            _ => false,
        }
    }

    /// What becomes of a wanted view; `None` for an unchanged one.
    pub(super) fn view_step(&self, to: &View) -> Option<ViewStep> {
        match self.from.views.get(&to.name) {
            None => Some(ViewStep::Create),
            Some(from) if self.is_same_view(from, to) => None,
            Some(from) if self.can_replace(from, to) => Some(ViewStep::Replace),
            Some(_) => Some(ViewStep::Recreate),
        }
    }
}
