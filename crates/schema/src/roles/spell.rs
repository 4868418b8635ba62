//! Statements creating a role or making a fact true.

use super::fact::{LIMITS, PASSING, RIGHTS};
use super::{Fact, Flavour, Login, Role};

/// Attributes before and behind the limits in `CREATE`.
const ORDER: [&str; 2] = ["REQUIRE", "ACCOUNT"];

/// The statement creating a role with the attributes.
pub(super) fn create(flavour: Flavour, name: &str, role: &Role) -> String {
    let what = match role.is_user {
        true => "USER",
        false => "ROLE",
    };
    let mut words = vec![format!("CREATE {what} {name}")];
    let attributes = |wanted: &dyn Fn(&str) -> bool| {
        let facts = role.facts.iter().filter_map(|(fact, value)| match fact {
            Fact::Attribute(name) if wanted(name) => Some(attribute(name, value)),
            _ => None,
        });
        facts.collect::<Vec<String>>()
    };
    let Login { way, rules, .. } = &role.login;
    if flavour.is_postgres() {
        words.extend(attributes(&|_| true));
        words.push(way.clone());
        return joined(words);
    }
    // MySQL has the way of the login first, and rules for passwords behind all others.
    words.push(way.clone());
    words.extend(attributes(&|name| name == ORDER[0]));
    let limits = attributes(&|name| LIMITS.contains(&name));
    if !limits.is_empty() {
        words.push(format!("WITH {}", limits.join(" ")));
    }
    words.extend(attributes(&|name| name == ORDER[1]));
    words.push(rules.clone());
    joined(words)
}

/// Words with a space between, except empty ones.
fn joined(words: Vec<String>) -> String {
    let words = words.into_iter().filter(|word| !word.is_empty());
    words.collect::<Vec<String>>().join(" ")
}

/// Whether [`create`] states the fact.
pub(super) fn is_created(fact: &Fact) -> bool {
    matches!(fact, Fact::Attribute(_))
}

fn attribute(name: &str, value: &str) -> String {
    match name {
        "VALID UNTIL" => format!("{name} '{value}'"),
        name if LIMITS.contains(&name) || ORDER.contains(&name) => format!("{name} {value}"),
        name => name.to_owned(),
    }
}

/// The statement giving the fact the value of the role; the default for an absent one.
pub(super) fn make(flavour: Flavour, name: &str, role: &Role, fact: &Fact) -> String {
    let value = role.facts.get(fact).map(String::as_str);
    match fact {
        Fact::Attribute(attribute) => {
            let what = match flavour.is_postgres() {
                true => "ROLE",
                false => "USER",
            };
            format!("ALTER {what} {name} {}", altered(attribute, value))
        }
        Fact::Privilege(privilege) => global(name, role, privilege, value.is_some()),
        Fact::Membership(of) => match value {
            Some(_) => format!("GRANT {of} TO {name}{}", options(flavour, role, of)),
            None => format!("REVOKE {of} FROM {name}"),
        },
        Fact::Option(of, option) => match (*option, value) {
            ("ADMIN", Some(_)) => format!("GRANT {of} TO {name} WITH ADMIN OPTION"),
            ("ADMIN", None) if flavour == Flavour::Mysql => format!("REVOKE {of} FROM {name}"),
            ("ADMIN", None) => format!("REVOKE ADMIN OPTION FOR {of} FROM {name}"),
            (option, value) => {
                let value = value.unwrap_or("true").to_uppercase();
                format!("GRANT {of} TO {name} WITH {option} {value}")
            }
        },
        Fact::DefaultRole => match flavour {
            Flavour::MariaDb => format!("SET DEFAULT ROLE {} FOR {name}", value.unwrap_or("NONE")),
            _ => format!("SET DEFAULT ROLE {} TO {name}", value.unwrap_or("NONE")),
        },
        Fact::Setting {
            database,
            name: setting,
        } => {
            let place = database.as_ref();
            let place = place.map(|database| format!(" IN DATABASE {database}"));
            let place = place.unwrap_or_default();
            match value {
                Some(value) => format!("ALTER ROLE {name}{place} SET {setting} TO {value}"),
                None => format!("ALTER ROLE {name}{place} RESET {setting}"),
            }
        }
        Fact::Comment => format!("COMMENT ON ROLE {name} IS {}", value.unwrap_or("NULL")),
    }
}

/// An attribute in `ALTER`.
fn altered(name: &str, value: Option<&str>) -> String {
    match (name, value) {
        (name, Some(value)) if LIMITS[1..].contains(&name) => format!("WITH {name} {value}"),
        (name, Some(value)) => attribute(name, value),
        ("NOINHERIT", None) => "INHERIT".to_owned(),
        ("CONNECTION LIMIT", None) => "CONNECTION LIMIT -1".to_owned(),
        ("VALID UNTIL", None) => "VALID UNTIL 'infinity'".to_owned(),
        ("REQUIRE", None) => "REQUIRE NONE".to_owned(),
        ("ACCOUNT", None) => "ACCOUNT UNLOCK".to_owned(),
        (name, None) if RIGHTS.contains(&name) => format!("NO{name}"),
        (name, None) => format!("WITH {name} 0"),
    }
}

/// A privilege on the whole server; the grant option is a privilege without a name.
fn global(name: &str, role: &Role, privilege: &str, gives: bool) -> String {
    let passes = role
        .facts
        .contains_key(&Fact::Privilege(PASSING.to_owned()));
    match gives {
        true if privilege == PASSING => format!("GRANT USAGE ON *.* TO {name} WITH {PASSING}"),
        true if passes => format!("GRANT {privilege} ON *.* TO {name} WITH {PASSING}"),
        true => format!("GRANT {privilege} ON *.* TO {name}"),
        false => format!("REVOKE {privilege} ON *.* FROM {name}"),
    }
}

/// The options of a new membership.
fn options(flavour: Flavour, role: &Role, of: &str) -> String {
    let facts = role.facts.iter().filter(|(fact, _)| fact.is_option_of(of));
    let options = facts.filter_map(|(fact, value)| match fact {
        Fact::Option(_, "ADMIN") if flavour != Flavour::NewPostgres => {
            Some("ADMIN OPTION".to_owned())
        }
        Fact::Option(_, option) => Some(format!("{option} {}", value.to_uppercase())),
        _ => None,
    });
    let options: Vec<String> = options.collect();
    match options.is_empty() {
        true => String::new(),
        false => format!(" WITH {}", options.join(", ")),
    }
}
