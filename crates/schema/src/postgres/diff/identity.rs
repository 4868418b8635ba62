//! Columns that number their rows, and how a column's values are stored.

use super::Builder;
use crate::Hazard;
use crate::postgres::hazards;
use crate::postgres::model::{Column, Identity};
use crate::postgres::name::{Name, literal};
use crate::postgres::spell::sequence_options;

impl Builder<'_> {
    pub(super) fn identity_before(&mut self, before: &Column, column: &Column, table: &Name) {
        if before.identity.is_some() && column.identity.is_none() {
            let action = if self.speller.is_sqldef() {
                "DROP IDENTITY IF EXISTS"
            } else {
                "DROP IDENTITY"
            };
            self.alter_column(table, column, action, vec![hazards::ACCESS_EXCLUSIVE]);
        }
    }

    pub(super) fn identity_after(&mut self, before: &Column, column: &Column, table: &Name) {
        let Some(identity) = &column.identity else {
            return;
        };
        let lock = || vec![hazards::ACCESS_EXCLUSIVE];
        match &before.identity {
            None => {
                let action = format!("ADD {}", self.speller.identity(identity));
                self.alter_column(table, column, &action, lock());
            }
            Some(old) => {
                if old.always != identity.always {
                    let how = if identity.always {
                        "ALWAYS"
                    } else {
                        "BY DEFAULT"
                    };
                    self.alter_column(table, column, &format!("SET GENERATED {how}"), lock());
                }
                let action = identity_changes(old, identity, &column.data_type.name);
                if !action.is_empty() {
                    self.alter_column(table, column, &action, lock());
                }
            }
        }
    }

    pub(super) fn end_serial(&mut self, before: &Column, column: &Column, table: &Name) {
        let Some(sequence) = before.serial.as_ref().filter(|_| column.serial.is_none()) else {
            return;
        };
        let lock = vec![hazards::ACCESS_EXCLUSIVE];
        let default = self.alter_column(table, column, "DROP DEFAULT", lock);
        let shown = self.shown(sequence);
        let sql = format!("DROP SEQUENCE {}", self.speller.name(sequence));
        let sql = if self.to.sequences.contains(sequence) {
            format!(
                "ALTER SEQUENCE {} OWNED BY NONE",
                self.speller.name(sequence)
            )
        } else {
            sql
        };
        let hazards = vec![Hazard::Drop(format!("sequence {shown}"))];
        let at = self.push_with(sql, "drop", "sequence", shown, hazards);
        self.statements[at].needs.push(default);
    }

    pub(super) fn begin_serial(&mut self, before: &Column, column: &Column, table: &Name) {
        let Some(sequence) = column.serial.as_ref().filter(|_| before.serial.is_none()) else {
            return;
        };
        let (name, shown) = (self.speller.name(sequence), self.shown(sequence));
        let integer = &column.data_type.name;
        let create = format!("CREATE SEQUENCE {name} AS {integer}");
        let owned = format!(
            "{}.{}",
            self.speller.name(table),
            self.speller.ident(&column.name)
        );
        let at = self.push(create, "create", "sequence", shown.clone());
        let text = literal(&sequence.quoted());
        let set = self.alter_column(
            table,
            column,
            &format!("SET DEFAULT nextval({text}::regclass)"),
            vec![hazards::ACCESS_EXCLUSIVE],
        );
        self.statements[set].needs.push(at);
        let owner = self.push(
            format!("ALTER SEQUENCE {name} OWNED BY {owned}"),
            "alter",
            "sequence",
            shown,
        );
        self.statements[owner].needs.push(at);
    }

    /// Storage, compression and statistics.
    pub(super) fn column_details(
        &mut self,
        table: &Name,
        before: Option<&Column>,
        column: &Column,
    ) {
        let assumed = Column::default();
        let before = before.unwrap_or(&assumed);
        let mut actions = Vec::new();
        if before.storage != column.storage {
            let storage = column.storage.as_deref();
            // `DEFAULT` is known to version 16 and later only.
            let usual = if matches!(column.data_type.name.as_str(), "numeric") {
                "MAIN"
            } else {
                "EXTENDED"
            };
            actions.push(format!("SET STORAGE {}", storage.unwrap_or(usual)));
        }
        if before.compression != column.compression {
            actions.push(format!(
                "SET COMPRESSION {}",
                column.compression.as_deref().unwrap_or("default")
            ));
        }
        if before.statistics != column.statistics {
            actions.push(format!(
                "SET STATISTICS {}",
                column.statistics.unwrap_or(-1)
            ));
        }
        for action in actions {
            self.alter_column(
                table,
                column,
                &action,
                vec![hazards::SHARE_UPDATE_EXCLUSIVE],
            );
        }
    }
}

fn identity_changes(from: &Identity, to: &Identity, data_type: &str) -> String {
    if from.options == to.options {
        return String::new();
    }
    let mut wanted = to.options.clone();
    let top = match data_type {
        "smallint" => i64::from(i16::MAX),
        "integer" => i64::from(i32::MAX),
        _ => i64::MAX,
    };
    let ascending = wanted.increment.unwrap_or(1) > 0;
    let (min, max) = if ascending { (1, top) } else { (-top - 1, -1) };
    wanted.increment.get_or_insert(1);
    wanted.cache.get_or_insert(1);
    let first = if ascending {
        *wanted.min.get_or_insert(min)
    } else {
        *wanted.max.get_or_insert(max)
    };
    wanted.min.get_or_insert(min);
    wanted.max.get_or_insert(max);
    wanted.start.get_or_insert(first);
    let cycle = std::mem::take(&mut wanted.cycle);
    let words = sequence_options(&wanted);
    let mut action = String::new();
    for word in [
        "START WITH",
        "INCREMENT BY",
        "MINVALUE",
        "MAXVALUE",
        "CACHE",
    ] {
        let Some((_, rest)) = words.split_once(word) else {
            continue;
        };
        let value = rest.split_whitespace().next().unwrap_or_default();
        action.push_str(&format!("SET {word} {value} "));
    }
    action.push_str(if cycle { "SET CYCLE" } else { "SET NO CYCLE" });
    action
}
