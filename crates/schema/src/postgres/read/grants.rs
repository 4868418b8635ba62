//! Privileges.

use std::collections::BTreeMap;

use squawk_parser::SyntaxKind as K;

use super::comments::signature_of;
use super::parts::{columns, parts, word};
use super::{Read, Reader, Statement, Trouble};
use crate::Server;
use crate::postgres::model::{Grant, GrantStatement, Privilege, Target};
use crate::postgres::name::Name;
use crate::postgres::parser::Node;
use crate::postgres::targets::{OWNER, is_default, is_global};

/// What `ALL` means on a table; the last came with version 17.
const OF_TABLES: [&str; 8] = [
    "DELETE",
    "INSERT",
    "REFERENCES",
    "SELECT",
    "TRIGGER",
    "TRUNCATE",
    "UPDATE",
    MAINTAIN,
];
const MAINTAIN: &str = "MAINTAIN";

/// What `ALL` means on each kind of object, where tables have `MAINTAIN` and where not.
pub(crate) fn all_privileges(kind: &str, has_maintain: bool) -> &'static [&'static str] {
    match kind {
        "TABLE" | "TABLES" if has_maintain => &OF_TABLES,
        "TABLE" | "TABLES" => &OF_TABLES[..OF_TABLES.len() - 1],
        "SEQUENCE" | "SEQUENCES" => &["SELECT", "UPDATE", "USAGE"],
        "SCHEMA" | "SCHEMAS" => &["CREATE", "USAGE"],
        "FUNCTION" | "PROCEDURE" | "FUNCTIONS" => &["EXECUTE"],
        "LARGE OBJECTS" => &["SELECT", "UPDATE"],
        _ => &["USAGE"],
    }
}

/// Whether tables of the server have `MAINTAIN`; `None` without a server.
pub(crate) fn has_maintain(server: &Server) -> Option<bool> {
    server.version.map(|version| version.0 >= 17)
}

/// PostgreSQL's name for everybody, which no role can have.
pub(crate) const EVERYBODY: &str = "public";

/// Privileges of a role on an object of which no statement says anything. The schema `public` is
/// as PostgreSQL makes it from 15 on.
pub(crate) fn given(
    target: &Target,
    role: &str,
    has_maintain: Option<bool>,
) -> BTreeMap<Privilege, bool> {
    if role == OWNER {
        // Those on later objects of a schema only add to the role's own.
        let is_added = is_default(target.kind) && !target.name.schema.is_empty();
        let all = all_privileges(target.kind, has_maintain != Some(false));
        let all = all.iter().filter(|_| !is_added);
        return all.map(|name| (Privilege::whole(name), false)).collect();
    }
    let name = match target.kind {
        "FUNCTION" | "PROCEDURE" => "EXECUTE",
        "TYPE" | "LANGUAGE" => "USAGE",
        "SCHEMA" if target.name.name == "public" => "USAGE",
        // Those of a schema only add to the server's.
        "FUNCTIONS" if target.name.schema.is_empty() => "EXECUTE",
        "TYPES" if target.name.schema.is_empty() => "USAGE",
        _ => return BTreeMap::new(),
    };
    let is_everybody = role == EVERYBODY;
    let privilege = is_everybody.then(|| (Privilege::whole(name), false));
    privilege.into_iter().collect()
}

impl Reader<'_> {
    pub(super) fn grant(&mut self, statement: Statement<'_>, gives: bool) -> Read {
        let node = statement.node;
        let on = node
            .child(K::ON_PRIVILEGE_OBJECTS_CLAUSE)
            .ok_or(Trouble::Opaque)?;
        let targets = self.targets(on)?;
        let roles: Vec<String> = node
            .child(K::ROLE_REF_LIST)
            .map(|list| {
                list.all(K::ROLE_REF)
                    .map(|role| self.schema.role_of(role.text()))
                    .collect()
            })
            .ok_or(Trouble::Opaque)?;
        let option = match gives {
            true => K::GRANT_OPTION,
            false => K::GRANT_OPTION_FOR,
        };
        let grantable = node.find(option).is_some();
        let privileges = privileges(node);
        self.grants += 1;
        let record = GrantStatement {
            number: self.grants,
            privileges,
            roles: roles.clone(),
            grantable,
        };
        for target in &targets {
            for role in &roles {
                self.apply_grant(target, role, &record, gives);
            }
        }
        Ok(())
    }

    pub(super) fn apply_grant(
        &mut self,
        target: &Target,
        role: &str,
        record: &GrantStatement,
        gives: bool,
    ) {
        let holder = self.schema.holder(target, role);
        let has_maintain = self.schema.has_maintain;
        let key = (target.clone(), holder);
        if !self.schema.grants.contains(&key) {
            let given = Grant {
                privileges: given(target, &key.1, has_maintain),
                statements: Vec::new(),
            };
            self.schema.grants.insert(key.clone(), given);
        }
        let Some(grant) = self.schema.grants.get_mut(&key) else {
            return;
        };
        let is_owner = key.1 == OWNER;
        for privilege in expanded(target, &record.privileges, has_maintain, is_owner) {
            if gives {
                grant.privileges.insert(privilege, record.grantable);
            } else if record.grantable {
                // Only the right to pass it on goes.
                grant
                    .privileges
                    .entry(privilege)
                    .and_modify(|can_pass| *can_pass = false);
            } else {
                grant.privileges.remove(&privilege);
            }
        }
        if gives {
            grant.statements.push(record.clone());
        }
    }

    fn targets(&self, on: Node<'_>) -> Result<Vec<Target>, Trouble> {
        let clause = on.children().nth(1).ok_or(Trouble::Opaque)?;
        let kind = match clause.kind() {
            K::PRIVILEGE_TABLE | K::PRIVILEGE_DEFAULT => "TABLE",
            K::PRIVILEGE_SEQUENCE => "SEQUENCE",
            K::PRIVILEGE_SCHEMA => "SCHEMA",
            K::PRIVILEGE_FUNCTION => "FUNCTION",
            K::PRIVILEGE_PROCEDURE => "PROCEDURE",
            // The server takes either word for a domain.
            K::PRIVILEGE_TYPE | K::PRIVILEGE_DOMAIN => "TYPE",
            K::PRIVILEGE_LANGUAGE => "LANGUAGE",
            K::PRIVILEGE_FOREIGN_DATA_WRAPPER => "FOREIGN DATA WRAPPER",
            K::PRIVILEGE_FOREIGN_SERVER => "FOREIGN SERVER",
            _ => return Err(Trouble::Opaque),
        };
        Ok(clause
            .children()
            .filter(|child| !child.is_leaf())
            .map(|object| match kind {
                _ if is_global(kind) => Target {
                    kind,
                    name: Name::new("", word(object)),
                    signature: String::new(),
                },
                "FUNCTION" | "PROCEDURE" => {
                    let sig = signature_of(object).unwrap_or(object);
                    let (name, signature) = self.function_key(sig);
                    Target {
                        kind,
                        name,
                        signature,
                    }
                }
                _ => Target {
                    kind,
                    name: self.resolve(&parts(object)),
                    signature: String::new(),
                },
            })
            .collect())
    }
}

/// As written: `ALL` stays one word.
fn privileges(node: Node<'_>) -> Vec<Privilege> {
    if node.has(K::ALL_PRIVILEGES) {
        return vec![Privilege::whole("ALL")];
    }
    node.inside()
        .filter(|command| command.kind() == K::REVOKE_COMMAND)
        .flat_map(|command| {
            let first = command.tokens().next();
            let name = first.map(|word| word.text().to_uppercase());
            let whole = Privilege::whole(&name.unwrap_or_default());
            match command.find(K::COLUMN_REF_LIST).map(columns) {
                None => vec![whole],
                Some(mut columns) => {
                    columns.sort();
                    let of = |column| Privilege {
                        column: Some(column),
                        ..whole.clone()
                    };
                    columns.into_iter().map(of).collect()
                }
            }
        })
        .collect()
}

/// Single privileges. Without a server, all of a table's are the same with `MAINTAIN` and without;
/// an owner has it unless it is taken away.
fn expanded(
    target: &Target,
    privileges: &[Privilege],
    has_maintain: Option<bool>,
    is_owner: bool,
) -> Vec<Privilege> {
    let has_maintain = has_maintain.or(is_owner.then_some(true));
    let usual = all_privileges(target.kind, has_maintain == Some(true));
    let is_listed = |name: &&str| {
        let mut listed = privileges.iter();
        listed.any(|privilege| privilege.name == *name && privilege.column.is_none())
    };
    let is_all = has_maintain.is_none() && usual.iter().all(is_listed);
    let mut all = Vec::new();
    for privilege in privileges {
        if is_all && privilege.name == MAINTAIN {
            continue;
        }
        if privilege.name == "ALL" {
            all.extend(usual.iter().map(|name| Privilege {
                name: (*name).to_owned(),
                column: privilege.column.clone(),
            }));
        } else {
            all.push(privilege.clone());
        }
    }
    all
}
