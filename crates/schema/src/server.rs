//! The server of a schema, as far as the schema's meaning depends on one.

/// A family of servers sharing one SQL dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// MySQL and MariaDB.
    Mysql,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
}

/// A server program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// MySQL.
    Mysql,
    /// MariaDB.
    MariaDb,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
}

/// Major, minor and patch number, ordered; 0 for a missing part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u32, pub u32, pub u32);

/// A server, or the one assumed when none is at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The program.
    pub product: Product,
    /// `None` when no server was asked: then the newest supported one is assumed, and what any
    /// version would store alike compares equal.
    pub version: Option<Version>,
    /// Default character set of the database (MySQL).
    pub charset: Option<String>,
    /// Default collation of the database (MySQL), or `LC_COLLATE` (PostgreSQL).
    pub collation: Option<String>,
    /// `lower_case_table_names` is not 0 (MySQL).
    pub lower_case_tables: bool,
    /// Schema of unqualified names (PostgreSQL); `public` when unknown.
    pub default_schema: Option<String>,
    /// The database's own name (MySQL): `name.table` is then the same as `table`.
    pub database: Option<String>,
    /// Owner of objects without a stated owner: the connected role (PostgreSQL).
    pub role: Option<String>,
}

impl Server {
    /// A server of which nothing but the program is known.
    pub fn unknown(product: Product) -> Server {
        Server {
            product,
            version: None,
            charset: None,
            collation: None,
            lower_case_tables: false,
            default_schema: None,
            database: None,
            role: None,
        }
    }

    /// SQL dialect of the server.
    pub fn dialect(&self) -> Dialect {
        match self.product {
            Product::Mysql | Product::MariaDb => Dialect::Mysql,
            Product::Postgres => Dialect::Postgres,
            Product::Sqlite => Dialect::Sqlite,
        }
    }
}
