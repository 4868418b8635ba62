//! What an outline such as `schema.rb` cannot say of tables stays unchanged.

use std::collections::HashMap;

use super::Schema;

impl Schema {
    /// See [`crate::Schema::take_order`].
    pub(crate) fn take_order(&mut self, from: &Schema) {
        for table in &mut self.tables {
            let name = table.renamed_from.as_ref().unwrap_or(&table.name.text);
            let Some(before) = from.table(name).or_else(|| from.table(&table.name.text)) else {
                continue;
            };
            let places = before.columns.iter().enumerate();
            let places: HashMap<String, usize> = places
                .map(|(place, column)| (column.name.text.to_lowercase(), place))
                .collect();
            table.columns.sort_by_key(|column| {
                let name = column.renamed_from.as_ref().unwrap_or(&column.name.text);
                let place = places.get(&name.to_lowercase());
                place.copied().unwrap_or(usize::MAX)
            });
        }
    }

    /// See [`crate::Schema::take_unsaid`].
    pub(crate) fn take_unsaid(&mut self, from: &Schema) {
        for table in &mut self.tables {
            let name = table.renamed_from.as_ref().unwrap_or(&table.name.text);
            let before = from.table(name).or_else(|| from.table(&table.name.text));
            if let Some(before) = before.filter(|_| table.partitioning.is_none()) {
                table.partitioning.clone_from(&before.partitioning);
            }
        }
    }
}
