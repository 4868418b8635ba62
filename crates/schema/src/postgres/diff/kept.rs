//! Objects compared by words.

use super::{Builder, Part};
use crate::postgres::hazards;
use crate::postgres::kept::{Key, Stage};
use crate::postgres::model::Kept;
use crate::{Hazard, Verb};

impl Builder<'_> {
    pub(super) fn kept_differs(&self, key: &Key, to: &Kept) -> bool {
        let Some(from) = self.from.kept.get(key) else {
            return true;
        };
        let stored = self.stored.and_then(|stored| stored.kept.get(key));
        from.norm != to.norm && stored.is_none_or(|stored| from.norm != stored.norm)
    }

    /// Creates or changes the objects of a stage.
    pub(super) fn kept(&mut self, stage: Stage) {
        let to = self.to;
        for (key, kept) in to.kept.iter().filter(|(_, kept)| kept.kind.stage == stage) {
            if self.kept_differs(key, kept) {
                self.keep(key, kept);
            }
        }
    }

    pub(super) fn keep(&mut self, key: &Key, to: &Kept) {
        let mut needs = None;
        if let Some(before) = self.from.kept.get(key) {
            // What others may be made of does not go without a yes, even if it comes again.
            let is_free = before.kind.stage == Stage::Late;
            let verb = if is_free { Verb::Aside } else { Verb::Drop };
            needs = Some(self.drop_kept(before, verb));
        }
        let shown = self.shown_kept(to);
        let at = self.push(to.sql.clone(), Verb::Create, to.kind.kind, shown);
        self.statements[at].needs.extend(needs);
        self.fresh.insert(Part::Kept(key.clone()));
    }

    fn drop_kept(&mut self, kept: &Kept, verb: Verb) -> usize {
        let sql = format!("DROP {} {}", kept.kind.words, kept.name);
        let shown = self.shown_kept(kept);
        let hazards = vec![
            Hazard::Drop(format!("{} {shown}", kept.kind.words.to_lowercase())),
            hazards::ACCESS_EXCLUSIVE,
        ];
        self.push_with(sql, verb, kept.kind.kind, shown, hazards)
    }

    /// Drops the objects of a stage, last first.
    pub(super) fn dropped_kept(&mut self, stage: Stage) {
        let (from, to) = (self.from, self.to);
        let all: Vec<(&Key, &Kept)> = from.kept.iter().collect();
        for (key, kept) in all.into_iter().rev() {
            // A rule goes with its table.
            let table = kept.kind.kind == "rule";
            let is_there = !table || self.to_has_relation(kept);
            if kept.kind.stage == stage && !to.kept.contains(key) && is_there {
                self.drop_kept(kept, Verb::Drop);
            }
        }
    }

    fn to_has_relation(&self, kept: &Kept) -> bool {
        let (to, name) = (self.to, kept.name.rsplit(" ON ").next());
        let mut names = to.tables.keys().chain(to.views.keys());
        names.any(|table| Some(table.quoted().as_str()) == name)
    }

    /// The name as written by people.
    pub(super) fn shown_kept(&self, kept: &Kept) -> String {
        let prefix = format!("{}.", self.to.default_schema);
        match kept.schema.as_ref() == Some(&self.to.default_schema) {
            true => kept.name.replacen(&prefix, "", 1),
            false => kept.name.clone(),
        }
    }
}
