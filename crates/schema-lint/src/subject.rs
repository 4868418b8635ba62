//! What rules look at.

use schema::outline::{Column, Index, Outline, Table};
use schema::{Dialect, Server};

use crate::Usage;

/// A schema on a server, or intended for one.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The schema.
    pub outline: &'a Outline,
    /// Server of the schema, or assumed for reading.
    pub server: &'a Server,
    /// What the server counts; empty for texts.
    pub usage: &'a Usage,
}

impl<'a> Subject<'a> {
    pub(crate) fn is_postgres(&self) -> bool {
        self.server.dialect() == Dialect::Postgres
    }

    pub(crate) fn is_mysql(&self) -> bool {
        self.server.dialect() == Dialect::Mysql
    }

    /// Tables with an own definition, so without partitions.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &'a Table> {
        self.outline
            .tables
            .iter()
            .filter(|table| !table.is_partition)
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = (&'a Table, &'a Column)> {
        self.tables()
            .flat_map(|table| table.columns.iter().map(move |column| (table, column)))
    }

    pub(crate) fn table(&self, name: &str) -> Option<&'a Table> {
        self.outline.tables.iter().find(|table| table.name == name)
    }

    /// ` (12 MB)`, where the server says a size.
    pub(crate) fn index_size(&self, table: &Table, index: &Index) -> String {
        let found = self.usage.index(&table.name, &index.name);
        match found.and_then(|found| found.bytes) {
            Some(bytes) => format!(" ({})", size(bytes)),
            None => String::new(),
        }
    }

    /// ` (1,200 rows)`, where the server has an estimate.
    pub(crate) fn rows(&self, table: &Table) -> String {
        match self.usage.table(&table.name).and_then(|found| found.rows) {
            Some(rows) => format!(" (about {rows} rows)"),
            None => String::new(),
        }
    }
}

/// Formats bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut unit = 0;
    let mut whole = bytes.div_ceil(1024);
    while whole >= 10_240 && unit + 1 < UNITS.len() {
        whole = whole.div_ceil(1024);
        unit += 1;
    }
    format!("{whole} {}", UNITS[unit])
}

/// Leading columns usable for a search: up to the first expression, and none of a partial index.
pub(crate) fn leading(index: &Index) -> Vec<&str> {
    if index.predicate.is_some() || !index.method.is_empty() || index.is_invisible {
        return Vec::new();
    }
    let items = index.items.iter().map_while(|item| item.column.as_deref());
    items.collect()
}

/// Whether the first columns are the given ones, in any order.
pub(crate) fn covers(columns: &[&str], wanted: &[String]) -> bool {
    columns.len() >= wanted.len()
        && columns[..wanted.len()]
            .iter()
            .all(|column| wanted.iter().any(|name| name == column))
}
