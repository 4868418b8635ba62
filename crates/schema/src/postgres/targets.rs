//! Objects with privileges: where a schema has them, and whose they are.

use super::model::{Meta, Schema, Table, Target};
use super::name::{Name, fold, made, quote};
use crate::ObjectKind;

/// Name for the owner of the object. No role has this name.
pub(crate) const OWNER: &str = "";

/// The connected role where its name is not known; as [`fold`] writes the server's own word.
const CONNECTED: &str = "current_user";

/// Words for objects of privileges on later objects, and the kind of the targets.
pub(crate) const MADE_LATER: [(&str, &str); 7] = [
    ("TABLES", "TABLES"),
    ("SEQUENCES", "SEQUENCES"),
    ("FUNCTIONS", "FUNCTIONS"),
    ("ROUTINES", "FUNCTIONS"),
    ("TYPES", "TYPES"),
    ("SCHEMAS", "SCHEMAS"),
    ("LARGE OBJECTS", "LARGE OBJECTS"),
];

/// Whether privileges of the kind are on objects made later.
pub(crate) fn is_default(kind: &str) -> bool {
    MADE_LATER.iter().any(|(_, known)| *known == kind)
}

/// Whether names of a kind are unique in the whole database.
pub(crate) fn is_global(kind: &str) -> bool {
    matches!(
        kind,
        "SCHEMA" | "LANGUAGE" | "FOREIGN DATA WRAPPER" | "FOREIGN SERVER"
    )
}

impl Schema {
    /// The connected role, owner of everything without another.
    pub(crate) fn connected(&self) -> &str {
        self.role.as_deref().unwrap_or(CONNECTED)
    }

    /// The owner of an object, or of later ones; `None` for an object not in the schema.
    pub(crate) fn owner_of<'s>(&'s self, target: &'s Target) -> Option<&'s str> {
        let stated = self.stated_owner(target)?;
        let stated = stated.filter(|role| *role != CONNECTED);
        Some(stated.unwrap_or_else(|| self.connected()))
    }

    /// The owner named by a statement, of an object in the schema.
    pub(crate) fn stated_owner<'s>(&'s self, target: &'s Target) -> Option<Option<&'s str>> {
        let name = &target.name;
        if is_default(target.kind) {
            return Some(Some(name.name.as_str()).filter(|role| !role.is_empty()));
        }
        let meta = self.meta_of(target);
        let owner = meta.map(|meta| meta.owner.as_ref().map(|owner| owner.role.as_str()));
        match target.kind == "SCHEMA" && name.name == "public" {
            // A role of the server's own.
            true => Some(owner.flatten().or(Some("pg_database_owner"))),
            false => owner,
        }
    }

    fn meta_of(&self, target: &Target) -> Option<&Meta> {
        let name = &target.name;
        let kept = || {
            let mut kept = self.kept.iter();
            let found = kept.find(|((kind, name), _)| of_target(target, *kind, name));
            found.map(|(_, kept)| &kept.meta)
        };
        match target.kind {
            "SCHEMA" => self.schemas.get(&name.name).map(|schema| &schema.meta),
            "TABLE" => {
                let table = self.tables.get(name).map(|table| &table.meta);
                let view = || self.views.get(name).map(|view| &view.meta);
                table.or_else(view).or_else(kept)
            }
            "SEQUENCE" => {
                let sequence = self.sequences.get(name);
                let table = sequence.and_then(|sequence| sequence.owned_by.as_ref());
                let table = table.and_then(|(table, _)| self.tables.get(table));
                let table = table.or_else(|| self.numbered_by(name));
                let meta = table.map(|table| &table.meta);
                meta.or_else(|| sequence.map(|sequence| &sequence.meta))
            }
            "FUNCTION" | "PROCEDURE" => {
                let key = (name.clone(), target.signature.clone());
                let function = self.functions.get(&key).map(|function| &function.meta);
                function.or_else(kept)
            }
            "TYPE" => {
                let found = self.types.get(name).map(|found| &found.meta);
                found.or_else(kept)
            }
            _ => kept(),
        }
    }

    /// The table with a column numbered by the sequence, by the server's name for the latter.
    fn numbered_by(&self, name: &Name) -> Option<&Table> {
        self.tables.values().find(|table| {
            let mut columns = table.columns.values();
            table.name.schema == name.schema
                && columns.any(|column| match &column.serial {
                    Some(serial) => serial == name,
                    None if column.identity.is_none() => false,
                    None => {
                        let (table, column) = (&table.name.name, &column.name);
                        made(table, Some(column), "seq", |_| false) == name.name
                    }
                })
        })
    }

    /// The role written in a statement.
    pub(crate) fn role_of(&self, written: &str) -> String {
        self.role_named(&fold(written))
    }

    /// The role of a name, which may be a word for the connected one.
    pub(crate) fn role_named(&self, name: &str) -> String {
        let is_connected = matches!(name, CONNECTED | "current_role" | "session_user");
        let name = if is_connected { self.connected() } else { name };
        name.to_owned()
    }

    /// The key of a role's privileges on an object.
    pub(crate) fn holder(&self, target: &Target, role: &str) -> String {
        match Some(role) == self.owner_of(target) {
            true => OWNER.to_owned(),
            false => role.to_owned(),
        }
    }
}

/// Whether a schema has a type, language, wrapper or server.
pub(crate) fn has(schema: &Schema, target: &Target) -> bool {
    let mut kept = schema.kept.keys();
    target.kind == "TYPE" && schema.types.contains(&target.name)
        || kept.any(|(kind, name)| of_target(target, *kind, name))
}

/// Whether an object compared by words is what the privileges are on.
pub(crate) fn of_target(target: &Target, kind: ObjectKind, name: &str) -> bool {
    let kinds: &[ObjectKind] = match target.kind {
        "FUNCTION" => {
            // The words of an aggregate over ordered rows, and of one that takes everything.
            let name = name.replace(" ORDER BY ", ", ").replace("(*)", "()");
            let called = format!("{}({})", target.name.quoted(), target.signature);
            return kind == ObjectKind::Aggregate && name == called;
        }
        "TABLE" => &[ObjectKind::ForeignTable],
        "TYPE" => &[
            ObjectKind::BaseType,
            ObjectKind::CompositeType,
            ObjectKind::RangeType,
        ],
        "LANGUAGE" => &[ObjectKind::Language],
        "FOREIGN DATA WRAPPER" => &[ObjectKind::ForeignDataWrapper],
        "FOREIGN SERVER" => &[ObjectKind::ForeignServer],
        _ => return false,
    };
    let is_named = || match is_global(target.kind) {
        true => quote(&target.name.name) == name,
        false => target.name.quoted() == name,
    };
    kinds.contains(&kind) && is_named()
}

/// Whether a schema has a function, procedure or aggregate.
pub(crate) fn has_routine(schema: &Schema, target: &Target) -> bool {
    let key = (target.name.clone(), target.signature.clone());
    schema.functions.contains(&key) || has(schema, target)
}

/// Whether a schema has a table, view or foreign table.
pub(crate) fn has_relation(schema: &Schema, target: &Target) -> bool {
    let name = &target.name;
    schema.tables.contains(name) || schema.views.contains(name) || has(schema, target)
}

#[cfg(test)]
mod tests {
    use crate::{Allowed, ObjectKind, PlanOptions, Product, Server, Source};

    /// The statements about privileges between two texts, held-back ones behind `--`, where the
    /// connected role is `me` and everybody's name is managed.
    fn check(from: &str, to: &str, expected: &[&str]) {
        let server = Server {
            role: Some("me".to_owned()),
            ..Server::unknown(Product::Postgres)
        };
        let read = |text: &str| {
            let source = Source {
                name: "text".to_owned(),
                text: text.to_owned(),
            };
            super::super::read(&[source], &server, 1).unwrap().0
        };
        let options = PlanOptions {
            managed_roles: ["me", "app", "other"].map(str::to_owned).to_vec(),
            server: Some(server.clone()),
            ..PlanOptions::default()
        };
        let mut plan = super::super::plan(&read(from), &read(to), &options).unwrap();
        plan.hold_back(&Allowed::default());
        let about = plan.statements.iter();
        let about = about
            .filter(|each| matches!(each.object.kind, ObjectKind::Privilege | ObjectKind::Owner));
        let found: Vec<String> = about.map(crate::Statement::line).collect();
        assert_eq!(found, expected, "{from} to {to}");
    }

    #[test]
    fn an_owner_has_what_no_statement_takes_away() {
        let open = "CREATE TABLE t (a int);";
        let taken = format!("{open} REVOKE DELETE ON t FROM me;");
        let revoke = "REVOKE DELETE ON TABLE public.t FROM CURRENT_USER";
        check("", &taken, &[revoke]);
        check(open, &taken, &[&format!("-- {revoke}")]);
        let grant = "-- GRANT DELETE ON TABLE public.t TO CURRENT_USER";
        check(&taken, open, &[grant]);
        let spelled = format!(
            "{open} REVOKE ALL ON t FROM CURRENT_USER; GRANT SELECT, INSERT, UPDATE, TRUNCATE, REFERENCES, TRIGGER, MAINTAIN ON t TO me;"
        );
        check(&taken, &spelled, &[]);
        // What is revoked from others was never theirs.
        check(open, &format!("{open} REVOKE ALL ON t FROM app;"), &[]);
    }

    #[test]
    fn the_owners_privileges_follow_the_owner() {
        let table = "CREATE TABLE t (a int);";
        let of_app = format!("{table} ALTER TABLE t OWNER TO app;");
        let taken = format!("{table} REVOKE DELETE ON t FROM me; ALTER TABLE t OWNER TO app;");
        let later = format!("{of_app} REVOKE DELETE ON t FROM app; GRANT SELECT ON t TO other;");
        let other = "GRANT SELECT ON TABLE public.t TO other";
        let revoke = "REVOKE DELETE ON TABLE public.t FROM";
        let owner = "ALTER TABLE public.t OWNER TO app";
        check(&taken, &later, &[other]);
        check(
            "",
            &later,
            &[&format!("{revoke} CURRENT_USER"), other, owner],
        );
        let held = format!("-- {revoke} app");
        check(&of_app, &taken, &[&held]);
        check(&of_app, table, &[]);
    }

    #[test]
    fn a_recreated_view_is_not_opened_to_its_owner() {
        let made = "CREATE TABLE t (a int); CREATE VIEW v AS SELECT a FROM t; ALTER VIEW v OWNER TO nobody; \
                    REVOKE INSERT ON v FROM nobody;";
        let wanted = "CREATE TABLE t (a bigint); CREATE VIEW v AS SELECT a FROM t;";
        let revoke = "REVOKE INSERT ON TABLE public.v FROM CURRENT_USER";
        check(made, wanted, &[revoke]);
    }

    #[test]
    fn what_a_role_takes_from_itself_of_later_objects_is_compared() {
        let of_app = "ALTER DEFAULT PRIVILEGES FOR ROLE app REVOKE DELETE ON TABLES FROM app;";
        let own = "ALTER DEFAULT PRIVILEGES REVOKE DELETE ON TABLES FROM CURRENT_USER;";
        let head = "ALTER DEFAULT PRIVILEGES";
        check(
            "",
            of_app,
            &[&format!("-- {}", of_app.trim_end_matches(';'))],
        );
        let own_named = format!("-- {head} REVOKE DELETE ON TABLES FROM CURRENT_USER");
        check("", own, &[&own_named]);
        let given = format!("-- {head} FOR ROLE app GRANT DELETE ON TABLES TO app");
        check(of_app, "", &[&given]);
        check(
            own,
            "ALTER DEFAULT PRIVILEGES FOR ROLE me REVOKE DELETE ON TABLES FROM me;",
            &[],
        );
    }
}
