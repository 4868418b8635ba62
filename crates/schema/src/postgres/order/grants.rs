//! Privileges of managed roles.

mod again;

use std::collections::{BTreeMap, BTreeSet};

use super::{Builder, Part};
use crate::plan::Steps;
use crate::postgres::Schema;
use crate::postgres::kept::Key;
use crate::postgres::model::{Grant, Privilege, Target};
use crate::postgres::name::{Name, quote};
use crate::postgres::read::{EVERYBODY, all_privileges, given, has_maintain};
use crate::postgres::targets::{
    OWNER, has, has_relation, has_routine, is_default, is_global, of_target,
};
use crate::{Hazard, ObjectKind, Verb};

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
            let holders: BTreeMap<&str, String> = roles
                .iter()
                .map(|role| (role.as_str(), self.holder(target, role)))
                .collect();
            for (role, holder) in &holders {
                self.revoke(target, role, holder);
            }
            self.grant(target, &holders);
        }
        self.owners();
    }

    /// The key of a managed role's privileges, possibly as the owner when the plan is done.
    fn holder(&self, target: &Target, role: &str) -> String {
        let stated = self.to.stated_owner(target).flatten();
        let is_managed = |owner: &&str| {
            let mut managed = self.options.managed_roles.iter();
            managed.any(|role| role == owner)
        };
        let is_fresh = self.is_fresh(target) && !self.is_granted_again(target);
        let is_new = is_fresh || is_default(target.kind);
        let owner = match self.from.owner_of(target).filter(|_| !is_new) {
            Some(owner) => stated.filter(is_managed).unwrap_or(owner),
            None => self.to.owner_of(target).unwrap_or_default(),
        };
        if owner == role { OWNER } else { role }.to_owned()
    }

    fn is_fresh(&self, target: &Target) -> bool {
        let is_relation = target.kind == "TABLE"
            && (self.fresh.contains(&Part::View(target.name.clone()))
                || self.created.contains(&target.name));
        is_relation || self.is_made_again_type(target)
    }

    /// What a role has before the statements about managed roles.
    fn held(&self, target: &Target, holder: &str) -> Held {
        let is_again = self.is_granted_again(target);
        if self.is_fresh(target) && !is_again {
            return self.given(target, holder);
        }
        let former = self.former(target);
        let target = former.as_ref().unwrap_or(target);
        let mut held = self.privileges_in(self.from, target, holder);
        held.retain(|privilege, _| !is_again || self.has_column(target, privilege));
        held
    }

    /// The function in whose place the plan makes one of another kind or with other arguments. Its
    /// privileges go over to the new one when the plan is applied.
    fn former(&self, target: &Target) -> Option<Target> {
        let key = (target.name.clone(), target.signature.clone());
        let wanted = self.to.functions.get(&key)?;
        let before = self.sides.predecessor(&key)?;
        let former = Target {
            kind: before.word(),
            name: before.name.clone(),
            signature: before.signature.clone(),
        };
        let is_made = wanted.word() == target.kind && !self.printer.is_sqldef();
        (is_made && former != *target).then_some(former)
    }

    /// A role's privileges in a schema, with what the server gives by itself.
    fn privileges_in(&self, schema: &Schema, target: &Target, holder: &str) -> Held {
        let grant = schema.grants.get(&(target.clone(), holder.to_owned()));
        let given = || self.given(target, holder);
        grant.map_or_else(given, |grant| grant.privileges.clone())
    }

    fn given(&self, target: &Target, holder: &str) -> Held {
        given(target, holder, self.known_maintain())
    }

    /// The role as named in a statement. An owner without a name in the text is the connected role,
    /// and so is the owner of a new object, which is given away later.
    fn grantee(&self, target: &Target, role: &str, holder: &str) -> String {
        let owner = self.from.stated_owner(target);
        let is_there = self.is_there(target) && !self.is_fresh(target);
        match owner
            .flatten()
            .filter(|_| is_there || is_default(target.kind))
        {
            _ if holder != OWNER || self.printer.is_sqldef() => self.printer.ident(role),
            Some(owner) => self.printer.ident(owner),
            None => "CURRENT_USER".to_owned(),
        }
    }

    /// Whether a type is dropped and recreated.
    fn is_made_again_type(&self, target: &Target) -> bool {
        let is_made = |(kind, name): &Key| {
            self.fresh.contains(&Part::Kept((*kind, name.clone())))
                && of_target(target, *kind, name)
        };
        let is_type = target.kind == "TYPE";
        is_type && self.sides.is_replaced_type(&target.name) || self.to.kept.keys().any(is_made)
    }

    /// Whether all privileges on a table include `MAINTAIN`.
    fn has_maintain(&self) -> bool {
        self.known_maintain() == Some(true)
    }

    fn known_maintain(&self) -> Option<bool> {
        let server = self.options.server.as_ref();
        let known = server.and_then(has_maintain);
        known.or(self.to.has_maintain)
    }

    /// Whether the object is there afterwards.
    fn exists(&self, target: &Target) -> bool {
        match target.kind {
            "TABLE" => has_relation(self.to, target),
            "FUNCTION" | "PROCEDURE" => {
                let key = (target.name.clone(), target.signature.clone());
                let routine = self.to.functions.get(&key);
                has_routine(self.to, target)
                    && routine.is_none_or(|routine| routine.word() == target.kind)
            }
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
                format!("{kind} {}", self.printer.ident(&target.name.name))
            }
            "FUNCTION" | "PROCEDURE" => format!(
                "{} {}({})",
                target.kind,
                self.printer.name(&target.name),
                target.signature
            ),
            kind => format!("{kind} {}", self.printer.name(&target.name)),
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
            name => format!("{before} {} ", self.printer.ident(name)),
        };
        let (role, schema) = (part("FOR ROLE", role), part("IN SCHEMA", schema));
        format!("ALTER DEFAULT PRIVILEGES {role}{schema}{words}")
    }

    /// Plans the words of `GRANT` or `REVOKE`.
    fn push_words(&mut self, target: &Target, words: String, verb: Verb, hazards: Vec<Hazard>) {
        let (sql, shown) = (self.about(target, words), self.shown_target(target));
        self.push_with(sql, verb, ObjectKind::Privilege, shown, hazards);
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

    fn revoke(&mut self, target: &Target, role: &str, holder: &str) {
        let held = self.held(target, holder);
        let wanted = self.privileges_in(self.to, target, holder);
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
        let has_former = self.former(target).is_some();
        let is_new = !self.is_there(target) && !has_former;
        let given = has_former.then(|| self.given(target, holder));
        let given = given.into_iter().flat_map(Held::into_keys);
        let unheld = given.filter(|name| !held.contains_key(name) && !wanted.contains_key(name));
        let unheld: Vec<Privilege> = unheld.collect();
        for (privileges, words, is_free) in [
            (gone, "", is_new),
            (passed, "GRANT OPTION FOR ", is_new),
            (unheld, "", true),
        ] {
            if privileges.is_empty() {
                continue;
            }
            let words = format!(
                "REVOKE {words}{} ON {} FROM {}",
                self.privileges(target, &privileges),
                self.on(target),
                self.grantee(target, role, holder)
            );
            // Nobody has had yet what the server gives everybody on a new object.
            if is_free {
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
            "TABLE" => has_relation(from, target),
            "SEQUENCE" => from.sequences.contains(&target.name),
            "SCHEMA" => from.namespaces().contains(&target.name.name),
            "FUNCTION" | "PROCEDURE" => has_routine(from, target),
            _ => has(from, target) || !has(self.to, target),
        }
    }

    fn privileges(&self, target: &Target, privileges: &[Privilege]) -> String {
        let plain: Vec<&str> = privileges
            .iter()
            .filter(|privilege| privilege.column.is_none())
            .map(|privilege| privilege.name.as_str())
            .collect();
        let has_maintain = self.has_maintain();
        let is_all = all_privileges(target.kind, has_maintain)
            .iter()
            .all(|name| plain.contains(name));
        if is_all && plain.len() == privileges.len() && target.kind == "TABLE" {
            return "ALL PRIVILEGES".to_owned();
        }
        let same = privileges.chunk_by(|one, other| {
            one.name == other.name && one.column.is_some() && other.column.is_some()
        });
        let shown = same.map(|same| {
            let columns = same.iter().filter_map(|each| each.column.as_deref());
            let columns: Vec<String> = columns.map(quote).collect();
            match columns.is_empty() {
                true => same[0].name.clone(),
                false => format!("{} ({})", same[0].name, columns.join(", ")),
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Grants privileges, one statement per statement of the source; roles lacking the same are
    /// granted together.
    fn grant(&mut self, target: &Target, holders: &BTreeMap<&str, String>) {
        let (to, has_maintain) = (self.to, self.has_maintain());
        let mut statements = BTreeMap::new();
        let grants = to.grants.iter().filter(|((other, _), _)| other == target);
        for statement in grants.flat_map(|(_, grant)| &grant.statements) {
            statements.insert(statement.number, statement);
        }
        let pairs = holders.iter();
        let pairs = pairs.map(|(role, holder)| (*role, self.held(target, holder)));
        let mut held: BTreeMap<&str, Held> = pairs.collect();
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
                let holder = holders.get(role).cloned().unwrap_or_default();
                let finally = to.grants.get(&(target.clone(), holder));
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
                let named = |role: &str| {
                    let holder = holders.get(role).map_or(role, String::as_str);
                    self.grantee(target, role, holder)
                };
                let roles: Vec<String> = roles.into_iter().map(named).collect();
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
        for (role, holder) in holders {
            if let Some(held) = held.get(role) {
                self.grant_given(target, (role, holder), held);
            }
        }
    }

    /// Grants again what the server gives everybody and owners on a new object, unless a statement
    /// takes the privilege away; `held` is what the role has by then.
    fn grant_given(&mut self, target: &Target, (role, holder): (&str, &str), held: &Held) {
        let wanted = self.privileges_in(self.to, target, holder);
        let lacking = self.given(target, holder).into_keys();
        let lacking = lacking.filter(|name| wanted.contains_key(name) && !held.contains_key(name));
        let lacking: Vec<Privilege> = lacking.collect();
        if lacking.is_empty() {
            return;
        }
        let words = format!(
            "GRANT {} ON {} TO {}",
            self.privileges(target, &lacking),
            self.on(target),
            self.grantee(target, role, holder)
        );
        let shown = self.shown_target(target);
        let who = if role == EVERYBODY { "everybody" } else { role };
        let hazards = vec![Hazard::Opens(format!("{who} may use {shown}"))];
        self.push_words(target, words, Verb::Grant, hazards);
    }
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
                column: privilege.column.clone(),
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
