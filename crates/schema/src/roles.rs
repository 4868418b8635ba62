//! Roles and users, which belong to the whole server: part of a schema for the named ones only.
//!
//! [`take`] cuts the statements about named roles out of texts, so that the readers of the dialects
//! never meet them, and folds them into facts (`fact`); [`Roles::plan`] compares facts (`diff`) and
//! spells statements (`spell`). A fact is absent while the server's default holds. Roles are
//! created and altered, never dropped; passwords are not compared (`login`).

mod diff;
mod fact;
mod login;
mod spell;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::{Product, Server, Source, Version};

pub(crate) use fact::{ALL, EVERY, Fact, LIMITS, PASSING, RIGHTS};
pub(crate) use login::Login;

/// First PostgreSQL with options of a membership other than `ADMIN`.
pub const MEMBERSHIP_OPTIONS: Version = Version(16, 0, 0);

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
    login: Login,
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
    Create { is_user: bool, login: Login },
    /// The login is another.
    Login(Login),
    /// A fact holds; `None` is the default again.
    Set(Fact, Option<String>),
}

/// A statement about roles, by byte offsets.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) changes: Vec<Change>,
    /// Whether something of the statement is not compared: then the statement is noted as well.
    pub(crate) is_noted: bool,
}

/// Cuts the statements about named roles out of texts; the rest keeps lines and columns. A role
/// not created by the texts stays, since a text without a role changes none.
pub(crate) fn take(
    sources: &[Source],
    server: &Server,
    names: &[String],
    read: impl Fn(&str) -> Vec<Found>,
) -> (Vec<Source>, Roles) {
    let mut sources = sources.to_vec();
    let mut roles = Roles {
        flavour: Flavour::of(server),
        ..Roles::default()
    };
    let found: Vec<Vec<Found>> = sources.iter().map(|source| read(&source.text)).collect();
    for change in found.iter().flatten().flat_map(|found| &found.changes) {
        let is_named = || names.iter().any(|name| is_called(&change.role, name));
        if matches!(change.what, What::Create { .. }) && is_named() {
            roles.by_name.entry(change.role.clone()).or_default();
        }
    }
    for (source, found) in sources.iter_mut().zip(found) {
        let taken: Vec<(usize, usize)> = found
            .into_iter()
            .filter_map(|found| {
                let place = (found.start, found.end);
                let is_noted = found.is_noted;
                let is_whole = roles.apply(found.changes);
                (is_whole && !is_noted).then_some(place)
            })
            .collect();
        // From the back, since a letter of several bytes becomes one space.
        for (start, end) in taken.into_iter().rev() {
            blank(&mut source.text, start, end);
        }
    }
    roles.settle();
    (sources, roles)
}

/// Whether a role is called so: `user` or `user@host`.
fn is_called(role: &str, name: &str) -> bool {
    let plain = shown(role);
    if !role.starts_with('`') {
        return plain == name;
    }
    // MariaDB spells an account of every host without one.
    plain == name.trim_end_matches("@%") || plain == name || plain.split('@').next() == Some(name)
}

/// The name without quotes.
fn shown(role: &str) -> String {
    role.replace(['`', '"'], "")
}

/// Replaces each letter of a part of a text by a space, except ends of lines.
fn blank(text: &mut String, start: usize, end: usize) {
    let spaces = text[start..end].chars();
    let spaces = spaces.map(|letter| if letter == '\n' { '\n' } else { ' ' });
    let spaces: String = spaces.collect();
    text.replace_range(start..end, &spaces);
}

impl Flavour {
    fn of(server: &Server) -> Flavour {
        let is_new = server
            .version
            .is_none_or(|version| version >= MEMBERSHIP_OPTIONS);
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
            What::Login(login) => self.login.take(login),
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

    fn has_all_privileges(&self) -> bool {
        let all = Fact::Privilege(EVERY.to_owned());
        self.facts.contains_key(&all)
    }
}

impl Roles {
    /// Applies the changes of taken roles; returns whether there were no others.
    fn apply(&mut self, changes: Vec<Change>) -> bool {
        let mut is_whole = true;
        for change in changes {
            match self.by_name.get_mut(&change.role) {
                Some(role) => role.apply(change.what),
                None => is_whole = false,
            }
        }
        is_whole
    }

    /// Writes out what follows from other facts: whether a membership inherits, by default as the
    /// role does, and the roles of `DEFAULT ROLE ALL`.
    fn settle(&mut self) {
        let has_options = self.flavour == Flavour::NewPostgres;
        for role in self.by_name.values_mut() {
            let memberships = role.memberships();
            let default = role.facts.get(&Fact::DefaultRole);
            if default.is_some_and(|roles| roles == ALL) {
                let all = (!memberships.is_empty()).then(|| memberships.join(", "));
                role.apply(What::Set(Fact::DefaultRole, all));
            }
            let inherits = !role.facts.contains_key(&Fact::Attribute("NOINHERIT"));
            for of in memberships {
                let option = Fact::Option(of, "INHERIT");
                if has_options {
                    let known = role.facts.entry(option);
                    known.or_insert_with(|| inherits.to_string());
                } else {
                    role.facts.remove(&option);
                }
            }
        }
    }

    /// Removes passwords, which no text should hold.
    pub(crate) fn forget_logins(&mut self) {
        for role in self.by_name.values_mut() {
            role.login.forget(self.flavour, role.is_user);
        }
    }

    /// Removes the passwords of roles in another schema: only a creation needs one.
    pub(crate) fn forget_logins_of(&mut self, known: &Roles) {
        for (name, role) in &mut self.by_name {
            if known.by_name.contains_key(name) {
                role.login.forget(self.flavour, role.is_user);
            }
        }
    }

    /// Statements creating the roles on a server without roles.
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
