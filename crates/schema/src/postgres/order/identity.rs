//! Columns numbering rows, and how values of a column are stored.

use super::Builder;
use crate::plan::Steps;
use crate::postgres::hazards;
use crate::postgres::model::{Column, Identity};
use crate::postgres::name::{Name, literal};
use crate::postgres::print::sequence_options;
use crate::{Hazard, ObjectKind, Verb};

impl Builder<'_> {
    /// Ends numbering, before the column gets a type without numbers.
    pub(super) fn identity_before(&mut self, before: &Column, column: &Column, table: &Name) {
        if before.identity.is_none() || column.identity.is_some() {
            return;
        }
        let lock = hazards::ACCESS_EXCLUSIVE;
        if self.printer.is_sqldef() {
            self.alter_column(table, column, "DROP IDENTITY IF EXISTS", vec![lock]);
            return;
        }
        let mut hazards = vec![lock];
        if column.serial.is_none() {
            let shown = self.shown_part(table, &column.name);
            hazards.insert(0, Hazard::DataLoss(format!("the place of {shown}")));
        }
        self.alter_column(table, column, "DROP IDENTITY", hazards);
    }

    pub(super) fn identity_after(&mut self, before: &Column, column: &Column, table: &Name) {
        let Some(identity) = &column.identity else {
            return;
        };
        let lock = || vec![hazards::ACCESS_EXCLUSIVE];
        match &before.identity {
            None => {
                let action = format!("ADD {}", self.printer.identity(identity));
                let added = self.alter_column(table, column, &action, lock());
                let table_name = literal(&table.quoted());
                let sequence = format!(
                    "pg_get_serial_sequence({table_name}, {})",
                    literal(&column.name)
                );
                match before.serial.as_ref().filter(|_| column.serial.is_none()) {
                    Some(former) => self.take_over_place(former, &sequence, added),
                    None => self.go_on_behind_rows(column, table, &sequence, added),
                }
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
        if column.identity.is_some() && self.hands_over(sequence) {
            let name = self.printer.name(sequence);
            let old = former(sequence);
            for (verb, action) in [
                (Verb::Alter, "OWNED BY NONE".to_owned()),
                (
                    Verb::Rename,
                    format!("RENAME TO {}", self.printer.ident(&old.name)),
                ),
            ] {
                let sql = format!("ALTER SEQUENCE {name} {action}");
                let at = self.push(sql, verb, ObjectKind::Sequence, shown.clone());
                self.statements[at].needs.push(default);
            }
            return;
        }
        let sql = format!("DROP SEQUENCE {}", self.printer.name(sequence));
        let at = if self.to.sequences.contains(sequence) {
            let sql = format!(
                "ALTER SEQUENCE {} OWNED BY NONE",
                self.printer.name(sequence)
            );
            self.push(sql, Verb::Alter, ObjectKind::Sequence, shown)
        } else {
            let hazards = vec![Hazard::DataLoss(format!("the place of {shown}"))];
            self.push_with(sql, Verb::Drop, ObjectKind::Sequence, shown, hazards)
        };
        self.statements[at].needs.push(default);
    }

    /// Whether an identity column's sequence continues at the given one's value. sqldef begins at 1
    /// again.
    fn hands_over(&self, sequence: &Name) -> bool {
        !self.printer.is_sqldef() && !self.to.sequences.contains(sequence)
    }

    /// Continues a former sequence, which goes then.
    fn take_over_place(&mut self, sequence: &Name, heir: &str, needed: usize) {
        if !self.hands_over(sequence) {
            return;
        }
        let old = self.printer.name(&former(sequence));
        let shown = self.shown(sequence);
        let sql = format!("SELECT setval({heir}, last_value, is_called) FROM {old}");
        let set = self.push(sql, Verb::Alter, ObjectKind::Sequence, shown.clone());
        self.statements[set].needs.push(needed);
        let sql = format!("DROP SEQUENCE {old}");
        let dropped = self.push(sql, Verb::Aside, ObjectKind::Sequence, shown);
        self.statements[dropped].needs.push(set);
    }

    /// Continues numbering behind existing rows, so no number is used twice.
    fn go_on_behind_rows(&mut self, column: &Column, table: &Name, sequence: &str, needed: usize) {
        if self.printer.is_sqldef() {
            return;
        }
        let options = column.identity.as_ref().map(|identity| &identity.options);
        let increment = options.and_then(|options| options.increment).unwrap_or(1);
        let (last, bound) = match increment < 0 {
            true => ("min", options.and_then(|options| options.max).unwrap_or(-1)),
            false => ("max", options.and_then(|options| options.min).unwrap_or(1)),
        };
        let side = if increment < 0 { "<=" } else { ">=" };
        let last = format!("{last}({})", self.printer.ident(&column.name));
        let sql = format!(
            "SELECT setval({sequence}, {last}) FROM {} HAVING {last} {side} {bound}",
            self.printer.name(table)
        );
        let shown = self.shown_part(table, &column.name);
        let at = self.push(sql, Verb::Alter, ObjectKind::Column, shown);
        self.statements[at].needs.push(needed);
    }

    pub(super) fn begin_serial(&mut self, before: &Column, column: &Column, table: &Name) {
        let Some(sequence) = column.serial.as_ref().filter(|_| before.serial.is_none()) else {
            return;
        };
        let (name, shown) = (self.printer.name(sequence), self.shown(sequence));
        let integer = &column.data_type.name;
        let create = format!("CREATE SEQUENCE {name} AS {integer}");
        let owned = format!(
            "{}.{}",
            self.printer.name(table),
            self.printer.ident(&column.name)
        );
        let at = self.push(create, Verb::Create, ObjectKind::Sequence, shown.clone());
        let text = literal(&sequence.quoted());
        let set = self.alter_column(
            table,
            column,
            &format!("SET DEFAULT nextval({text}::regclass)"),
            vec![hazards::ACCESS_EXCLUSIVE],
        );
        self.statements[set].needs.push(at);
        if let Some(sql) = self.owner_of(sequence, table) {
            let given = self.push(sql, Verb::Alter, ObjectKind::Sequence, shown.clone());
            self.statements[given].needs.push(at);
        }
        let owner = self.push(
            format!("ALTER SEQUENCE {name} OWNED BY {owned}"),
            Verb::Alter,
            ObjectKind::Sequence,
            shown,
        );
        self.statements[owner].needs.push(at);
        // All of it or nothing.
        self.statements[at].needs.push(set);
        self.go_on_behind_rows(column, table, &text, set);
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
            let usual = column.usual_storage();
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
            let lock = match action.starts_with("SET STATISTICS") {
                true => hazards::SHARE_UPDATE_EXCLUSIVE,
                false => hazards::ACCESS_EXCLUSIVE,
            };
            self.alter_column(table, column, &action, vec![lock]);
        }
    }
}

/// Name of a sequence while a successor takes over the old one.
fn former(sequence: &Name) -> Name {
    Name::new(sequence.schema.clone(), format!("{}__old", sequence.name))
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

#[cfg(test)]
mod tests {
    use crate::postgres::tests::read;
    use crate::{Allowed, PlanOptions};

    /// The plan from an identity column, held-back statements behind `--`.
    fn check(wanted: &str, expected: &[&str]) {
        let from = read("CREATE TABLE t (a int GENERATED BY DEFAULT AS IDENTITY, b int);");
        let to = read(&format!("CREATE TABLE t (a {wanted}, b int);"));
        let mut plan = crate::postgres::plan(&from, &to, &PlanOptions::default()).unwrap();
        plan.hold_back(&Allowed::default());
        let lines: Vec<String> = plan.statements.iter().map(crate::Statement::line).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_place_of_an_identity_goes_with_a_yes_only() {
        let dropped = "-- ALTER TABLE public.t ALTER COLUMN a DROP IDENTITY";
        let nullable = "-- ALTER TABLE public.t ALTER COLUMN a DROP NOT NULL";
        check("int NOT NULL", &[dropped]);
        check("int", &[dropped, nullable]);
        let retyped = "-- ALTER TABLE public.t ALTER COLUMN a TYPE text";
        check("text NOT NULL", &[dropped, retyped]);
    }
}
