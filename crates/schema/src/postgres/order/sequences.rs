//! Sequences not owned by identity or serial columns.

use super::Builder;
use crate::plan::Steps;
use crate::postgres::hazards;
use crate::postgres::model::{Meta, Sequence};
use crate::postgres::name::Name;
use crate::postgres::print::sequence_options;
use crate::{ObjectKind, Verb};

impl<'a> Builder<'a> {
    pub(super) fn sequence(&mut self, to: &'a Sequence) {
        let shown = self.shown(&to.name);
        let Some(from) = self.from.sequences.get(&to.name) else {
            let source = to.meta.source.clone().filter(|_| self.printer.is_sqldef());
            let sql = source.unwrap_or_else(|| self.printer.sequence(to));
            self.push(sql, Verb::Create, ObjectKind::Sequence, shown);
            return;
        };
        let mut full = to.options.clone();
        let assumed = |wanted: &mut Option<i64>, had: Option<i64>, value: i64| {
            if wanted.is_none() && had.is_some() {
                *wanted = Some(value);
            }
        };
        assumed(&mut full.increment, from.options.increment, 1);
        assumed(&mut full.cache, from.options.cache, 1);
        if full.data_type.is_none() && from.options.data_type.is_some() {
            full.data_type = Some("bigint".to_owned());
        }
        let mut words = sequence_options(&full);
        for (word, wanted, had) in [
            (" NO MINVALUE", to.options.min, from.options.min),
            (" NO MAXVALUE", to.options.max, from.options.max),
        ] {
            if wanted.is_none() && had.is_some() {
                words.push_str(word);
            }
        }
        if to.options.start.is_none() && from.options.start.is_some() {
            let ascending = to.options.increment.unwrap_or(1) > 0;
            let first = if ascending {
                to.options.min.unwrap_or(1)
            } else {
                to.options.max.unwrap_or(-1)
            };
            words.push_str(&format!(" START WITH {first}"));
        }
        if from.options.cycle && !to.options.cycle {
            words.push_str(" NO CYCLE");
        }
        let sql = format!(
            "ALTER SEQUENCE {} {}",
            self.printer.name(&to.name),
            words.trim()
        );
        self.push_with(
            sql,
            Verb::Alter,
            ObjectKind::Sequence,
            shown,
            vec![hazards::SHARE_ROW_EXCLUSIVE],
        );
    }

    /// Sets the owning columns of sequences, which exist only after the tables.
    pub(super) fn sequence_owners(&mut self) {
        let (from, to) = (self.from, self.to);
        for (name, sequence) in to.sequences.iter() {
            let before = from
                .sequences
                .get(name)
                .and_then(|from| from.owned_by.clone());
            if before == sequence.owned_by {
                continue;
            }
            let owner = match &sequence.owned_by {
                Some((table, column)) => format!(
                    "{}.{}",
                    self.printer.name(table),
                    self.printer.ident(column)
                ),
                None => "NONE".to_owned(),
            };
            let sql = format!(
                "ALTER SEQUENCE {} OWNED BY {owner}",
                self.printer.name(name)
            );
            let shown = self.shown(name);
            let like = sequence.owned_by.as_ref();
            if let Some(sql) = like.and_then(|(table, _)| self.owner_of(name, table)) {
                self.push(sql, Verb::Alter, ObjectKind::Sequence, shown.clone());
            }
            self.push(sql, Verb::Alter, ObjectKind::Sequence, shown);
        }
    }

    /// Returns the statement for giving a sequence the owner of the table, required before `OWNED
    /// BY`. `None` if both have the same.
    pub(super) fn owner_of(&self, sequence: &Name, table: &Name) -> Option<String> {
        let role = |meta: &Meta| meta.owner.as_ref().map(|owner| owner.role.clone());
        let table = self.from.tables.get(table)?;
        let before = self.from.sequences.get(sequence);
        let (wanted, had) = (
            role(&table.meta),
            before.and_then(|before| role(&before.meta)),
        );
        let owner = match &wanted {
            Some(role) => self.printer.ident(role),
            None => "CURRENT_USER".to_owned(),
        };
        let name = self.printer.name(sequence);
        (wanted != had).then(|| format!("ALTER SEQUENCE {name} OWNER TO {owner}"))
    }
}
