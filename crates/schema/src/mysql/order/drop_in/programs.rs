//! Views, triggers and events, in sqldef's words. Triggers are created and changed, but never
//! dropped.

use super::Writer;
use crate::mysql::expr;
use crate::mysql::lexer::{backticked, literal};
use crate::mysql::model::{Event, Trigger, View};
use crate::mysql::order::creation;
use crate::mysql::print;
use crate::plan::Steps;
use crate::{Hazard, ObjectKind, Verb};

impl Writer<'_> {
    pub(super) fn create_programs(&mut self) {
        let (from, to) = (self.from, self.to);
        for opaque in &to.opaques {
            let is_known = from
                .opaques
                .iter()
                .any(|known| (known.kind, &known.name) == (opaque.kind, &opaque.name));
            if !is_known {
                self.push(
                    opaque.text.clone(),
                    Verb::Create,
                    opaque.kind,
                    opaque.name.clone(),
                );
            }
        }
        let views: Vec<&View> = to.views.iter().collect();
        for view in creation::views(&views) {
            self.view(view);
        }
        for trigger in &to.triggers {
            let before = from.trigger(&trigger.name.text);
            if before.is_some_and(|before| before.is_same(trigger)) {
                continue;
            }
            let name = trigger.name.text.clone();
            if before.is_some() {
                let sql = format!("DROP TRIGGER {}", backticked(&trigger.name.text));
                let lost = vec![Hazard::Drop(format!("trigger {name}"))];
                self.push_drop(sql, ObjectKind::Trigger, name.clone(), lost);
            }
            self.push(trigger.drop_in(), Verb::Create, ObjectKind::Trigger, name);
        }
        for event in &to.events {
            match from.event(&event.name.text) {
                Some(before) if before.is_same(event) => {}
                Some(_) => {
                    self.push(
                        altering(event),
                        Verb::Alter,
                        ObjectKind::Event,
                        event.name.text.clone(),
                    );
                }
                None => {
                    self.push(
                        event.source.clone(),
                        Verb::Create,
                        ObjectKind::Event,
                        event.name.text.clone(),
                    );
                }
            }
        }
    }

    fn view(&mut self, view: &View) {
        let name = view.name.text.clone();
        let Some(before) = self.from.view(&view.name.text) else {
            self.push(view.source.clone(), Verb::Create, ObjectKind::View, name);
            return;
        };
        if let Some(was) = &before.was {
            let sql = format!(
                "RENAME TABLE {} TO {}",
                backticked(&was.text),
                backticked(&name)
            );
            self.push(sql, Verb::Rename, ObjectKind::View, was.text.clone());
        }
        if before.is_same(view) {
            return;
        }
        let mut sql = "CREATE OR REPLACE".to_owned();
        if view.algorithm != "UNDEFINED" {
            sql = format!("{sql} ALGORITHM = {}", view.algorithm);
        }
        if let Some(definer) = &view.definer {
            sql = format!("{sql} DEFINER = {definer}");
        }
        if let Some(security) = &view.security {
            sql = format!("{sql} SQL SECURITY {security}");
        }
        sql = format!("{sql} VIEW {}", backticked(&view.name.text));
        if !view.columns.is_empty() {
            sql = format!("{sql} ({})", self.printer.names(&view.columns));
        }
        sql = format!("{sql} AS {}", view.body.drop_in());
        self.push(sql, Verb::Alter, ObjectKind::View, name);
    }

    pub(super) fn drop_programs(&mut self) {
        let (from, to) = (self.from, self.to);
        let mut gone: Vec<(ObjectKind, &str)> = Vec::new();
        gone.extend(
            from.events
                .iter()
                .filter(|event| to.event(&event.name.text).is_none())
                .map(|event| (ObjectKind::Event, event.name.text.as_str())),
        );
        let views: Vec<&View> = from
            .views
            .iter()
            .filter(|view| to.view(&view.name.text).is_none())
            .collect();
        gone.extend(
            creation::views(&views)
                .into_iter()
                .rev()
                .map(|view| (ObjectKind::View, view.name.text.as_str())),
        );
        for (kind, name) in gone {
            let sql = format!(
                "DROP {} {}",
                kind.word().to_ascii_uppercase(),
                backticked(name)
            );
            let lost = vec![Hazard::Drop(format!("{kind} {name}"))];
            self.push_drop(sql, kind, name.to_owned(), lost);
        }
    }
}

fn altering(event: &Event) -> String {
    let name = if event.name.is_quoted {
        backticked(&event.name.text)
    } else {
        event.name.text.clone()
    };
    let definer = event
        .definer
        .as_ref()
        .map_or_else(String::new, |definer| format!(" DEFINER = {definer}"));
    let mut sql = format!(
        "ALTER{definer} EVENT {name} ON SCHEDULE {}",
        expr::upper_text(&event.schedule.text)
    );
    if !event.bounds.text.is_empty() {
        sql = format!("{sql} {}", expr::upper_text(&event.bounds.text));
    }
    let not = if event.is_preserved { "" } else { "NOT " };
    format!(
        "{sql} ON COMPLETION {not}PRESERVE {} COMMENT {} DO {}",
        event.status,
        literal(&event.comment),
        print::drop_in_body(&event.body.text)
    )
}

impl Trigger {
    fn drop_in(&self) -> String {
        let definer = self
            .definer
            .as_ref()
            .map_or_else(String::new, |definer| format!(" DEFINER = {definer}"));
        let order = if self.order.is_empty() {
            String::new()
        } else {
            format!("{} ", self.order)
        };
        format!(
            "CREATE{definer} TRIGGER {} {} ON {} FOR EACH ROW {order}{}",
            backticked(&self.name.text),
            self.event.to_lowercase(),
            backticked(&self.table.text),
            print::drop_in_body(&self.body.text)
        )
    }
}
