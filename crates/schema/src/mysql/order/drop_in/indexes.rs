//! Indexes of a table, in sqldef's words.

use super::Writer;
use crate::mysql::diff::{ColumnStep, TableDiff};
use crate::mysql::hazards;
use crate::mysql::lexer::backticked;
use crate::mysql::model::{ForeignKey, Index};
use crate::plan::Steps;
use crate::{Hazard, ObjectKind, Verb};

impl Writer<'_> {
    pub(super) fn indexes(&mut self, diff: &TableDiff<'_>, table: &str) {
        for (before, after) in &diff.renamed_indexes {
            if let Some(was) = &before.was {
                let (was, name) = (self.printer.name(was), self.printer.name(&after.name));
                let sql = format!("ALTER TABLE {table} RENAME INDEX {was} TO {name}");
                let name = format!("{}.{}", diff.to.name.text, after.name.text);
                self.push(sql, Verb::Rename, ObjectKind::Index, name);
            }
        }
        for index in &diff.hidden_indexes {
            let sql = format!("ALTER TABLE {table} {}", self.printer.visibility(index));
            let name = format!("{}.{}", diff.to.name.text, index.name.text);
            self.push(sql, Verb::Alter, ObjectKind::Index, name);
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
            if is_new && !comes_by_itself(diff, index) {
                self.add_index(diff, table, index);
            }
        }
    }

    /// Drops an index to be recreated.
    pub(super) fn drop_replaced(&mut self, diff: &TableDiff<'_>, before: &Index) {
        let was = before.was.as_ref().unwrap_or(&before.name);
        let key = (diff.to.name.text.clone(), was.text.clone());
        if self.dropped_indexes.insert(key) {
            let (owner, name) = (backticked(&diff.to.name.text), backticked(&was.text));
            let sql = format!("ALTER TABLE {owner} DROP INDEX {name}");
            let name = format!("{}.{}", diff.to.name.text, was.text);
            let lost = vec![Hazard::Drop(format!("index {}", was.text))];
            self.push_with(sql, Verb::Drop, ObjectKind::Index, name, lost);
        }
    }

    fn add_index(&mut self, diff: &TableDiff<'_>, table: &str, index: &Index) {
        let sql = match &index.statement {
            Some(statement) => statement.clone(),
            None => format!("ALTER TABLE {table} ADD {}", self.printer.index(index)),
        };
        let name = format!("{}.{}", diff.to.name.text, index.name.text);
        let hazards = hazards::of_index(diff.from, index);
        let given_way = diff.dropped_indexes.iter();
        let given_way =
            given_way.filter(|before| !self.holds_drops && gives_way(diff, before, index));
        let mut is_first = |before: &&Index| {
            let key = (diff.to.name.text.clone(), before.name.text.clone());
            self.dropped_indexes.insert(key)
        };
        let given_way: Vec<&Index> = given_way.copied().filter(&mut is_first).collect();
        if given_way.is_empty() {
            self.push_with(sql, Verb::Add, ObjectKind::Index, name, hazards);
            return;
        }
        let mut sql = format!("ALTER TABLE {table} ADD {}", self.printer.index(index));
        let mut all = Vec::new();
        for before in given_way {
            sql = format!("{sql}, DROP INDEX {}", backticked(&before.name.text));
            all.push(Hazard::Drop(format!("index {}", before.name.text)));
        }
        all.extend(hazards);
        self.push_with(sql, Verb::Drop, ObjectKind::Index, name, all);
    }
}

/// Whether a server may have created an index for a foreign key, to be dropped implicitly as soon
/// as another one serves the key. No catalogue records the creator: dropped later it may be gone,
/// dropped before it is still needed, so one statement has to do both.
fn gives_way(diff: &TableDiff<'_>, before: &Index, after: &Index) -> bool {
    diff.from.foreign_keys.iter().any(|key| {
        let has_its_name = key.name.as_ref().is_some_and(|name| name.is(&before.name));
        let has_columns_name = key
            .columns
            .first()
            .is_some_and(|name| name.is(&before.name));
        before.parts.len() == key.columns.len()
            && (has_its_name || has_columns_name)
            && before.covers(&key.columns)
            && after.covers(&key.columns)
    })
}

/// Whether an index is created implicitly: with an added column, or for an added foreign key.
fn comes_by_itself(diff: &TableDiff<'_>, index: &Index) -> bool {
    let serves = |key: &&ForeignKey| index.covers(&key.columns);
    if index.is_implied && diff.added_keys.iter().any(serves) {
        return true;
    }
    index.is_inline
        && diff.columns.iter().any(|step| match step {
            ColumnStep::Add(column, _) => index.parts.iter().any(|part| part.is_of(&column.name)),
            _ => false,
        })
}
