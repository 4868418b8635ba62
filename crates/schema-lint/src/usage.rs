//! What a server counts about tables and indexes.

use std::collections::HashMap;

/// A table's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableUse {
    /// The server's estimate.
    pub rows: Option<u64>,
    /// Size including indexes.
    pub bytes: Option<u64>,
}

/// An index's size and use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexUse {
    /// On the disk.
    pub bytes: Option<u64>,
    /// Number of reads since counting began.
    pub reads: Option<u64>,
}

/// Sizes and uses, by the names of the outline.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// By table.
    pub tables: HashMap<String, TableUse>,
    /// By table and index.
    pub indexes: HashMap<(String, String), IndexUse>,
    /// Age of the read counters in days; `None` when not available.
    pub days: Option<u64>,
}

impl Usage {
    pub(crate) fn table(&self, name: &str) -> Option<&TableUse> {
        self.tables.get(name)
    }

    pub(crate) fn index(&self, table: &str, index: &str) -> Option<&IndexUse> {
        self.indexes.get(&(table.to_owned(), index.to_owned()))
    }
}
