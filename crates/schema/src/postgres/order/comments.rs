//! Comments.

use super::{Builder, Part};
use crate::plan::Steps;
use crate::postgres::listed::Listed;
use crate::postgres::model::{Domain, Index, Meta, Table, Trigger, TypeKind, UserType};
use crate::postgres::name::{Name, literal};
use crate::{ObjectKind, Verb};

impl<'a> Builder<'a> {
    pub(super) fn comments(&mut self) {
        let (from, to) = (self.from, self.to);
        for (name, schema) in to.schemas.iter() {
            let before = from.schemas.get(name).map(|schema| &schema.meta);
            let target = format!("SCHEMA {}", self.printer.ident(name));
            self.comment(&target, before, &schema.meta, name.clone());
        }
        for (name, extension) in to.extensions.iter() {
            // Every extension brings a comment of its own, which no text repeats.
            if extension.meta.comment.is_some() {
                let before = from.extensions.get(name).map(|extension| &extension.meta);
                let is_known = before.is_some();
                if !is_known {
                    let target = format!("EXTENSION {}", self.printer.ident(name));
                    self.comment(&target, None, &extension.meta, name.clone());
                }
            }
        }
        for found in to.types.values() {
            let word = if matches!(found.kind, TypeKind::Enum(_)) {
                "TYPE"
            } else {
                "DOMAIN"
            };
            let before = from
                .types
                .get(&found.name)
                .filter(|_| !self.sides.is_replaced_type(&found.name));
            let target = format!("{word} {}", self.printer.name(&found.name));
            let shown = self.shown(&found.name);
            self.comment(&target, before.map(|found| &found.meta), &found.meta, shown);
            if let TypeKind::Domain(domain) = &found.kind {
                self.check_comments(&found.name, before, domain);
            }
        }
        for sequence in to.sequences.values() {
            let before = from
                .sequences
                .get(&sequence.name)
                .map(|sequence| &sequence.meta);
            let target = format!("SEQUENCE {}", self.printer.name(&sequence.name));
            let shown = self.shown(&sequence.name);
            self.comment(&target, before, &sequence.meta, shown);
        }
        for table in to.tables.values() {
            self.table_comments(table);
        }
        for table in to.tables.values() {
            let before = self.before(table);
            for index in table.indexes.values() {
                let found = before.and_then(|before| before.indexes.get(&index.name));
                self.index_comment(&table.name, found, index);
            }
        }
        self.view_comments();
        self.kept_comments();
        self.function_comments();
    }

    fn check_comments(&mut self, name: &Name, before: Option<&'a UserType>, to: &'a Domain) {
        let from = before.and_then(|before| match &before.kind {
            TypeKind::Domain(domain) => Some(domain),
            TypeKind::Enum(_) => None,
        });
        let is_new = from.map_or_else(Vec::new, |from| self.sides.domain_checks(name, from, to).1);
        for check in &to.checks {
            let same = from
                .filter(|_| !is_new.iter().any(|new| new.name == check.name))
                .and_then(|from| from.checks.iter().find(|known| known.name == check.name));
            if has_none(same.map(|same| &same.meta), &check.meta) {
                continue;
            }
            let target = format!(
                "CONSTRAINT {} ON DOMAIN {}",
                self.printer.ident(&check.name),
                self.printer.name(name)
            );
            let shown = self.shown_part(name, &check.name);
            self.comment(&target, same.map(|same| &same.meta), &check.meta, shown);
        }
    }

    fn function_comments(&mut self) {
        let (from, to) = (self.from, self.to);
        for (key, function) in to.functions.iter() {
            let before = from
                .functions
                .get(key)
                .filter(|before| self.sides.same.same_call(before, function));
            let target = format!(
                "{} {}",
                function.word(),
                self.printer.function_name(function)
            );
            let shown = self.shown(&key.0);
            self.comment(
                &target,
                before.map(|before| &before.meta),
                &function.meta,
                shown,
            );
        }
    }

    fn kept_comments(&mut self) {
        let (from, to) = (self.from, self.to);
        for (key, kept) in to.kept.iter() {
            let is_fresh = self.fresh.contains(&Part::Kept(key.clone()));
            let before = from.kept.get(key).filter(|_| !is_fresh);
            let target = format!("{} {}", kept.kind.words, kept.name);
            let shown = self.shown_kept(kept);
            self.comment(&target, before.map(|kept| &kept.meta), &kept.meta, shown);
        }
    }

    fn comment(&mut self, target: &str, before: Option<&Meta>, wanted: &Meta, shown: String) {
        let had = before.and_then(|before| before.comment.as_ref());
        if had == wanted.comment.as_ref() {
            return;
        }
        let text = wanted
            .comment
            .as_ref()
            .map_or_else(|| "NULL".to_owned(), |text| literal(text));
        self.push(
            format!("COMMENT ON {target} IS {text}"),
            Verb::Comment,
            ObjectKind::Comment,
            shown,
        );
    }

    fn table_comments(&mut self, table: &'a Table) {
        let before = self.before(table);
        let name = self.printer.name(&table.name);
        let shown = self.shown(&table.name);
        self.comment(
            &format!("TABLE {name}"),
            before.map(|before| &before.meta),
            &table.meta,
            shown,
        );
        for column in table.columns.values() {
            let found = before.and_then(|before| before.columns.get(&column.name));
            if has_none(found.map(|found| &found.meta), &column.meta) {
                continue;
            }
            let found = found.filter(|_| {
                !self
                    .fresh
                    .contains(&Part::Column(table.name.clone(), column.name.clone()))
            });
            let target = format!("COLUMN {name}.{}", self.printer.ident(&column.name));
            let shown = self.shown_part(&table.name, &column.name);
            self.comment(&target, found.map(|found| &found.meta), &column.meta, shown);
        }
        for constraint in table.constraints.values() {
            let found = before.and_then(|before| before.constraints.get(&constraint.name));
            if has_none(found.map(|found| &found.meta), &constraint.meta) {
                continue;
            }
            let part = Part::Constraint(table.name.clone(), constraint.name.clone());
            let found = found.filter(|_| !self.fresh.contains(&part));
            let target = format!(
                "CONSTRAINT {} ON {name}",
                self.printer.ident(&constraint.name)
            );
            let shown = self.shown_part(&table.name, &constraint.name);
            self.comment(
                &target,
                found.map(|found| &found.meta),
                &constraint.meta,
                shown,
            );
        }
        let had = before.map(|before| &before.triggers);
        self.trigger_comments(&table.name, had, &table.triggers);
        for policy in table.policies.values() {
            let part = Part::Policy(table.name.clone(), policy.name.clone());
            let found = before.and_then(|before| before.policies.get(&policy.name));
            let found = found.filter(|_| !self.fresh.contains(&part));
            let target = format!("POLICY {} ON {name}", self.printer.ident(&policy.name));
            let shown = self.shown_part(&table.name, &policy.name);
            self.comment(&target, found.map(|found| &found.meta), &policy.meta, shown);
        }
    }

    fn index_comment(&mut self, on: &Name, found: Option<&Index>, index: &Index) {
        if has_none(found.map(|found| &found.meta), &index.meta) {
            return;
        }
        let part = Part::Index(on.clone(), index.name.clone());
        let found = found.filter(|_| !self.fresh.contains(&part));
        let target = format!("INDEX {}", self.printer.beside(on, &index.name));
        self.comment(
            &target,
            found.map(|found| &found.meta),
            &index.meta,
            index.name.clone(),
        );
    }

    fn view_comments(&mut self) {
        let (from, to) = (self.from, self.to);
        for view in to.views.values() {
            let is_fresh = self.fresh.contains(&Part::View(view.name.clone()));
            let before = from.views.get(&view.name).filter(|_| !is_fresh);
            let word = if view.materialized {
                "MATERIALIZED VIEW"
            } else {
                "VIEW"
            };
            let name = self.printer.name(&view.name);
            let shown = self.shown(&view.name);
            self.comment(
                &format!("{word} {name}"),
                before.map(|before| &before.meta),
                &view.meta,
                shown,
            );
            let mut columns: Vec<&String> = view.column_comments.keys().collect();
            let old = before
                .into_iter()
                .flat_map(|before| before.column_comments.keys());
            columns.extend(old.filter(|column| !view.column_comments.contains_key(*column)));
            for column in columns {
                let meta = |comment: Option<&String>| Meta {
                    comment: comment.cloned(),
                    ..Meta::default()
                };
                let had = meta(before.and_then(|before| before.column_comments.get(column)));
                let wanted = meta(view.column_comments.get(column));
                let target = format!("COLUMN {name}.{}", self.printer.ident(column));
                let shown = self.shown_part(&view.name, column);
                self.comment(&target, Some(&had), &wanted, shown);
            }
            for index in view.indexes.values() {
                let found = before.and_then(|before| before.indexes.get(&index.name));
                self.index_comment(&view.name, found, index);
            }
            let had = before.map(|before| &before.triggers);
            self.trigger_comments(&view.name, had, &view.triggers);
        }
        for (on, triggers) in to.foreign_triggers.iter() {
            self.trigger_comments(on, self.from.foreign_triggers.get(on), triggers);
        }
    }

    fn trigger_comments(
        &mut self,
        on: &Name,
        had: Option<&Listed<String, Trigger>>,
        wanted: &Listed<String, Trigger>,
    ) {
        for trigger in wanted.values() {
            let part = Part::Trigger(on.clone(), trigger.name.clone());
            let found = had.and_then(|had| had.get(&trigger.name));
            let found = found.filter(|_| !self.fresh.contains(&part));
            let (name, on_name) = (self.printer.ident(&trigger.name), self.printer.name(on));
            let target = format!("TRIGGER {name} ON {on_name}");
            let shown = self.shown_part(on, &trigger.name);
            let had = found.map(|found| &found.meta);
            self.comment(&target, had, &trigger.meta, shown);
        }
    }
}

/// Whether there was no comment and is none: of most objects, which need not even be named then.
fn has_none(before: Option<&Meta>, wanted: &Meta) -> bool {
    wanted.comment.is_none() && before.is_none_or(|before| before.comment.is_none())
}
