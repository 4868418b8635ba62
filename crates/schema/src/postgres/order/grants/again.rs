//! Privileges on recreated views, types and columns, which went with the former ones.

use super::Held;
use crate::Verb;
use crate::postgres::model::{Grant, Privilege, Target};
use crate::postgres::order::{Builder, Part};
use crate::postgres::targets::OWNER;

impl Builder<'_> {
    /// Grants the former privileges again, for all roles.
    pub(super) fn regrant(&mut self) {
        if self.printer.is_sqldef() {
            return;
        }
        let from = self.from;
        for ((target, holder), grant) in from.grants.iter() {
            let role = match holder.as_str() {
                OWNER => from.owner_of(target).unwrap_or_default(),
                role => role,
            };
            let grantee = self.grantee(target, role, holder);
            if !self.was_remade(target) {
                // Those of managed roles too: what the wanted schema does not grant is then revoked
                // like any other, and so not without a yes.
                let lost = self.on_remade_columns(target, grant);
                self.grant_again(target, &grantee, &lost);
                continue;
            }
            let mut managed = self.options.managed_roles.iter();
            if !managed.any(|managed| managed == role) {
                self.regrant_whole(target, &grantee, (holder.as_str(), grant));
            }
        }
    }

    /// Whether the plan has dropped a view or type, and created another in its place.
    fn was_remade(&self, target: &Target) -> bool {
        let view = Part::View(target.name.clone());
        self.is_gone(&view) && self.fresh.contains(&view) || self.is_made_again_type(target)
    }

    /// Privileges on single columns that are dropped and added again.
    fn on_remade_columns(&self, target: &Target, grant: &Grant) -> Held {
        let is_lost = |privilege: &Privilege| {
            let column = privilege.column.clone();
            let part = column.map(|column| Part::Column(target.name.clone(), column));
            part.is_some_and(|part| self.fresh.contains(&part))
        };
        let lost = grant.privileges.iter();
        let lost = lost.filter(|(privilege, _)| is_lost(privilege));
        lost.map(|(privilege, can_pass)| (privilege.clone(), *can_pass))
            .collect()
    }

    fn regrant_whole(&mut self, target: &Target, grantee: &str, (holder, grant): (&str, &Grant)) {
        let given = self.given(target, holder);
        let lost = given.keys().cloned();
        let lost: Vec<Privilege> = lost
            .filter(|name| !grant.privileges.contains_key(name))
            .collect();
        if !lost.is_empty() {
            let words = format!(
                "REVOKE {} ON {} FROM {grantee}",
                self.privileges(target, &lost),
                self.on(target),
            );
            self.push_words(target, words, Verb::Alter, Vec::new());
        }
        let had = grant.privileges.iter();
        let had = had.filter(|(name, can_pass)| given.get(name) != Some(can_pass));
        let had: Held = had
            .map(|(privilege, can_pass)| (privilege.clone(), *can_pass))
            .collect();
        self.grant_again(target, grantee, &had);
    }

    /// Those to be passed on have a statement of their own.
    fn grant_again(&mut self, target: &Target, grantee: &str, privileges: &Held) {
        for grantable in [false, true] {
            let alike = privileges.iter();
            let alike = alike.filter(|(_, can_pass)| **can_pass == grantable);
            let alike: Vec<Privilege> = alike.map(|(privilege, _)| privilege.clone()).collect();
            if alike.is_empty() {
                continue;
            }
            let words = format!(
                "GRANT {} ON {} TO {grantee}{}",
                self.privileges(target, &alike),
                self.on(target),
                if grantable { " WITH GRANT OPTION" } else { "" }
            );
            self.push_words(target, words, Verb::Grant, Vec::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::postgres::tests::read;
    use crate::{Allowed, ObjectKind, PlanOptions};

    /// A table with a column computed from another one.
    fn computed(kind: &str, grants: &str) -> String {
        format!("CREATE TABLE t (a {kind}, b int GENERATED ALWAYS AS (a * 2) STORED); {grants}")
    }

    /// The statements about privileges where `app` is managed, held-back ones behind `--`.
    fn check(from: &str, to: &str, expected: &[&str]) {
        let options = PlanOptions {
            managed_roles: vec!["app".to_owned()],
            ..PlanOptions::default()
        };
        let mut plan = crate::postgres::plan(&read(from), &read(to), &options).unwrap();
        plan.hold_back(&Allowed::default());
        let about = plan.statements.into_iter();
        let about = about.filter(|each| each.object.kind == ObjectKind::Privilege);
        let text = |statement: crate::Statement| match statement.held_back {
            Some(_) => format!("-- {}", statement.sql),
            None => statement.sql,
        };
        let found: Vec<String> = about.map(text).collect();
        assert_eq!(found, expected, "{from} to {to}");
    }

    #[test]
    fn a_recreated_column_keeps_the_privileges_of_roles_that_are_not_managed() {
        let grants = "GRANT SELECT (a, b), UPDATE (a) ON t TO other; \
                      GRANT SELECT (b) ON t TO boss WITH GRANT OPTION;";
        let expected = [
            "GRANT SELECT (b) ON TABLE public.t TO other",
            "GRANT SELECT (b) ON TABLE public.t TO boss WITH GRANT OPTION",
        ];
        check(&computed("int", grants), &computed("bigint", ""), &expected);
        check(&computed("int", grants), &computed("int", ""), &[]);
    }

    #[test]
    fn a_managed_role_loses_no_privilege_on_a_recreated_column_without_a_yes() {
        let granted = "GRANT SELECT (b) ON t TO app;";
        let grant = "GRANT SELECT (b) ON TABLE public.t TO app";
        let revoke = "-- REVOKE SELECT (b) ON TABLE public.t FROM app";
        let from = computed("int", granted);
        check(&from, &computed("bigint", granted), &[grant]);
        check(&from, &computed("bigint", ""), &[grant, revoke]);
        check(&computed("int", ""), &computed("bigint", granted), &[grant]);
    }

    #[test]
    fn a_renamed_and_recreated_column_keeps_its_privileges() {
        let from = "CREATE TABLE old (a int, c int GENERATED ALWAYS AS (a * 2) STORED); \
                    GRANT SELECT (c) ON old TO other;";
        let to = "CREATE TABLE t ( -- @renamed from=old\n a bigint, \
                  b int GENERATED ALWAYS AS (a * 2) STORED -- @renamed from=c\n);";
        let grant = "GRANT SELECT (b) ON TABLE public.t TO other";
        check(from, to, &[grant]);
    }
}
