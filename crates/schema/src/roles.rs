//! Roles and users, which belong to the whole server: part of a schema for the named ones only.
//!
//! [`take`] cuts the statements about named roles out of texts, so that the readers of the dialects
//! never meet them, and folds them into facts (`fact`); [`Roles::plan`] compares facts (`diff`) and
//! spells statements (`spell`). A fact is absent while the server's default holds. Roles are
//! created and altered, never dropped; passwords are not compared.

mod diff;
mod fact;
mod spell;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::{Object, Product, Server, Source, Version};

pub(crate) use fact::{Fact, LIMITS, RIGHTS};

/// First PostgreSQL with options of a membership other than `ADMIN`.
const WITH_OPTIONS: Version = Version(16, 0, 0);

/// What the spelling of roles depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Flavour {
    #[default]
    Postgres,
    /// PostgreSQL with options of memberships.
    NewPostgres,
    Mysql,
    MariaDb,
}

/// A role or user.
#[derive(Clone, Debug, Default)]
struct Role {
    /// Whether the statement is `CREATE USER`, not `CREATE ROLE` (MySQL and MariaDB).
    is_user: bool,
    /// How the role logs in, as written: used only where the role is created.
    login: Option<String>,
    facts: BTreeMap<Fact, String>,
}

/// Roles by name, as spelled in statements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roles {
    flavour: Flavour,
    by_name: BTreeMap<String, Role>,
}

/// What a statement does to one role.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) role: String,
    pub(crate) what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    /// The role is created.
    Create {
        is_user: bool,
        login: Option<String>,
    },
    /// A fact holds; `None` is the default again.
    Set(Fact, Option<String>),
}

/// A statement about roles, by byte offsets.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) changes: Vec<Change>,
}

/// Cuts the statements about named roles out of texts; the rest keeps lines and columns. A role
/// not created by the texts stays, since a text without a role changes none.
pub(crate) fn take(sources: &[Source], server: &Server, names: &[String]) -> (Vec<Source>, Roles) {
    let mut sources = sources.to_vec();
    let mut roles = Roles {
        flavour: Flavour::of(server),
        ..Roles::default()
    };
    if names.is_empty() {
        return (sources, roles);
    }
    let found: Vec<Vec<Found>> = sources
        .iter()
        .map(|source| match server.product {
            Product::Postgres => crate::postgres::role_changes(&source.text),
            Product::Mysql | Product::MariaDb => crate::mysql::role_changes(&source.text, server),
            Product::Sqlite => Vec::new(),
        })
        .collect();
    for change in found.iter().flatten().flat_map(|found| &found.changes) {
        let is_named = || names.iter().any(|name| is_called(&change.role, name));
        if matches!(change.what, What::Create { .. }) && is_named() {
            roles.by_name.entry(change.role.clone()).or_default();
        }
    }
    for (source, found) in sources.iter_mut().zip(found) {
        for Found {
            start,
            end,
            changes,
        } in found
        {
            let mut is_taken = true;
            for change in changes {
                match roles.by_name.get_mut(&change.role) {
                    Some(role) => role.apply(change.what),
                    None => is_taken = false,
                }
            }
            if is_taken {
                blank(&mut source.text, start, end);
            }
        }
    }
    roles.state_inheritance();
    (sources, roles)
}

/// Whether a role is called so: `user` or `user@host`.
fn is_called(role: &str, name: &str) -> bool {
    let plain = shown(role);
    plain == name || role.starts_with('`') && plain.split('@').next() == Some(name)
}

/// The name without quotes.
fn shown(role: &str) -> String {
    role.replace(['`', '"'], "")
}

/// Replaces a part of a text by spaces, except ends of lines.
fn blank(text: &mut String, start: usize, end: usize) {
    let spaces = text[start..end].bytes();
    let spaces = spaces.map(|byte| if byte == b'\n' { '\n' } else { ' ' });
    let spaces: String = spaces.collect();
    text.replace_range(start..end, &spaces);
}

impl Flavour {
    fn of(server: &Server) -> Flavour {
        let is_new = server.version.is_none_or(|version| version >= WITH_OPTIONS);
        match server.product {
            Product::Mysql => Flavour::Mysql,
            Product::MariaDb => Flavour::MariaDb,
            Product::Postgres | Product::Sqlite if is_new => Flavour::NewPostgres,
            Product::Postgres | Product::Sqlite => Flavour::Postgres,
        }
    }

    fn is_postgres(self) -> bool {
        matches!(self, Flavour::Postgres | Flavour::NewPostgres)
    }
}

impl Role {
    fn apply(&mut self, what: What) {
        match what {
            What::Create { is_user, login } => {
                self.is_user = is_user;
                self.login = login;
            }
            What::Set(fact, Some(value)) => {
                self.facts.insert(fact, value);
            }
            What::Set(fact, None) => {
                self.facts.remove(&fact);
                if let Fact::Membership(of) = &fact {
                    self.facts.retain(|known, _| !known.is_option_of(of));
                }
            }
        }
    }

    /// The roles with the role as a member.
    fn memberships(&self) -> Vec<String> {
        let of = |fact: &Fact| match fact {
            Fact::Membership(of) => Some(of.clone()),
            _ => None,
        };
        self.facts.keys().filter_map(of).collect()
    }
}

impl Roles {
    /// Sets the option `INHERIT` of each membership, by default as the role inherits.
    fn state_inheritance(&mut self) {
        for role in self.by_name.values_mut() {
            let inherits = !role.facts.contains_key(&Fact::Attribute("NOINHERIT"));
            for of in role.memberships() {
                let option = Fact::Option(of, "INHERIT");
                if self.flavour == Flavour::NewPostgres {
                    let known = role.facts.entry(option);
                    known.or_insert_with(|| inherits.to_string());
                } else {
                    role.facts.remove(&option);
                }
            }
        }
    }

    /// Removes the passwords, known to a server and not for a text: created from an export, a user
    /// has a password known to nobody.
    pub(crate) fn forget_logins(&mut self) {
        let closed = match self.flavour {
            Flavour::Mysql => Some("IDENTIFIED BY RANDOM PASSWORD"),
            Flavour::MariaDb => Some("IDENTIFIED VIA mysql_native_password USING 'invalid'"),
            Flavour::Postgres | Flavour::NewPostgres => None,
        };
        for role in self.by_name.values_mut() {
            role.login = closed.filter(|_| role.is_user).map(str::to_owned);
        }
    }

    /// Retains the roles for which `keep` returns `true`.
    pub(crate) fn retain(&mut self, keep: &dyn Fn(&Object) -> bool) {
        self.by_name.retain(|name, _| {
            keep(&Object {
                kind: "role",
                name: shown(name),
            })
        });
    }

    /// Statements creating the roles on a server without them.
    pub(crate) fn statements(&self) -> Vec<String> {
        let roles = self.by_name.iter();
        let creates = roles.map(|(name, role)| spell::create(self.flavour, name, role));
        // A role may be a member of any other.
        let roles = self.by_name.iter();
        let changes = roles.flat_map(|(name, role)| diff::new(self.flavour, name, role));
        creates
            .chain(changes.flatten().map(|change| change.sql))
            .collect()
    }
}
