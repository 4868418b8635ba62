//! Tables of composite types.

use super::{Builder, Part};
use crate::postgres::model::{Kept, Table};
use crate::{Statement, Verb};

impl Builder<'_> {
    /// Frees typed tables before the table or the type changes. The server changes neither of a
    /// bound pair; [`Builder::bind_typed`] binds both when both are as wanted.
    pub(super) fn clear_typed(&mut self) {
        let (from, to) = (self.from, self.to);
        for (key, kept) in from.kept.iter().filter(|(key, _)| key.0 == "typed-table") {
            let Some(on) = &kept.on else { continue };
            let tables = from.tables.get(on).zip(to.tables.get(on));
            let Some((before, after)) = tables else {
                continue;
            };
            let of = ("composite-type", type_of(kept).to_owned());
            let is_other_type = match to.kept.get(&of) {
                Some(wanted) => self.kept_differs(&of, wanted),
                None => true,
            };
            let wanted = to.kept.get(key);
            let is_bound = wanted.is_some_and(|wanted| !self.kept_differs(key, wanted));
            if is_bound && !is_other_type && !self.has_other_columns(before, after) {
                continue;
            }
            let shown = self.shown_kept(kept);
            let sql = kept.undo.clone().unwrap_or_default();
            let verb = match wanted {
                Some(_) => Verb::Aside,
                None => Verb::Alter,
            };
            self.push(sql, verb, kept.kind.kind, shown);
            self.gone.insert(Part::Kept(key.clone()));
        }
    }

    /// Binds tables to types when both are as wanted: all or nothing.
    pub(super) fn bind_typed(&mut self) {
        let to = self.to;
        let prefix = format!("{}.", to.default_schema);
        for (key, kept) in to.kept.iter().filter(|(_, kept)| kept.is_binding()) {
            if !self.goes_with_another(key, kept) && !self.kept_differs(key, kept) {
                continue;
            }
            let of = type_of(kept);
            let of = of.strip_prefix(&prefix).unwrap_or(of);
            let table = self.shown_kept(kept);
            let is_part = |statement: &Statement| {
                let (kind, name) = (statement.object.kind, statement.object.name.as_str());
                let owner = name.rsplit_once('.').map_or("", |(owner, _)| owner);
                kind == "column" && owner == table || kind == "attribute" && owner == of
            };
            let statements = self.statements.iter().enumerate();
            let parts = statements.filter(|(_, each)| is_part(each));
            let parts: Vec<usize> = parts.map(|(at, _)| at).collect();
            let is_freed =
                |each: &Statement| each.object.kind == kept.kind.kind && each.object.name == table;
            let freed = self.statements.iter().position(is_freed);
            self.keep(key, kept);
            let bound = self.statements.len() - 1;
            if let Some(freed) = freed {
                for part in &parts {
                    self.statements[*part].needs.push(freed);
                }
                self.statements[freed].needs.push(bound);
            }
            self.statements[bound].needs.extend(parts);
        }
    }

    fn has_other_columns(&self, before: &Table, after: &Table) -> bool {
        !before.columns.keys().eq(after.columns.keys())
            || after.columns.values().any(|column| {
                let had = before.columns.get(&column.name);
                had.is_some_and(|had| self.is_retyped(had, column))
            })
    }
}

/// The type that a bond names.
fn type_of(bond: &Kept) -> &str {
    bond.sql.rsplit_once(" OF ").map_or("", |(_, of)| of)
}
