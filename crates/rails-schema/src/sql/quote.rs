//! Names and strings in each server's spelling.

use schema::{Dialect, Product, Server};

/// How a server spells things.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spelling {
    pub(crate) product: Product,
    pub(crate) dialect: Dialect,
}

impl Spelling {
    pub(crate) fn of(server: &Server) -> Spelling {
        Spelling {
            product: server.product,
            dialect: server.dialect(),
        }
    }

    pub(crate) fn is_mysql(self) -> bool {
        self.dialect == Dialect::Mysql
    }

    pub(crate) fn is_postgres(self) -> bool {
        self.dialect == Dialect::Postgres
    }

    pub(crate) fn is_sqlite(self) -> bool {
        self.dialect == Dialect::Sqlite
    }

    /// A column's, index's or constraint's name.
    pub(crate) fn name(self, name: &str) -> String {
        let mark = if self.is_mysql() { '`' } else { '"' };
        format!(
            "{mark}{}{mark}",
            name.replace(mark, &format!("{mark}{mark}"))
        )
    }

    /// Quotes a table's name, with an optional schema.
    pub(crate) fn table(self, name: &str) -> String {
        let parts: Vec<String> = name.split('.').map(|part| self.name(part)).collect();
        parts.join(".")
    }

    pub(crate) fn names(self, names: &[String]) -> String {
        let names: Vec<String> = names.iter().map(|name| self.name(name)).collect();
        names.join(", ")
    }

    pub(crate) fn text(self, text: &str) -> String {
        let text = text.replace('\'', "''");
        match self.is_mysql() {
            true => format!("'{}'", text.replace('\\', "\\\\")),
            false => format!("'{text}'"),
        }
    }
}
