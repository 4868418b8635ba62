//! Indexes of a table, in sqldef's words.

use super::Writer;
use crate::mysql::diff::{ColumnStep, TableDiff};
use crate::mysql::hazards;
use crate::mysql::lex::backticked;
use crate::mysql::model::Index;
use crate::{Hazard, Verb};

impl Writer<'_> {
    pub(super) fn indexes(&mut self, diff: &TableDiff<'_>, table: &str) {
        for (before, after) in &diff.renamed_indexes {
            if let Some(was) = &before.was {
                let (was, name) = (self.printer.name(was), self.printer.name(&after.name));
                let sql = format!("ALTER TABLE {table} RENAME INDEX {was} TO {name}");
                self.push(
                    sql,
                    Verb::Rename,
                    (
                        "index",
                        format!("{}.{}", diff.to.name.text, after.name.text),
                    ),
                );
            }
        }
        for index in &diff.hidden_indexes {
            let sql = format!("ALTER TABLE {table} {}", self.printer.visibility(index));
            let name = format!("{}.{}", diff.to.name.text, index.name.text);
            self.push(sql, Verb::Alter, ("index", name));
        }
        for index in &diff.to.indexes {
            if let Some((before, after)) = diff
                .replaced_indexes
                .iter()
                .find(|(_, after)| std::ptr::eq(*after, index))
            {
                if after.is_implied {
                    continue;
                }
                self.drop_replaced(diff, before);
                self.add_index(diff, table, after);
            }
            let is_new = diff
                .added_indexes
                .iter()
                .any(|added| std::ptr::eq(*added, index));
            if is_new && !index.is_implied && !comes_with_column(diff, index) {
                self.add_index(diff, table, index);
            }
        }
    }

    /// An index that comes again.
    pub(super) fn drop_replaced(&mut self, diff: &TableDiff<'_>, before: &Index) {
        let was = before.was.as_ref().unwrap_or(&before.name);
        let key = (diff.to.name.text.clone(), was.text.clone());
        if self.dropped_indexes.insert(key) {
            let (owner, name) = (backticked(&diff.to.name.text), backticked(&was.text));
            let object = ("index", format!("{}.{}", diff.to.name.text, was.text));
            let lost = vec![Hazard::Drop(format!("index {}", was.text))];
            self.push_with(
                format!("ALTER TABLE {owner} DROP INDEX {name}"),
                Verb::Drop,
                object,
                lost,
            );
        }
    }

    fn add_index(&mut self, diff: &TableDiff<'_>, table: &str, index: &Index) {
        let sql = match &index.statement {
            Some(statement) => statement.clone(),
            None => format!("ALTER TABLE {table} ADD {}", self.printer.index(index)),
        };
        let name = format!("{}.{}", diff.to.name.text, index.name.text);
        self.push_with(
            sql,
            Verb::Add,
            ("index", name),
            hazards::of_index(diff.from, index),
        );
    }
}

/// A unique index that was written with a column which is added.
fn comes_with_column(diff: &TableDiff<'_>, index: &Index) -> bool {
    index.is_inline
        && diff.columns.iter().any(|step| match step {
            ColumnStep::Add(column, _) => index.parts.iter().any(|part| part.is_of(&column.name)),
            _ => false,
        })
}
