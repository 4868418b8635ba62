//! Views, routines, triggers and events.

use super::{Builder, creation};
use crate::mysql::lexer::backticked;
use crate::mysql::model::{Event, Opaque, Trigger, View};
use crate::mysql::trigger_order;
use crate::plan::Steps;
use crate::{Hazard, ObjectKind, Verb};

impl Builder<'_> {
    /// A drop of something without rows.
    fn drop_program(&mut self, kind: ObjectKind, name: &str, is_replaced: bool) -> usize {
        let sql = format!(
            "DROP {} {}",
            kind.word().to_ascii_uppercase(),
            backticked(name)
        );
        let lost = vec![match kind {
            ObjectKind::Sequence => Hazard::DataLoss(format!("the counter of {name}")),
            _ => Hazard::Drop(format!("{kind} {name}")),
        }];
        let verb = if is_replaced { Verb::Aside } else { Verb::Drop };
        self.push_with(sql, verb, kind, name.to_owned(), lost)
    }

    /// Drops triggers before the tables change. A trigger of a dropped table is dropped implicitly.
    pub(super) fn drop_triggers(&mut self) {
        for trigger in &self.from.triggers {
            let is_gone = self.to.trigger(&trigger.name.text).is_none();
            if is_gone && self.to.table(&trigger.table.text).is_some() {
                let name = trigger.name.text.clone();
                self.drop_program(ObjectKind::Trigger, &name, false);
            }
        }
    }

    /// Drops views whose names are needed by tables: both share one name space.
    pub(super) fn drop_views_in_the_way(&mut self) {
        for view in &self.from.views {
            if self.to.table(&view.name.text).is_some() && self.to.view(&view.name.text).is_none() {
                let name = view.name.text.clone();
                self.drop_program(ObjectKind::View, &name, false);
            }
        }
    }

    /// Creates routines, packages and sequences, as far as `asked` for. The body of a package
    /// follows its head.
    pub(super) fn create_opaques(&mut self, asked: &dyn Fn(&Opaque) -> bool) {
        let asked = self.to.opaques.iter().filter(|opaque| asked(opaque));
        let (bodies, others): (Vec<&Opaque>, Vec<&Opaque>) =
            asked.partition(|opaque| opaque.kind == ObjectKind::PackageBody);
        for opaque in others.into_iter().chain(bodies) {
            let before = self.from.opaque(opaque);
            let went_with_head =
                opaque.kind == ObjectKind::PackageBody && self.is_head_replaced(opaque);
            match before.filter(|_| !went_with_head) {
                Some(before) if before.norm == opaque.norm => continue,
                Some(_) => {
                    self.drop_program(opaque.kind, &opaque.name, true);
                }
                None => {}
            }
            self.push(
                opaque.text.clone(),
                Verb::Create,
                opaque.kind,
                opaque.name.clone(),
            );
        }
    }

    /// Whether the head of a package's body is dropped, and so the body.
    fn is_head_replaced(&self, body: &Opaque) -> bool {
        let head = |schema: &'_ crate::mysql::Schema| {
            let mut opaques = schema.opaques.iter();
            let found = opaques
                .find(|known| (known.kind, &known.name) == (ObjectKind::Package, &body.name));
            found.map(|head| head.norm.clone())
        };
        let before = head(self.from);
        before.is_some() && before != head(self.to)
    }

    pub(super) fn views(&mut self) {
        let views: Vec<&View> = self.to.views.iter().collect();
        for view in creation::views(&views) {
            let name = &view.name.text;
            let Some(before) = self.from.view(name) else {
                let created = self.push(
                    view.source.clone(),
                    Verb::Create,
                    ObjectKind::View,
                    name.clone(),
                );
                let in_the_way = self.statements.iter().position(|statement| {
                    matches!(statement.verb, Verb::Drop | Verb::Aside)
                        && statement.object.kind == ObjectKind::Table
                        && statement.object.name == *name
                });
                self.statements[created].needs.extend(in_the_way);
                self.need_tables_of(created, view);
                continue;
            };
            if let Some(was) = &before.was {
                let sql = format!(
                    "RENAME TABLE {} TO {}",
                    backticked(&was.text),
                    backticked(name)
                );
                self.push(sql, Verb::Rename, ObjectKind::View, was.text.clone());
            }
            if !before.is_same(view) {
                let at = self.push(
                    replacing(&view.source),
                    Verb::Alter,
                    ObjectKind::View,
                    name.clone(),
                );
                self.need_tables_of(at, view);
            }
        }
    }

    /// Declares the dependencies of a view: of all names in the query, only tables and views count.
    fn need_tables_of(&mut self, at: usize, view: &View) {
        let names: Vec<&str> = view.tables.iter().map(String::as_str).collect();
        let needed = self.needs.of_tables(&self.statements[..at], &names);
        self.statements[at].needs.extend(needed);
    }

    pub(super) fn triggers(&mut self) {
        let misplaced = trigger_order::misplaced(&self.from.triggers, &self.to.triggers);
        for trigger in &self.to.triggers {
            let is_misplaced = misplaced.contains(&trigger.name.text.as_str());
            let needed = self
                .needs
                .of_tables(&self.statements, &[&trigger.table.text]);
            match self.from.trigger(&trigger.name.text) {
                Some(before) if before.is_same(trigger) && !is_misplaced => continue,
                Some(_) => {
                    let dropped = self.drop_program(ObjectKind::Trigger, &trigger.name.text, true);
                    self.statements[dropped].needs.extend(&needed);
                }
                None => {}
            }
            let name = trigger.name.text.clone();
            let created = self.push(
                trigger.source.clone(),
                Verb::Create,
                ObjectKind::Trigger,
                name,
            );
            self.statements[created].needs.extend(needed);
        }
    }

    pub(super) fn events(&mut self) {
        for event in &self.to.events {
            match self.from.event(&event.name.text) {
                Some(before) if before.is_same(event) => continue,
                Some(_) => {
                    self.drop_program(ObjectKind::Event, &event.name.text, true);
                }
                None => {}
            }
            self.push(
                event.source.clone(),
                Verb::Create,
                ObjectKind::Event,
                event.name.text.clone(),
            );
        }
    }

    pub(super) fn drop_rest(&mut self) {
        let (from, to) = (self.from, self.to);
        let views: Vec<&View> = from
            .views
            .iter()
            .filter(|view| to.view(&view.name.text).is_none())
            .collect();
        for view in creation::views(&views).into_iter().rev() {
            if to.table(&view.name.text).is_none() {
                self.drop_program(ObjectKind::View, &view.name.text, false);
            }
        }
        for event in from
            .events
            .iter()
            .filter(|event| to.event(&event.name.text).is_none())
        {
            self.drop_program(ObjectKind::Event, &event.name.text, false);
        }
        let gone = from.opaques.iter();
        for opaque in gone.filter(|opaque| to.opaque(opaque).is_none()) {
            // The body of a package goes with its head.
            if opaque.kind != ObjectKind::PackageBody || !self.is_head_replaced(opaque) {
                self.drop_program(opaque.kind, &opaque.name, false);
            }
        }
    }
}

/// The statement with OR REPLACE.
fn replacing(source: &str) -> String {
    let rest = source.get("CREATE".len()..).unwrap_or_default();
    let is_replacing = rest
        .trim_start()
        .get(..2)
        .is_some_and(|word| word.eq_ignore_ascii_case("or"));
    match is_replacing {
        true => source.to_owned(),
        false => format!("CREATE OR REPLACE{rest}"),
    }
}

impl crate::mysql::Schema {
    pub(in crate::mysql) fn trigger(&self, name: &str) -> Option<&Trigger> {
        self.triggers
            .iter()
            .find(|trigger| trigger.name.text == name)
    }

    pub(in crate::mysql) fn event(&self, name: &str) -> Option<&Event> {
        self.events.iter().find(|event| event.name.text == name)
    }

    fn opaque(&self, like: &Opaque) -> Option<&Opaque> {
        self.opaques
            .iter()
            .find(|opaque| (opaque.kind, &opaque.name) == (like.kind, &like.name))
    }
}
