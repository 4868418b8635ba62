//! Kinds of databases: by the scheme of an address, the description of a server, and the names of
//! server processes.
//!
//! The one place that knows which words mean which database; whoever connects to one keeps its own
//! connection. Pure.

/// A kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// MySQL or MariaDB.
    Mysql,
    /// PostgreSQL.
    Postgres,
    /// SQLite, a file without a server.
    Sqlite,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Mysql, Kind::Postgres, Kind::Sqlite];

    /// Returns the kind of a scheme, such as `mysql2`; `None` for any other.
    pub fn of_scheme(scheme: &str) -> Option<Kind> {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.schemes().contains(&scheme))
    }

    /// Returns the kind of an address, such as `mysql2://…` or `sqlite:path`, and what follows the
    /// colon; `None` for any other.
    pub fn of_address(address: &str) -> Option<(Kind, &str)> {
        let (scheme, rest) = address.split_once(':')?;
        Some((Kind::of_scheme(scheme)?, rest))
    }

    /// Returns the kind of a server by the server's description, such as `PostgreSQL 15.1` or
    /// `10.11.6-MariaDB`, or by [`Kind::name`].
    pub fn of_description(description: &str) -> Option<Kind> {
        let description = description.to_ascii_lowercase();
        let words = |kind: &Kind| match kind {
            Kind::Mysql => ["mysql", "maria"].as_slice(),
            Kind::Postgres => &["postgres"],
            Kind::Sqlite => &["sqlite"],
        };
        let is_in = |word: &&str| description.contains(*word);
        Kind::ALL
            .into_iter()
            .find(|kind| words(kind).iter().any(is_in))
    }

    /// Returns the schemes of addresses of the kind, with the schemes of client libraries.
    pub fn schemes(self) -> &'static [&'static str] {
        match self {
            Kind::Mysql => &["mysql", "mysql2", "mariadb", "trilogy"],
            Kind::Postgres => &["postgres", "postgresql"],
            Kind::Sqlite => &["sqlite", "sqlite3"],
        }
    }

    /// Returns the kind's name in recordings and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Mysql => "mysql",
            Kind::Postgres => "postgresql",
            Kind::Sqlite => "sqlite",
        }
    }

    /// Returns the names of the server's processes.
    pub fn processes(self) -> &'static [&'static str] {
        match self {
            Kind::Mysql => &["mariadbd", "mysqld"],
            Kind::Postgres => &["postgres"],
            Kind::Sqlite => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_kind_of_its_scheme() {
        let check = |address: &str, expected: Option<(Kind, &str)>| {
            assert_eq!(Kind::of_address(address), expected, "{address}");
        };
        check("mysql2://a@b/c", Some((Kind::Mysql, "//a@b/c")));
        check("trilogy://b/c", Some((Kind::Mysql, "//b/c")));
        check("postgresql:///c", Some((Kind::Postgres, "///c")));
        check("sqlite:db/app.db", Some((Kind::Sqlite, "db/app.db")));
        check("postgres", None);
        check("Mysql://b/c", None);
        check("redis://b", None);
        check("", None);
    }

    #[test]
    fn a_description_and_a_name_have_their_kind() {
        let check = |description: &str, expected: Option<Kind>| {
            assert_eq!(Kind::of_description(description), expected, "{description}");
        };
        check("PostgreSQL 15.1", Some(Kind::Postgres));
        check("mariadb 10.11", Some(Kind::Mysql));
        check("MySQL 9.1.0", Some(Kind::Mysql));
        check("sqlite 3.46.0", Some(Kind::Sqlite));
        check("oracle", None);
        check("", None);
        for kind in Kind::ALL {
            check(kind.name(), Some(kind));
            for scheme in kind.schemes() {
                assert_eq!(Kind::of_scheme(scheme), Some(kind));
            }
        }
    }
}
