//! Objects compared by words.

use super::{Builder, Part};
use crate::postgres::hazards;
use crate::postgres::kept::{Key, Stage};
use crate::postgres::model::Kept;
use crate::postgres::name::Name;
use crate::postgres::split;
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
            if self.goes_with_another(key, kept) || self.kept_differs(key, kept) {
                self.keep(key, kept);
            }
        }
    }

    /// Whether an existing object was dropped before: on its way, or with its view or table.
    fn goes_with_another(&self, key: &Key, kept: &Kept) -> bool {
        if self.is_gone(&Part::Kept(key.clone())) {
            return true;
        }
        if !self.from.kept.contains(key) {
            return false;
        }
        match kept.kind.kind {
            "rule" => {
                let on = kept.name.rsplit(" ON ").next();
                let is_on = |name: &Name| Some(name.quoted().as_str()) == on;
                let is_gone_view = |part: &Part| matches!(part, Part::View(name) if is_on(name));
                self.created.iter().any(is_on) || self.gone.iter().any(is_gone_view)
            }
            "statistics" => {
                let names = split::names(&kept.sql);
                self.created.iter().any(|table| names.contains(&table.name))
            }
            _ => false,
        }
    }

    /// Drops rules or statistics that use a column of the table about to change; `mentions` finds
    /// such a column.
    pub(super) fn clear_kept(&mut self, kind: &str, table: &Name, mentions: &dyn Fn(&str) -> bool) {
        for (key, kept) in self.from.kept.iter() {
            let part = Part::Kept(key.clone());
            if kept.kind.kind == kind
                && mentions(&kept.sql)
                && split::names(&kept.sql).contains(&table.name)
                && !self.goes_with_another(key, kept)
            {
                let is_wanted = self.to.kept.contains(key);
                self.drop_kept(kept, if is_wanted { Verb::Aside } else { Verb::Drop });
                self.gone.insert(part);
            }
        }
    }

    /// Drops statistics that would go with one of the columns.
    pub(super) fn clear_statistics(&mut self, table: &Name, columns: &[&str]) {
        let mentions = |text: &str| {
            let names = split::names(text);
            names.iter().any(|name| columns.contains(&name.as_str()))
        };
        self.clear_kept("statistics", table, &mentions);
    }

    pub(super) fn keep(&mut self, key: &Key, to: &Kept) {
        let mut needs = None;
        let before = self.from.kept.get(key);
        if let Some(before) = before.filter(|_| !self.goes_with_another(key, to)) {
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
        let lock = match kept.kind.kind {
            "statistics" => hazards::SHARE_UPDATE_EXCLUSIVE,
            _ => hazards::ACCESS_EXCLUSIVE,
        };
        let hazards = vec![
            Hazard::Drop(format!("{} {shown}", kept.kind.words.to_lowercase())),
            lock,
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
            let is_gone = self.goes_with_another(key, kept);
            if kept.kind.stage == stage && !to.kept.contains(key) && is_there && !is_gone {
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
