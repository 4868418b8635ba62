//! Positions of objects by name: a search per object would take quadratic time.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Schema;
use super::model::{Index, Whole, WholeKind};

/// Places by name; found out when first asked for, and forgotten when the schema changes.
#[derive(Debug, Default)]
pub(super) struct Finder(OnceLock<Places>);

/// An empty finder for the copy, which may be changed before the first search.
impl Clone for Finder {
    fn clone(&self) -> Finder {
        Finder::default()
    }
}

#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) tables: HashMap<String, usize>,
    pub(super) indexes: HashMap<String, usize>,
    pub(super) wholes: HashMap<(WholeKind, String), usize>,
    /// What is on a table, by the table's name.
    pub(super) indexes_on: HashMap<String, Vec<usize>>,
    pub(super) wholes_on: HashMap<String, Vec<usize>>,
}

impl Schema {
    pub(super) fn places(&self) -> &Places {
        self.finder.0.get_or_init(|| {
            let mut places = Places::default();
            // Of two with one name the first counts.
            for (place, table) in self.tables.iter().enumerate() {
                places.tables.entry(table.name.key()).or_insert(place);
            }
            for (place, index) in self.indexes.iter().enumerate() {
                places.indexes.entry(index.name.key()).or_insert(place);
                let on = places.indexes_on.entry(index.table.key());
                on.or_default().push(place);
            }
            for (place, whole) in self.wholes.iter().enumerate() {
                let key = (whole.kind, whole.name.key());
                places.wholes.entry(key).or_insert(place);
                if let Some(table) = &whole.table {
                    let on = places.wholes_on.entry(table.key());
                    on.or_default().push(place);
                }
            }
            places
        })
    }

    /// The indexes of a table, in the schema's order.
    pub(super) fn indexes_on(&self, table: &str) -> impl Iterator<Item = &Index> {
        let places = self.places().indexes_on.get(table);
        places
            .into_iter()
            .flatten()
            .filter_map(|place| self.indexes.get(*place))
    }

    /// Views and triggers on a table, in the schema's order.
    pub(super) fn wholes_on(&self, table: &str) -> impl Iterator<Item = &Whole> {
        let places = self.places().wholes_on.get(table);
        places
            .into_iter()
            .flatten()
            .filter_map(|place| self.wholes.get(*place))
    }

    /// Names have changed.
    pub(super) fn forget_places(&mut self) {
        self.finder = Finder::default();
    }
}
