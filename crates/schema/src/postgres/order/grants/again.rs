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
            // Those of managed roles too: what the wanted schema does not grant is then revoked
            // like any other, and so not without a yes.
            if self.is_granted_again(target) {
                let mut managed = self.options.managed_roles.iter();
                let is_managed = managed.any(|managed| managed == role);
                let mut had = grant.privileges.clone();
                had.retain(|privilege, _| !is_managed || self.has_column(target, privilege));
                self.regrant_whole(target, &grantee, (holder.as_str(), &had));
            } else {
                let lost = self.on_remade_columns(target, grant);
                self.grant_again(target, &grantee, &lost);
            }
        }
    }

    /// Whether the plan drops a view, type or other object, and creates another in place, with the
    /// former privileges.
    pub(super) fn is_granted_again(&self, target: &Target) -> bool {
        let view = Part::View(target.name.clone());
        let is_remade =
            self.is_gone(&view) && self.fresh.contains(&view) || self.is_made_again_type(target);
        is_remade && !self.printer.is_sqldef()
    }

    /// Whether the new object certainly has the column of a privilege, if any.
    pub(super) fn has_column(&self, target: &Target, privilege: &Privilege) -> bool {
        let shows_all = || {
            let view = self.to.views.get(&target.name);
            view.is_some_and(|view| view.query.0.contains('*'))
        };
        privilege.column.is_none() || !(self.diff.views.contains_key(&target.name) || shows_all())
    }

    /// Returns the privileges on recreated single columns.
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

    fn regrant_whole(&mut self, target: &Target, grantee: &str, (holder, had): (&str, &Held)) {
        let given = self.given(target, holder);
        let lost = given.keys().cloned();
        let lost: Vec<Privilege> = lost.filter(|name| !had.contains_key(name)).collect();
        if !lost.is_empty() {
            let words = format!(
                "REVOKE {} ON {} FROM {grantee}",
                self.privileges(target, &lost),
                self.on(target),
            );
            self.push_words(target, words, Verb::Alter, Vec::new());
        }
        let mut lacking = had.clone();
        lacking.retain(|name, can_pass| given.get(name) != Some(&*can_pass));
        self.grant_again(target, grantee, &lacking);
    }

    /// Grants privileges, the ones to be passed on in a separate statement.
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
        check_of("app", from, to, expected);
    }

    fn check_of(role: &str, from: &str, to: &str, expected: &[&str]) {
        let options = PlanOptions {
            managed_roles: vec![role.to_owned()],
            ..PlanOptions::default()
        };
        let mut plan = crate::postgres::plan(&read(from), &read(to), &options).unwrap();
        plan.hold_back(&Allowed::default());
        let about = plan.statements.iter();
        let about = about.filter(|each| each.object.kind == ObjectKind::Privilege);
        let found: Vec<String> = about.map(crate::Statement::line).collect();
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

    #[test]
    fn a_managed_role_loses_no_privilege_on_a_recreated_view_without_a_yes() {
        let viewed = |kind: &str, grant: &str| {
            format!("CREATE TABLE t (a {kind}); CREATE VIEW v AS SELECT a FROM t; {grant}")
        };
        let from = viewed("int", "GRANT SELECT, INSERT ON v TO app;");
        let grant = "GRANT INSERT, SELECT ON TABLE public.v TO app";
        let revoke = "-- REVOKE INSERT ON TABLE public.v FROM app";
        let same = viewed("bigint", "GRANT SELECT, INSERT ON v TO app;");
        check(&from, &same, &[grant]);
        let less = viewed("bigint", "GRANT SELECT ON v TO app;");
        check(&from, &less, &[grant, revoke]);
        let other = viewed("bigint", "GRANT DELETE ON v TO app;");
        let expected = [
            grant,
            "-- REVOKE INSERT, SELECT ON TABLE public.v FROM app",
            "GRANT DELETE ON TABLE public.v TO app",
        ];
        check(&from, &other, &expected);
    }

    #[test]
    fn nothing_is_granted_on_a_column_that_a_view_may_not_have_any_more() {
        let viewed = |columns: &str, grant: &str| {
            format!("CREATE TABLE t ({columns}); CREATE VIEW v AS SELECT * FROM t; {grant}")
        };
        let from = viewed("a int, b int", "GRANT SELECT (b) ON v TO app;");
        let to = viewed("a bigint, c int -- @renamed from=b\n", "");
        check(&from, &to, &[]);
    }

    #[test]
    fn a_recreated_type_is_not_opened_to_everybody() {
        let (open, other) = (
            "CREATE TYPE mood AS ENUM ('a', 'b');",
            "CREATE TYPE mood AS ENUM ('b', 'a');",
        );
        let close = "REVOKE USAGE ON TYPE mood FROM PUBLIC;";
        let closed = |made: &str| format!("{made} {close}");
        let revoke = "REVOKE USAGE ON TYPE public.mood FROM public";
        let grant = "-- GRANT USAGE ON TYPE public.mood TO public";
        let check = |from: &str, to: &str, expected: &[&str]| {
            check_of("public", from, to, expected);
        };
        check(&closed(open), &closed(other), &[revoke]);
        check(&closed(open), other, &[revoke, grant]);
        check(open, &closed(other), &[&format!("-- {revoke}")]);
        check(open, other, &[]);
    }

    #[test]
    fn a_function_in_the_place_of_another_is_not_opened_to_everybody() {
        let made = |what: &str| format!("CREATE {what} LANGUAGE sql AS 'SELECT 1';");
        let closed = |what: &str, of: &str| {
            let open = made(what);
            format!("{open} REVOKE EXECUTE ON {of} FROM PUBLIC;")
        };
        let check = |from: &str, to: &str, expected: &[&str]| {
            check_of("public", from, to, expected);
        };
        let small = "FUNCTION f(a int) RETURNS int";
        let large = "FUNCTION f(a bigint) RETURNS int";
        let to = closed(large, "FUNCTION f(bigint)");
        let revoke = "REVOKE EXECUTE ON FUNCTION public.f(bigint) FROM public";
        check(&closed(small, "FUNCTION f(int)"), &to, &[revoke]);
        check(&made(small), &to, &[&format!("-- {revoke}")]);
        // It stays closed.
        check(&closed(small, "FUNCTION f(int)"), &made(large), &[]);
        let (function, procedure) = ("FUNCTION f() RETURNS int", "PROCEDURE f()");
        let revoke = "REVOKE EXECUTE ON PROCEDURE public.f() FROM public";
        let from = closed(function, "FUNCTION f()");
        check(&from, &closed(procedure, "PROCEDURE f()"), &[revoke]);
    }
}
