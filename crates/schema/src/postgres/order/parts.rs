//! Parts of tables: row level security, policies, triggers, and the columns by which replication
//! identifies rows.

use super::{Builder, Part};
use crate::plan::Steps;
use crate::postgres::hazards;
use crate::postgres::listed::Listed;
use crate::postgres::model::{Policy, Schema, Table, Trigger};
use crate::postgres::name::{Name, fold};
use crate::{Hazard, ObjectKind, Verb};

impl<'a> Builder<'a> {
    pub(super) fn parts(&mut self) {
        let to = self.to;
        for table in to.tables.values() {
            let before = self.before(table);
            self.row_security(before, table);
            for policy in table.policies.values() {
                self.policy(before, table, policy);
            }
        }
        for table in to.tables.values() {
            let before = self.before(table);
            let stored = self
                .sides
                .stored_table(&table.name)
                .map(|stored| &stored.triggers);
            let had = before.map(|before| &before.triggers);
            self.triggers(&table.name, had, &table.triggers, stored);
            self.replica_identity(before, table);
        }
        for view in to.views.values() {
            let of = |schema: &'a Schema| schema.views.get(&view.name).map(|view| &view.triggers);
            let (had, stored) = (of(self.from), self.sides.stored.and_then(of));
            self.triggers(&view.name, had, &view.triggers, stored);
        }
        for (on, triggers) in to.foreign_triggers.iter() {
            let of = |schema: &'a Schema| schema.foreign_triggers.get(on);
            let had = of(self.from).filter(|_| !self.is_foreign_fresh(on));
            self.triggers(on, had, triggers, self.sides.stored.and_then(of));
        }
        self.sequence_owners();
    }

    /// Whether the foreign table has just been created.
    pub(super) fn is_foreign_fresh(&self, on: &Name) -> bool {
        let key = (ObjectKind::ForeignTable, on.quoted());
        self.fresh.contains(&Part::Kept(key))
    }

    /// The existing table, unless recreated already.
    pub(super) fn before(&self, table: &'a Table) -> Option<&'a Table> {
        let before = self.from.tables.get(&table.name)?;
        (!self.created.contains(&table.name)).then_some(before)
    }

    fn row_security(&mut self, before: Option<&Table>, table: &Table) {
        for (wanted, had, words) in [
            (
                &table.rls,
                before.is_some_and(|before| before.rls.is_some()),
                "ENABLE",
            ),
            (
                &table.force_rls,
                before.is_some_and(|before| before.force_rls.is_some()),
                "FORCE",
            ),
        ] {
            let Some(source) = wanted.as_ref().filter(|_| !had) else {
                continue;
            };
            let sql = if self.printer.is_sqldef() {
                source.clone()
            } else {
                self.alter(&table.name, &format!("{words} ROW LEVEL SECURITY"))
            };
            let shown = self.shown(&table.name);
            self.push_with(
                sql,
                Verb::Alter,
                ObjectKind::Table,
                shown,
                vec![hazards::ACCESS_EXCLUSIVE],
            );
        }
    }

    fn policy(&mut self, before: Option<&Table>, table: &Table, wanted: &Policy) {
        let part = Part::Policy(table.name.clone(), wanted.name.clone());
        let found = before.and_then(|before| before.policies.get(&wanted.name));
        let stored = self
            .sides
            .stored_table(&table.name)
            .and_then(|stored| stored.policies.get(&wanted.name));
        let mut needs = None;
        if let Some(found) = found.filter(|_| !self.is_gone(&part)) {
            let is_same = self.sides.same.policy_on(found, wanted, &table.name)
                || stored
                    .is_some_and(|stored| self.sides.same.policy_on(found, stored, &table.name));
            if is_same {
                return;
            }
            needs = Some(self.drop_policy(&table.name, &found.name));
        }
        let source = wanted
            .meta
            .source
            .clone()
            .filter(|_| self.printer.is_sqldef());
        let sql = source.unwrap_or_else(|| self.printer.policy(wanted, &table.name));
        let shown = self.shown_part(&table.name, &wanted.name);
        let at = self.push_with(
            sql,
            Verb::Create,
            ObjectKind::Policy,
            shown,
            vec![hazards::ACCESS_EXCLUSIVE],
        );
        self.statements[at].needs.extend(needs);
        self.fresh.insert(part);
    }

    /// Drops a policy, for good unless one of the same name is wanted.
    pub(super) fn drop_policy(&mut self, table: &Name, name: &str) -> usize {
        let wanted = self.to.tables.get(table);
        let is_wanted = wanted.is_some_and(|wanted| wanted.policies.contains(name));
        self.drop_hook(ObjectKind::Policy, table, name, is_wanted)
    }

    /// The same of a trigger.
    pub(super) fn drop_trigger(&mut self, on: &Name, name: &str) -> usize {
        let wanted = self.to.triggers_of(on);
        let is_wanted = wanted.is_some_and(|wanted| wanted.contains(name));
        self.drop_hook(ObjectKind::Trigger, on, name, is_wanted)
    }

    fn drop_hook(&mut self, kind: ObjectKind, on: &Name, name: &str, is_wanted: bool) -> usize {
        let sql = format!(
            "DROP {} {} ON {}",
            kind.word().to_uppercase(),
            self.printer.ident(name),
            self.printer.name(on)
        );
        let shown = self.shown_part(on, name);
        let hazards = vec![
            Hazard::Drop(format!("{kind} {shown}")),
            hazards::ACCESS_EXCLUSIVE,
        ];
        let verb = if is_wanted { Verb::Aside } else { Verb::Drop };
        self.push_with(sql, verb, kind, shown, hazards)
    }

    fn triggers(
        &mut self,
        on: &Name,
        had: Option<&Listed<String, Trigger>>,
        wanted: &Listed<String, Trigger>,
        stored: Option<&Listed<String, Trigger>>,
    ) {
        for trigger in wanted.values() {
            let found = had.and_then(|had| had.get(&trigger.name));
            let stored = stored.and_then(|stored| stored.get(&trigger.name));
            self.trigger(on, found, trigger, stored);
        }
    }

    fn trigger(
        &mut self,
        on: &Name,
        found: Option<&Trigger>,
        wanted: &Trigger,
        stored: Option<&Trigger>,
    ) {
        let part = Part::Trigger(on.clone(), wanted.name.clone());
        let found = found.filter(|_| !self.is_gone(&part));
        let is_same = found.is_some_and(|found| {
            self.sides.same.trigger(found, wanted)
                || stored.is_some_and(|stored| self.sides.same.trigger(found, stored))
        });
        let mut state = found.map_or('O', |found| found.state);
        if !is_same {
            let needs = found.map(|found| self.drop_trigger(on, &found.name));
            let is_known = self
                .to
                .functions
                .keys()
                .any(|(name, _)| *name == wanted.function);
            let sql = self.printer.trigger(wanted, on, is_known);
            let shown = self.shown_part(on, &wanted.name);
            let at = self.push_with(
                sql,
                Verb::Create,
                ObjectKind::Trigger,
                shown,
                vec![hazards::SHARE_ROW_EXCLUSIVE],
            );
            self.statements[at].needs.extend(needs);
            self.fresh.insert(part);
            state = 'O';
        }
        if state != wanted.state {
            let word = match wanted.state {
                'D' => "DISABLE",
                'A' => "ENABLE ALWAYS",
                'R' => "ENABLE REPLICA",
                _ => "ENABLE",
            };
            let sql = self.alter(
                on,
                &format!("{word} TRIGGER {}", self.printer.ident(&wanted.name)),
            );
            let shown = self.shown_part(on, &wanted.name);
            self.push_with(
                sql,
                Verb::Alter,
                ObjectKind::Trigger,
                shown,
                vec![hazards::SHARE_ROW_EXCLUSIVE],
            );
        }
    }

    /// Leaves the index of the replica identity before a column of the index changes: the server
    /// refuses to drop a `NOT NULL` there.
    pub(super) fn leave_identity(&mut self, from: &Table, to: &Table) {
        if leaves_index(from, to) {
            self.set_identity(to);
        }
    }

    fn replica_identity(&mut self, before: Option<&Table>, table: &Table) {
        let had = before.and_then(|before| before.replica_identity.as_ref());
        let index = table.replica_identity.as_deref().and_then(index_of);
        let index = index.map(|index| Name::new(table.name.schema.clone(), fold(index)));
        let is_lost = index.is_some_and(|index| self.is_made_again_index(&index));
        let is_left = before.is_some_and(|before| leaves_index(before, table));
        if is_lost || had != table.replica_identity.as_ref() && !is_left {
            self.set_identity(table);
        }
    }

    fn set_identity(&mut self, table: &Table) {
        let wanted = table.replica_identity.as_deref().unwrap_or("DEFAULT");
        let sql = self.alter(&table.name, &format!("REPLICA IDENTITY {wanted}"));
        let lock = vec![hazards::ACCESS_EXCLUSIVE];
        self.push_with(
            sql,
            Verb::Alter,
            ObjectKind::Table,
            self.shown(&table.name),
            lock,
        );
    }
}

fn index_of(identity: &str) -> Option<&str> {
    identity.strip_prefix("USING INDEX ")
}

/// Whether rows are named by an index, and by none afterwards.
fn leaves_index(from: &Table, to: &Table) -> bool {
    let is_index = |table: &Table| {
        table
            .replica_identity
            .as_deref()
            .is_some_and(|it| index_of(it).is_some())
    };
    is_index(from) && !is_index(to)
}
