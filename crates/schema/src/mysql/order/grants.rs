//! Privileges of managed users and roles.

use std::collections::BTreeSet;

use super::Builder;
use crate::mysql::Schema;
use crate::mysql::lexer::backticked;
use crate::mysql::model::{Grant, Granted};
use crate::plan::Steps;
use crate::{Hazard, ObjectKind, Verb};

impl Builder<'_> {
    /// Revokes and grants, on what is there afterwards.
    pub(super) fn grants(&mut self) {
        let (from, to) = (self.from, self.to);
        let roles = &self.options.managed_roles;
        let mut pairs: Vec<(&Granted, &str)> = Vec::new();
        for grant in from.grants.iter().chain(&to.grants) {
            let pair = (&grant.on, grant.grantee.as_str());
            let is_managed = roles.iter().any(|role| grant.is_of(role));
            if is_managed && to.has(&grant.on) && !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        for (on, grantee) in pairs {
            let before = from.grant(on, grantee).filter(|_| !self.is_remade(on));
            self.revoke(on, grantee, before);
            let after = to.grant(on, grantee);
            self.grant(before, after);
        }
        // The server takes all privileges on a routine or package away when it is dropped.
        for grant in &from.grants {
            let is_managed = roles.iter().any(|role| grant.is_of(role));
            if !is_managed && to.has(&grant.on) && self.is_remade(&grant.on) {
                self.grant(None, Some(grant));
            }
        }
    }

    /// Whether the plan drops the object and creates another in its place.
    fn is_remade(&self, on: &Granted) -> bool {
        let is_one = |kind: ObjectKind, name: &str| {
            name == on.name && (on.kind == Some(kind) || on.is_body_of(kind))
        };
        let mut statements = self.statements.iter();
        statements
            .any(|each| each.verb == Verb::Aside && is_one(each.object.kind, &each.object.name))
    }

    fn revoke(&mut self, on: &Granted, grantee: &str, before: Option<&Grant>) {
        let Some(before) = before else {
            return;
        };
        let after = self.to.grant(on, grantee);
        let wanted = |name: &&String| after.is_some_and(|after| after.privileges.contains(*name));
        let gone = before.privileges.iter().filter(|name| !wanted(name));
        let mut gone: Vec<&str> = gone.map(String::as_str).collect();
        if before.is_grantable && !after.is_some_and(|after| after.is_grantable) {
            gone.push("GRANT OPTION");
        }
        if gone.is_empty() {
            return;
        }
        let sql = format!("REVOKE {} ON {} FROM {grantee}", gone.join(", "), place(on));
        let shown = shown(on);
        let hazard = Hazard::Drop(format!("privileges of {grantee} on {shown}"));
        self.push_with(
            sql,
            Verb::Revoke,
            ObjectKind::Privilege,
            shown,
            vec![hazard],
        );
    }

    fn grant(&mut self, before: Option<&Grant>, after: Option<&Grant>) {
        let Some(after) = after else {
            return;
        };
        let (on, grantee) = (&after.on, &after.grantee);
        let none = BTreeSet::new();
        let had = before.map_or(&none, |before| &before.privileges);
        let new: Vec<&str> = after
            .privileges
            .difference(had)
            .map(String::as_str)
            .collect();
        let passes = after.is_grantable && !before.is_some_and(|before| before.is_grantable);
        if new.is_empty() && !passes {
            return;
        }
        let sql = format!(
            "GRANT {} ON {} TO {grantee}{}",
            match new.is_empty() {
                true => "USAGE".to_owned(),
                false => new.join(", "),
            },
            place(on),
            if passes { " WITH GRANT OPTION" } else { "" }
        );
        self.push(sql, Verb::Grant, ObjectKind::Privilege, shown(on));
    }
}

/// The object in `GRANT`. The database is the current one.
fn place(on: &Granted) -> String {
    match on.kind {
        None => "*".to_owned(),
        Some(kind) => format!("{} {}", kind.word().to_uppercase(), backticked(&on.name)),
    }
}

fn shown(on: &Granted) -> String {
    match on.kind {
        None => "*".to_owned(),
        _ => on.name.clone(),
    }
}

impl Granted {
    /// Whether this is a package's body, which goes with the head of the kind.
    fn is_body_of(&self, kind: ObjectKind) -> bool {
        self.kind == Some(ObjectKind::PackageBody) && kind == ObjectKind::Package
    }
}

impl Schema {
    fn grant(&self, on: &Granted, grantee: &str) -> Option<&Grant> {
        let mut grants = self.grants.iter();
        grants.find(|grant| grant.on == *on && grant.grantee == grantee)
    }

    /// Whether the object of privileges is there.
    fn has(&self, on: &Granted) -> bool {
        let has_opaque = |kind: ObjectKind| {
            let mut opaques = self.opaques.iter();
            opaques.any(|opaque| opaque.kind == kind && opaque.name == on.name)
        };
        match on.kind {
            None => true,
            Some(ObjectKind::Table) => {
                self.table(&on.name).is_some()
                    || self.view(&on.name).is_some()
                    || has_opaque(ObjectKind::Sequence)
            }
            Some(kind) => has_opaque(kind),
        }
    }
}
