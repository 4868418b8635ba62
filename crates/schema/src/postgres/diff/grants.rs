//! Privileges of managed roles.

use std::collections::{BTreeMap, BTreeSet};

use super::{Builder, Part};
use crate::postgres::Schema;
use crate::postgres::kept::Key;
use crate::postgres::model::{Grant, Privilege, Target};
use crate::postgres::name::{Name, quote};
use crate::postgres::read::{
    EVERYBODY, all_privileges, given, has_maintain, is_default, is_global,
};
use crate::{Hazard, Verb};

type Held = BTreeMap<Privilege, bool>;

impl<'a> Builder<'a> {
    pub(super) fn grants(&mut self) {
        self.regrant();
        let roles: BTreeSet<&String> = self.options.managed_roles.iter().collect();
        if roles.is_empty() {
            return;
        }
        let (from, to) = (self.from, self.to);
        let mut targets: Vec<&'a Target> = Vec::new();
        for (target, _) in from.grants.keys().chain(to.grants.keys()) {
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        for target in targets {
            if !self.exists(target) {
                continue;
            }
            for role in &roles {
                self.revoke(target, role);
            }
            self.grant(target, &roles);
        }
        self.owners();
    }

    fn held(&self, target: &Target, role: &str) -> Held {
        let is_fresh = match target.kind {
            "TABLE" => {
                self.fresh.contains(&Part::View(target.name.clone()))
                    || self.created.contains(&target.name)
                    || self.is_made_again_type(target)
            }
            _ => self.is_made_again_type(target),
        };
        match is_fresh {
            true => given(target, role),
            false => privileges_in(self.from, target, role),
        }
    }

    /// Whether a type is dropped and recreated.
    fn is_made_again_type(&self, target: &Target) -> bool {
        let is_made = |(kind, name): &Key| {
            self.fresh.contains(&Part::Kept((*kind, name.clone()))) && of_target(target, kind, name)
        };
        let is_type = target.kind == "TYPE";
        is_type && self.is_replaced_type(&target.name) || self.to.kept.keys().any(is_made)
    }

    /// Whether all privileges on a table include `MAINTAIN`.
    fn has_maintain(&self) -> bool {
        let server = self.options.server.as_ref();
        let known = server.and_then(has_maintain);
        known.or(self.to.has_maintain) == Some(true)
    }

    /// Whether the object is there afterwards.
    fn exists(&self, target: &Target) -> bool {
        match target.kind {
            "TABLE" => {
                let (to, name) = (self.to, &target.name);
                to.tables.contains(name) || to.views.contains(name) || has(to, target)
            }
            "FUNCTION" | "PROCEDURE" => has_routine(self.to, target),
            kind if is_default(kind) => {
                let schema = &target.name.schema;
                schema.is_empty() || self.to.namespaces().contains(schema)
            }
            // It may belong to an extension or to the server.
            _ => has(self.to, target) || !has(self.from, target),
        }
    }

    fn on(&self, target: &Target) -> String {
        match target.kind {
            kind if is_default(kind) => kind.to_owned(),
            kind if is_global(kind) => {
                format!("{kind} {}", self.speller.ident(&target.name.name))
            }
            "FUNCTION" | "PROCEDURE" => format!(
                "{} {}({})",
                target.kind,
                self.speller.name(&target.name),
                target.signature
            ),
            kind => format!("{kind} {}", self.speller.name(&target.name)),
        }
    }

    /// A statement for the words of `GRANT` or `REVOKE`, which may be about objects made later.
    fn about(&self, target: &Target, words: String) -> String {
        if !is_default(target.kind) {
            return words;
        }
        let Name { schema, name: role } = &target.name;
        let part = |before: &str, name: &str| match name {
            "" => String::new(),
            name => format!("{before} {} ", self.speller.ident(name)),
        };
        let (role, schema) = (part("FOR ROLE", role), part("IN SCHEMA", schema));
        format!("ALTER DEFAULT PRIVILEGES {role}{schema}{words}")
    }

    /// Plans the words of `GRANT` or `REVOKE`.
    fn push_words(&mut self, target: &Target, words: String, verb: Verb, hazards: Vec<Hazard>) {
        let (sql, shown) = (self.about(target, words), self.shown_target(target));
        self.push_with(sql, verb, "privilege", shown, hazards);
    }

    /// The object as written by people; of what is made later, by whom and where.
    fn shown_target(&self, target: &Target) -> String {
        if !is_default(target.kind) {
            return self.shown(&target.name);
        }
        let Name { schema, name: role } = &target.name;
        let part = |before: &str, name: &str| match name {
            "" => String::new(),
            name => format!("-{before}-{name}"),
        };
        let kind = target.kind.to_lowercase().replace(' ', "-");
        format!("new-{kind}{}{}", part("of", role), part("in", schema))
    }

    fn revoke(&mut self, target: &Target, role: &str) {
        let held = self.held(target, role);
        let wanted = privileges_in(self.to, target, role);
        let gone: Vec<Privilege> = held
            .keys()
            .filter(|privilege| !wanted.contains_key(privilege))
            .cloned()
            .collect();
        let passed: Vec<Privilege> = held
            .iter()
            .filter(|(privilege, grantable)| **grantable && wanted.get(privilege) == Some(&false))
            .map(|(privilege, _)| privilege.clone())
            .collect();
        for (privileges, words) in [(gone, ""), (passed, "GRANT OPTION FOR ")] {
            if privileges.is_empty() {
                continue;
            }
            let words = format!(
                "REVOKE {words}{} ON {} FROM {}",
                self.privileges(target, &privileges),
                self.on(target),
                self.speller.ident(role)
            );
            // Nobody has had yet what the server gives everybody on a new object.
            if !self.is_there(target) {
                self.push_words(target, words, Verb::Alter, Vec::new());
                continue;
            }
            let shown = self.shown_target(target);
            let hazards = vec![Hazard::Drop(format!("privileges of {role} on {shown}"))];
            self.push_words(target, words, Verb::Revoke, hazards);
        }
    }

    /// Whether the object is there before the plan.
    fn is_there(&self, target: &Target) -> bool {
        let from = self.from;
        match target.kind {
            "FUNCTION" | "PROCEDURE" => has_routine(from, target),
            _ => has(from, target) || !has(self.to, target),
        }
    }

    fn privileges(&self, target: &Target, privileges: &[Privilege]) -> String {
        let plain: Vec<&str> = privileges
            .iter()
            .filter(|privilege| privilege.columns.is_empty())
            .map(|privilege| privilege.name.as_str())
            .collect();
        let has_maintain = self.has_maintain();
        let is_all = all_privileges(target.kind, has_maintain)
            .iter()
            .all(|name| plain.contains(name));
        if is_all && plain.len() == privileges.len() && target.kind == "TABLE" {
            return "ALL PRIVILEGES".to_owned();
        }
        let shown = privileges.iter().map(|privilege| {
            if privilege.columns.is_empty() {
                privilege.name.clone()
            } else {
                let columns: Vec<String> =
                    privilege.columns.iter().map(|name| quote(name)).collect();
                format!("{} ({})", privilege.name, columns.join(", "))
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Grants privileges, one statement per statement of the source; roles lacking the same are
    /// granted together.
    fn grant(&mut self, target: &Target, roles: &BTreeSet<&String>) {
        let (to, has_maintain) = (self.to, self.has_maintain());
        let mut statements = BTreeMap::new();
        let grants = to.grants.iter().filter(|((other, _), _)| other == target);
        for statement in grants.flat_map(|(_, grant)| &grant.statements) {
            statements.insert(statement.number, statement);
        }
        let mut held: BTreeMap<&str, Held> = roles
            .iter()
            .map(|role| (role.as_str(), self.held(target, role)))
            .collect();
        for statement in statements.values() {
            let mut groups: Vec<(Vec<Privilege>, Vec<&str>)> = Vec::new();
            let managed: BTreeSet<&str> = statement
                .roles
                .iter()
                .map(String::as_str)
                .filter(|role| held.contains_key(role))
                .collect();
            for role in managed {
                let has = held.entry(role).or_default();
                let finally = to.grants.get(&(target.clone(), role.to_owned()));
                let lacking = lacking(
                    target,
                    &statement.privileges,
                    statement.grantable,
                    has,
                    finally,
                    has_maintain,
                );
                for privilege in &lacking {
                    has.insert(privilege.clone(), statement.grantable);
                }
                match groups
                    .iter_mut()
                    .find(|(privileges, _)| *privileges == lacking)
                {
                    Some((_, roles)) => roles.push(role),
                    None => groups.push((lacking, vec![role])),
                }
            }
            for (privileges, roles) in groups
                .into_iter()
                .filter(|(privileges, _)| !privileges.is_empty())
            {
                let roles: Vec<String> = roles
                    .into_iter()
                    .map(|role| self.speller.ident(role))
                    .collect();
                let words = format!(
                    "GRANT {} ON {} TO {}{}",
                    self.privileges(target, &privileges),
                    self.on(target),
                    roles.join(", "),
                    if statement.grantable {
                        " WITH GRANT OPTION"
                    } else {
                        ""
                    }
                );
                self.push_words(target, words, Verb::Grant, Vec::new());
            }
        }
        self.grant_given(target, held.get(EVERYBODY));
    }

    /// Grants everybody again what the server gives everybody on a new object, where no statement
    /// takes it away; `held` is what everybody has by then.
    fn grant_given(&mut self, target: &Target, held: Option<&Held>) {
        let Some(held) = held else { return };
        let wanted = privileges_in(self.to, target, EVERYBODY);
        let lacking = given(target, EVERYBODY).into_keys();
        let lacking = lacking.filter(|name| wanted.contains_key(name) && !held.contains_key(name));
        let lacking: Vec<Privilege> = lacking.collect();
        if lacking.is_empty() {
            return;
        }
        let words = format!(
            "GRANT {} ON {} TO {}",
            self.privileges(target, &lacking),
            self.on(target),
            self.speller.ident(EVERYBODY)
        );
        let shown = self.shown_target(target);
        let hazards = vec![Hazard::Opens(format!("everybody may use {shown}"))];
        self.push_words(target, words, Verb::Grant, hazards);
    }

    /// Grants the former privileges on a recreated view or type again, for all roles.
    fn regrant(&mut self) {
        let from = self.from;
        if self.speller.is_sqldef() {
            return;
        }
        for ((target, role), grant) in from.grants.iter() {
            let is_managed = self.options.managed_roles.contains(role);
            let view = Part::View(target.name.clone());
            let was_remade = self.is_gone(&view) && self.fresh.contains(&view)
                || self.is_made_again_type(target);
            if is_managed || !was_remade {
                continue;
            }
            let lost = given(target, role).into_keys();
            let lost: Vec<Privilege> = lost
                .filter(|name| !grant.privileges.contains_key(name))
                .collect();
            if !lost.is_empty() {
                let words = format!(
                    "REVOKE {} ON {} FROM {}",
                    self.privileges(target, &lost),
                    self.on(target),
                    self.speller.ident(role)
                );
                self.push_words(target, words, Verb::Alter, Vec::new());
            }
            for grantable in [false, true] {
                let privileges: Vec<Privilege> = grant
                    .privileges
                    .iter()
                    .filter(|(_, can_pass)| **can_pass == grantable)
                    .map(|(privilege, _)| privilege.clone())
                    .collect();
                if privileges.is_empty() {
                    continue;
                }
                let words = format!(
                    "GRANT {} ON {} TO {}{}",
                    self.privileges(target, &privileges),
                    self.on(target),
                    self.speller.ident(role),
                    if grantable { " WITH GRANT OPTION" } else { "" }
                );
                self.push_words(target, words, Verb::Grant, Vec::new());
            }
        }
    }
}

/// A role's privileges in a schema, with what the server gives by itself.
fn privileges_in(schema: &Schema, target: &Target, role: &str) -> Held {
    let grant = schema.grants.get(&(target.clone(), role.to_owned()));
    grant.map_or_else(|| given(target, role), |grant| grant.privileges.clone())
}

/// Whether a schema has a type, language, wrapper or server.
pub(crate) fn has(schema: &Schema, target: &Target) -> bool {
    let mut kept = schema.kept.keys();
    target.kind == "TYPE" && schema.types.contains(&target.name)
        || kept.any(|(kind, name)| of_target(target, kind, name))
}

/// Whether an object compared by words is what the privileges are on.
fn of_target(target: &Target, kind: &str, name: &str) -> bool {
    let kinds: &[&str] = match target.kind {
        "FUNCTION" => {
            // The words of an aggregate over ordered rows, and of one that takes everything.
            let name = name.replace(" ORDER BY ", ", ").replace("(*)", "()");
            let called = format!("{}({})", target.name.quoted(), target.signature);
            return kind == "aggregate" && name == called;
        }
        "TABLE" => &["foreign-table"],
        "TYPE" => &["base-type", "composite-type", "range-type"],
        "LANGUAGE" => &["language"],
        "FOREIGN DATA WRAPPER" => &["foreign-data-wrapper"],
        "FOREIGN SERVER" => &["foreign-server"],
        _ => return false,
    };
    let is_named = || match is_global(target.kind) {
        true => quote(&target.name.name) == name,
        false => target.name.quoted() == name,
    };
    kinds.contains(&kind) && is_named()
}

/// Whether a schema has a function, procedure or aggregate.
fn has_routine(schema: &Schema, target: &Target) -> bool {
    let key = (target.name.clone(), target.signature.clone());
    schema.functions.contains(&key) || has(schema, target)
}

fn lacking(
    target: &Target,
    privileges: &[Privilege],
    grantable: bool,
    has: &Held,
    finally: Option<&Grant>,
    has_maintain: bool,
) -> Vec<Privilege> {
    let mut lacking = Vec::new();
    let expanded = privileges.iter().flat_map(|privilege| {
        if privilege.name == "ALL" {
            let all = all_privileges(target.kind, has_maintain).iter();
            all.map(|name| Privilege {
                name: (*name).to_owned(),
                columns: privilege.columns.clone(),
            })
            .collect()
        } else {
            vec![privilege.clone()]
        }
    });
    for privilege in expanded {
        // A later statement of the source may have revoked it.
        let is_wanted = finally.is_some_and(|grant| grant.privileges.contains_key(&privilege));
        let is_held = has
            .get(&privilege)
            .is_some_and(|can_pass| *can_pass || !grantable);
        if is_wanted && !is_held {
            lacking.push(privilege);
        }
    }
    lacking
}
