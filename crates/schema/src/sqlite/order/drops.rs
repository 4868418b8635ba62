//! Drops, placed last, so a held-back drop holds back nothing executable.

use super::Builder;
use crate::plan::Steps;
use crate::sqlite::diff::TableDiff;
use crate::sqlite::expr::piece_of_name;
use crate::sqlite::hazards;
use crate::sqlite::lexer::lex;
use crate::sqlite::model::{Index, Name, Whole, WholeKind, quoted};
use crate::{Hazard, ObjectKind, Verb};

impl<'a> Builder<'a> {
    /// Drops everything missing in the wanted schema.
    pub(super) fn drops(&mut self, changes: &[TableDiff<'a>]) {
        let from = self.from;
        for kind in [WholeKind::Trigger, WholeKind::View, WholeKind::Virtual] {
            let goes = |whole: &&Whole| whole.kind == kind && self.goes(whole);
            let gone: Vec<&Whole> = from.wholes.iter().filter(goes).collect();
            for whole in gone {
                self.drop_whole(whole);
            }
        }
        let tables = from.tables.iter().map(|table| &table.name);
        let gone = tables.filter(|name| self.to.table(&name.key()).is_none());
        for name in gone.collect::<Vec<_>>() {
            self.drop_table(name);
        }
        let goes = |index: &&Index| self.index_goes(index);
        for index in from.indexes.iter().filter(goes).collect::<Vec<_>>() {
            let sql = format!("DROP INDEX {}", self.printer.name(&index.name));
            self.drop_destructively(sql, ObjectKind::Index, index.name.text.clone());
        }
        for change in changes {
            self.drop_columns(change);
        }
    }

    /// Recreates what a rebuild dropped on a table, unless recreated otherwise.
    pub(super) fn again_on(&mut self, table: &str) {
        let (from, to) = (self.from, self.to);
        for before in from.indexes_on(table) {
            let after = to.index(&before.name.key());
            let sql = match after {
                Some(after) if after.is_same(before) => after.text.clone(),
                None if !self.is_index_renamed(before) => self.printer.index(before),
                _ => continue,
            };
            self.push(
                sql,
                Verb::Rebuild,
                ObjectKind::Index,
                before.name.text.clone(),
            );
        }
        for before in from.wholes_on(table) {
            let after = to.whole(before.kind, &before.name.key());
            let sql = match after {
                Some(after) if !self.is_changed(before, after) => after.text.clone(),
                None if !self.is_whole_renamed(before) => before.text.clone(),
                _ => continue,
            };
            self.push(
                sql,
                Verb::Rebuild,
                before.kind.object_kind(),
                before.name.text.clone(),
            );
        }
    }

    /// Recreates unwanted triggers, dropped by the server with a replaced view although nobody
    /// allowed so; the drops stand at the end. `made` is the new view's statement.
    pub(super) fn unwanted_again(&mut self, before: &Whole, after: &Whole, made: usize) {
        let (from, old) = (self.from, before.name.key());
        let lost = from.wholes_on(&old).filter(|trigger| self.goes(trigger));
        for trigger in lost.collect::<Vec<_>>() {
            let text = match before.name.is(&after.name.text) {
                true => trigger.text.clone(),
                false => on_view(&trigger.text, &after.name),
            };
            let (kind, name) = (trigger.kind.object_kind(), trigger.name.text.clone());
            let again = self.push(text, Verb::Rebuild, kind, name);
            self.statements[again].needs.push(made);
        }
    }

    /// Drops an object whose name a new one needs, and returns the index of the drop.
    pub(super) fn drop_namesake(&mut self, key: &str) -> Option<usize> {
        let from = self.from;
        let table = from.table(key).filter(|_| self.to.table(key).is_none());
        if let Some(table) = table {
            return Some(self.drop_table(&table.name));
        }
        let mut wholes = from.wholes.iter();
        let whole = wholes.find(|whole| {
            whole.kind != WholeKind::Trigger && whole.name.is(key) && self.goes(whole)
        })?;
        Some(self.drop_whole(whole))
    }

    fn goes(&self, whole: &Whole) -> bool {
        let is_with_table = whole
            .table
            .as_ref()
            .is_some_and(|table| self.is_gone(table));
        self.to.whole(whole.kind, &whole.name.key()).is_none()
            && !self.is_whole_renamed(whole)
            && !is_with_table
    }

    /// Whether a table or view is dropped, with all dependents.
    fn is_gone(&self, table: &Name) -> bool {
        let key = table.key();
        let view = self.from.whole(WholeKind::View, &key);
        self.to.table(&key).is_none()
            && self.to.whole(WholeKind::View, &key).is_none()
            && self.to.whole(WholeKind::Virtual, &key).is_none()
            && !view.is_some_and(|view| self.is_whole_renamed(view))
    }

    fn index_goes(&self, index: &Index) -> bool {
        self.to.index(&index.name.key()).is_none()
            && !self.is_index_renamed(index)
            && !self.is_gone(&index.table)
    }

    /// Whether the wanted schema has the index under another name.
    fn is_index_renamed(&self, index: &Index) -> bool {
        let old = &index.name.text;
        self.to.indexes.iter().any(|each| {
            let from = each.renamed_from.as_ref();
            from.is_some_and(|from| from.eq_ignore_ascii_case(old))
                && self.from.index(&each.name.key()).is_none()
        })
    }

    fn is_whole_renamed(&self, whole: &Whole) -> bool {
        let old = &whole.name.text;
        self.to.wholes.iter().any(|each| {
            let from = each.renamed_from.as_ref();
            each.kind == whole.kind
                && from.is_some_and(|from| from.eq_ignore_ascii_case(old))
                && self.from.whole(each.kind, &each.name.key()).is_none()
        })
    }

    fn drop_of(&self, kind: ObjectKind, name: &str) -> Option<usize> {
        self.statements.iter().position(|statement| {
            statement.is_destructive()
                && statement.object.kind == kind
                && statement.object.name == name
        })
    }

    fn drop_whole(&mut self, whole: &Whole) -> usize {
        let kind = whole.kind.object_kind();
        if let Some(done) = self.drop_of(kind, &whole.name.text) {
            return done;
        }
        let dropped = self.drop_to_replace(whole);
        match whole.kind {
            WholeKind::Virtual => self.mark_lost(dropped, &whole.name),
            _ => self.mark_dropped(dropped),
        }
        dropped
    }

    fn drop_table(&mut self, name: &Name) -> usize {
        if let Some(done) = self.drop_of(ObjectKind::Table, &name.text) {
            return done;
        }
        let sql = format!("DROP TABLE {}", self.printer.name(name));
        let dropped = self.push(sql, Verb::Drop, ObjectKind::Table, name.text.clone());
        self.mark_lost(dropped, name);
        dropped
    }

    fn drop_destructively(&mut self, sql: String, kind: ObjectKind, name: String) {
        let dropped = self.push(sql, Verb::Drop, kind, name);
        self.mark_dropped(dropped);
    }

    fn mark_dropped(&mut self, at: usize) {
        let statement = &mut self.statements[at];
        let what = format!("{} {}", statement.object.kind, statement.object.name);
        statement.hazards.push(Hazard::Drop(what));
        statement.verb = Verb::Drop;
    }

    /// A statement after which the rows of a table are gone.
    pub(super) fn mark_lost(&mut self, at: usize, table: &Name) {
        let statement = &mut self.statements[at];
        let what = format!("the rows of {}", table.text);
        statement.hazards.push(Hazard::DataLoss(what));
        statement.verb = Verb::Drop;
    }

    fn drop_columns(&mut self, change: &TableDiff<'a>) {
        let table = &change.to.name;
        let mut earlier: Vec<usize> = Vec::new();
        for column in &change.dropped {
            let in_the_way = self.naming(table, &column.name);
            let rebuilt = self.lossy_rebuild(&table.key());
            let sql = format!(
                "ALTER TABLE {} DROP COLUMN {}",
                self.printer.name(table),
                self.printer.name(&column.name)
            );
            let name = format!("{}.{}", table.text, column.name.text);
            let dropped = self.push(sql, Verb::Drop, ObjectKind::Column, name.clone());
            let statement = &mut self.statements[dropped];
            statement.hazards = vec![
                Hazard::DataLoss(format!("the values of {name}")),
                Hazard::Rewrite(format!("table {} is written anew", table.text)),
                hazards::EXCLUSIVE,
            ];
            statement.needs = in_the_way;
            statement.needs.extend(rebuilt);
            let needing = change.dropped.iter().zip(&earlier);
            let needing = needing.filter(|(other, _)| crate::sqlite::diff::needs(other, column));
            statement.needs.extend(needing.map(|(_, at)| *at));
            earlier.push(dropped);
        }
    }

    /// Drops of indexes, views and triggers naming a column: SQLite refuses to drop the column
    /// before.
    fn naming(&self, table: &Name, column: &Name) -> Vec<usize> {
        let (table_piece, piece) = (piece_of_name(&table.text), piece_of_name(&column.text));
        let mut found = Vec::new();
        for index in self
            .from
            .indexes
            .iter()
            .filter(|index| index.table.is(&table.text))
        {
            let condition = index.condition.as_ref().map(|(pieces, _)| pieces);
            let mut all = index
                .columns
                .iter()
                .map(|each| &each.pieces)
                .chain(condition);
            if all.any(|pieces| pieces.contains(&piece)) {
                found.extend(self.drop_of(ObjectKind::Index, &index.name.text));
            }
        }
        for whole in &self.from.wholes {
            let is_on = whole
                .table
                .as_ref()
                .is_some_and(|each| each.is(&table.text));
            let names_table = is_on || whole.pieces.contains(&table_piece);
            if names_table && whole.pieces.contains(&piece) {
                found.extend(self.drop_of(whole.kind.object_kind(), &whole.name.text));
            }
        }
        found
    }
}

/// The text of a trigger, on another view.
fn on_view(text: &str, view: &Name) -> String {
    let tokens = lex(text).tokens;
    // No name before it can be this word without quotes.
    let on = tokens.iter().position(|token| token.is_word(text, "on"));
    let name = on.map(|on| match tokens.get(on + 2) {
        Some(dot) if dot.is_sign(text, ".") => on + 3,
        _ => on + 1,
    });
    let Some(name) = name.and_then(|name| tokens.get(name)) else {
        return text.to_owned();
    };
    let (head, rest) = (&text[..name.start()], &text[name.end()..]);
    format!("{head}{}{rest}", quoted(&view.text))
}
