//! Enums: values are added in place; removing one recreates the type.

use super::Builder;
use crate::plan::Steps;
use crate::postgres::diff::labels;
use crate::postgres::model::{EnumValue, UserType};
use crate::postgres::name::literal;
use crate::{Hazard, ObjectKind, Verb};

impl Builder<'_> {
    /// Adds values at the wanted positions. A removed value, or a different order, requires a new
    /// type.
    pub(super) fn change_enum(&mut self, found: &UserType, from: &[EnumValue], to: &[EnumValue]) {
        let name = &found.name;
        let (old, new) = (labels(from), labels(to));
        let kept: Vec<&str> = new
            .iter()
            .copied()
            .filter(|label| old.contains(label))
            .collect();
        if kept != old {
            return self.replace_enum(found, &old, &new);
        }
        let shown = self.shown(name);
        let mut there = old;
        for (at, label) in new.iter().enumerate() {
            if there.contains(label) {
                continue;
            }
            let before = new[at + 1..].iter().find(|next| there.contains(next));
            let place = before
                .map(|next| format!(" BEFORE {}", literal(next)))
                .unwrap_or_default();
            let sql = format!(
                "ALTER TYPE {} ADD VALUE {}{place}",
                self.printer.name(name),
                literal(label)
            );
            self.push(
                sql,
                Verb::Add,
                ObjectKind::EnumValue,
                format!("{shown}.{label}"),
            );
            let position = before.and_then(|next| there.iter().position(|each| each == next));
            there.insert(position.unwrap_or(there.len()), label);
        }
    }

    fn replace_enum(&mut self, to: &UserType, old: &[&str], new: &[&str]) {
        let lost: Vec<&str> = old
            .iter()
            .copied()
            .filter(|label| !new.contains(label))
            .collect();
        let first = self.replace_type(to, "TYPE");
        if lost.is_empty() {
            return;
        }
        let literals: Vec<String> = lost.iter().map(|label| literal(label)).collect();
        let is_lost = |column: &str| format!("{column} IN ({})", literals.join(", "));
        let query = self.values_of_type(&to.name, &is_lost);
        let statement = &mut self.statements[first];
        statement.verb = Verb::Drop;
        statement.object.kind = ObjectKind::EnumValue;
        statement.object.name = format!("{}.{}", statement.object.name, lost[0]);
        statement.hazards.push(Hazard::MayFail {
            reason: format!("no row may hold {}", lost.join(", ")),
            query,
        });
    }

    /// Marks additions of enum values used by another statement: a new value cannot be used in the
    /// same transaction, so the addition has to be committed alone.
    pub(super) fn mark_new_values(&mut self) {
        let added: Vec<(usize, String)> = self
            .statements
            .iter()
            .enumerate()
            .filter(|(_, statement)| {
                (statement.verb, statement.object.kind) == (Verb::Add, ObjectKind::EnumValue)
            })
            .filter_map(|(at, statement)| {
                let (_, label) = statement.sql.split_once("ADD VALUE ")?;
                let label = label.split(" BEFORE ").next()?;
                Some((at, label.to_owned()))
            })
            .collect();
        for (at, label) in added {
            // Next to what it stands is another value's business.
            let others = self
                .statements
                .iter()
                .filter(|each| (each.verb, each.object.kind) != (Verb::Add, ObjectKind::EnumValue));
            let is_used = others.map(|each| &each.sql).any(|sql| sql.contains(&label));
            if is_used {
                self.statements[at].hazards.push(Hazard::NotTransactional);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::postgres::tests::read;
    use crate::{Hazard, ObjectKind, PlanOptions};

    /// Whether the new value is committed by itself.
    fn check(from: &str, to: &str, expected: bool) {
        let made = |values: &str, rest: &str| {
            read(&format!("CREATE TYPE mood AS ENUM ({values}); {rest}"))
        };
        let (from, to) = (made("'a'", from), made("'a', 'b', 'c'", to));
        let plan = crate::postgres::plan(&from, &to, &PlanOptions::default()).unwrap();
        let mut added = plan.statements.iter();
        let added = added.find(|each| each.object.kind == ObjectKind::EnumValue);
        let hazards = &added.unwrap().hazards;
        assert_eq!(hazards.contains(&Hazard::NotTransactional), expected);
    }

    #[test]
    fn a_new_value_is_committed_before_it_is_used() {
        let table = "CREATE TABLE t (m mood);";
        check(table, table, false);
        let with = |rest: &str| format!("CREATE TABLE t (m mood{rest});");
        check(table, &with(" DEFAULT 'b'"), true);
        check(table, &with(", CONSTRAINT k CHECK (m <> 'b')"), true);
        check(table, &with(", n mood DEFAULT 'b'"), true);
        check("", &with(" DEFAULT 'b'"), true);
        let index = "CREATE INDEX i ON t (m) WHERE m = 'b';";
        check(table, &format!("{table} {index}"), true);
    }
}
