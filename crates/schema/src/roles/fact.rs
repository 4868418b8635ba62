//! Facts about a role, and whether a change of one gives or takes.

/// What may be true of a role. The order is the one in which facts are made
/// true.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fact {
    /// An attribute by words, such as `LOGIN`, `NOINHERIT` or `CONNECTION LIMIT`.
    Attribute(&'static str),
    /// A privilege on the whole server (MySQL and MariaDB).
    Privilege(String),
    /// Membership in a role.
    Membership(String),
    /// An option of a membership: `ADMIN`, `INHERIT` or `SET`.
    Option(String, &'static str),
    /// Roles active after a login (MySQL and MariaDB).
    DefaultRole,
    /// A setting with which sessions begin, perhaps in one database only (PostgreSQL).
    Setting {
        /// Spelled as in statements.
        database: Option<String>,
        name: String,
    },
    /// The comment (PostgreSQL).
    Comment,
}

/// Which way a change turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The role may do more, as the text says.
    Gives,
    /// The role may do more, because a bar is missing from the text.
    Opens,
    /// The role may do less.
    Takes,
    /// Neither.
    Aside,
}

/// Attributes giving a right.
pub(crate) const RIGHTS: [&str; 6] = [
    "SUPERUSER",
    "CREATEDB",
    "CREATEROLE",
    "LOGIN",
    "REPLICATION",
    "BYPASSRLS",
];

/// Attributes with a number as an upper limit; absent, there is none.
pub(crate) const LIMITS: [&str; 6] = [
    "CONNECTION LIMIT",
    "MAX_STATEMENT_TIME",
    "MAX_QUERIES_PER_HOUR",
    "MAX_UPDATES_PER_HOUR",
    "MAX_CONNECTIONS_PER_HOUR",
    "MAX_USER_CONNECTIONS",
];

/// Value of [`Fact::DefaultRole`] for all memberships.
pub(crate) const ALL: &str = "ALL";

/// All privileges as one, in [`Fact::Privilege`].
pub(crate) const EVERY: &str = "ALL PRIVILEGES";

/// The right to pass privileges on, in [`Fact::Privilege`].
pub(crate) const PASSING: &str = "GRANT OPTION";

impl Fact {
    pub(super) fn is_option_of(&self, membership: &str) -> bool {
        matches!(self, Fact::Option(of, _) if of == membership)
    }

    /// What a change from one value to another means; `None` is the default.
    pub(super) fn turn(&self, before: Option<&str>, after: Option<&str>) -> Turn {
        let by_presence = |after: Option<&str>| match after {
            Some(_) => Turn::Gives,
            None => Turn::Takes,
        };
        match self {
            Fact::Attribute(name) if RIGHTS.contains(name) => by_presence(after),
            Fact::Privilege(_) | Fact::Membership(_) => by_presence(after),
            Fact::Option(_, "ADMIN") => by_presence(after),
            Fact::Option(..) => match after {
                Some("false") => Turn::Takes,
                // The text states `TRUE`, or lacks `FALSE`: not known which.
                Some(_) | None => Turn::Opens,
            },
            Fact::Attribute(name) => bar(name, before, after),
            Fact::Setting { .. } | Fact::DefaultRole if after.is_none() => Turn::Takes,
            Fact::DefaultRole | Fact::Setting { .. } | Fact::Comment => Turn::Aside,
        }
    }
}

/// Attributes keeping the role from something.
fn bar(name: &str, before: Option<&str>, after: Option<&str>) -> Turn {
    let (Some(before), Some(after)) = (before, after) else {
        return match after {
            Some(_) => Turn::Takes,
            None => Turn::Opens,
        };
    };
    let is_wider = match LIMITS.contains(&name) {
        true => match (before.parse::<f64>(), after.parse::<f64>()) {
            (Ok(before), Ok(after)) => before < after,
            _ => false,
        },
        // Points in time in one spelling; of what encryption a login requires, nothing is known.
        false => name == "VALID UNTIL" && before < after,
    };
    match is_wider {
        true => Turn::Gives,
        false => Turn::Takes,
    }
}
