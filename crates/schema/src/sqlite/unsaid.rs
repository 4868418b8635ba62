//! What an outline such as `schema.rb` cannot say of tables stays unchanged.

use std::collections::HashMap;

use super::Schema;

impl Schema {
    /// See [`crate::Schema::take_unsaid`].
    pub(crate) fn take_unsaid(&mut self, from: &Schema) {
        for table in &mut self.tables {
            let old = table.renamed_from.as_ref();
            let old = old.map(|name| name.to_ascii_lowercase());
            let before = from.table(&table.name.key());
            let Some(before) = before.or_else(|| from.table(&old?)) else {
                continue;
            };
            let is_said = table.is_strict || table.is_without_rowid;
            let is_other = before.is_strict || before.is_without_rowid;
            if is_other && !is_said {
                table.is_strict = before.is_strict;
                table.is_without_rowid = before.is_without_rowid;
                // The text says otherwise.
                table.text = None;
            }
        }
    }

    /// See [`crate::Schema::take_order`].
    pub(crate) fn take_order(&mut self, from: &Schema) {
        for table in &mut self.tables {
            let old = table
                .renamed_from
                .as_ref()
                .map(|name| name.to_ascii_lowercase());
            let before = from.table(&table.name.key());
            let Some(before) = before.or_else(|| from.table(&old?)) else {
                continue;
            };
            let places = before.columns.iter().enumerate();
            let places: HashMap<String, usize> = places
                .map(|(place, column)| (column.name.key(), place))
                .collect();
            table.columns.sort_by_key(|column| {
                let old = column
                    .renamed_from
                    .as_ref()
                    .map(|name| name.to_ascii_lowercase());
                let name = old.unwrap_or_else(|| column.name.key());
                places.get(&name).copied().unwrap_or(usize::MAX)
            });
        }
    }
}
