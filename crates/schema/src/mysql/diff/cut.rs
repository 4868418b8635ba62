//! Indexes which MySQL would cut when the type of a column changes.

use super::{ColumnStep, TableDiff};
use crate::mysql::conversion;
use crate::mysql::model::{Index, Name};

impl TableDiff<'_> {
    /// Recreates, in the statement of the column, all indexes on a column that turns from numbered
    /// values into text. `ALTER TABLE` of MySQL takes the bytes of a value's number for the length
    /// of the index on the new text, so that the index gets a prefix of one or two letters, and a
    /// unique one refuses values that begin alike.
    pub(in crate::mysql) fn recreate_cut(&mut self) {
        let cut = self.columns.iter().filter_map(|step| match step {
            ColumnStep::Change { from, to, .. } => {
                conversion::cuts_indexes(&from.norm, &to.norm).then_some(&to.name)
            }
            ColumnStep::Add(..) | ColumnStep::Remake { .. } => None,
        });
        let cut: Vec<&Name> = cut.collect();
        let is_cut = |index: &Index| {
            let mut parts = index.parts.iter();
            parts.any(|part| cut.iter().any(|name| part.is_of(name)))
        };
        let (from, to) = (self.from, self.to);
        for index in to.indexes.iter().filter(|index| is_cut(index)) {
            if index.is_primary() {
                self.primary = self
                    .primary
                    .or(from.primary().map(|was| (Some(was), Some(index))));
                continue;
            }
            let mut replaced = self.replaced_indexes.iter();
            let is_replaced = replaced.any(|(_, after)| std::ptr::eq(*after, index));
            let Some(before) = from.index(&index.name).filter(|_| !is_replaced) else {
                continue;
            };
            self.replaced_indexes.push((before, index));
            self.renamed_indexes
                .retain(|(_, after)| !std::ptr::eq(*after, index));
            self.hidden_indexes
                .retain(|after| !std::ptr::eq(*after, index));
        }
    }
}
