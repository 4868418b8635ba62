//! PostgreSQL: squawk's grammar, a model of Hakaru's own, and executable plans.
//!
//! Flow: [`read()`] cuts texts into statements (`split`), parses them (`parser`; plain ones take a
//! shorter path, `read::plain`) and folds each into a [`Schema`] (`read`); [`plan()`] applies
//! former names from comments (`renames`), compares object by object (`diff`, by `normal`) and
//! arranges statements (`order`), which `print` spells in either style.
//!
//! The form of a schema as stored by a server ([`Schema::adopt`]) is kept beside it, and whatever
//! equals that form is no difference.

mod diff;
mod expr;
mod hazards;
mod interval;
mod kept;
mod listed;
mod locks;
pub(crate) mod model;
mod name;
mod normal;
mod order;
mod outline;
mod parser;
mod print;
mod read;
mod renames;
mod roles;
mod split;
mod targets;
mod types;
mod unsaid;

use crate::{Note, Object, ObjectKind, Plan, PlanError, PlanOptions, Server, Source, SyntaxError};

pub use roles::NAME_LISTS;
pub(crate) use roles::role_changes;

pub use model::Schema;

/// Kinds of objects with possible references to opaque ones.
const AFTER_OPAQUE: [ObjectKind; 8] = [
    ObjectKind::Owner,
    ObjectKind::View,
    ObjectKind::Index,
    ObjectKind::Constraint,
    ObjectKind::Policy,
    ObjectKind::Trigger,
    ObjectKind::Comment,
    ObjectKind::Privilege,
];

/// Reads SQL texts on so many cores.
///
/// # Errors
/// See [`crate::read()`].
pub fn read(
    sources: &[Source],
    server: &Server,
    cores: usize,
) -> Result<(Schema, Vec<Note>), SyntaxError> {
    read::read(sources, server, cores)
}

/// See [`crate::plan()`].
///
/// # Errors
/// See [`crate::plan()`].
pub fn plan(from: &Schema, to: &Schema, options: &PlanOptions) -> Result<Plan, PlanError> {
    order::plan(from, to, options)
}

impl Schema {
    /// See [`crate::Schema::statements`].
    pub fn statements(&self) -> Vec<String> {
        self.statements_with(&self.opaque)
    }

    /// See [`crate::Schema::compared`].
    pub fn compared(&self) -> Vec<String> {
        self.statements_with(&[])
    }

    fn statements_with(&self, opaque: &[String]) -> Vec<String> {
        let empty = Schema {
            default_schema: self.default_schema.clone(),
            role: self.role.clone(),
            ..Schema::default()
        };
        let everything = PlanOptions {
            managed_roles: self.roles(),
            ..PlanOptions::default()
        };
        let plan = order::plan(&empty, self, &everything).unwrap_or_default();
        let statements = plan.statements.into_iter();
        let (before, after): (Vec<_>, Vec<_>) = statements.partition(|statement| {
            let kind = statement.object.kind;
            !AFTER_OPAQUE.contains(&kind) && !kept::is_late(kind)
        });
        let text = |statement: crate::Statement| statement.sql;
        let mut all: Vec<String> = before.into_iter().map(text).collect();
        // Aggregates, operators, rules: made of functions and tables, and used by views.
        all.extend(opaque.iter().cloned());
        all.extend(after.into_iter().map(text));
        all
    }

    /// Roles named in privileges or as owners.
    fn roles(&self) -> Vec<String> {
        let granted = self
            .grants
            .keys()
            .map(|(target, role)| match role.as_str() {
                targets::OWNER => self.owner_of(target).unwrap_or_default(),
                role => role,
            });
        let owners = self
            .tables
            .values()
            .map(|table| &table.meta)
            .chain(self.views.values().map(|view| &view.meta))
            .chain(self.sequences.values().map(|sequence| &sequence.meta))
            .chain(self.functions.values().map(|function| &function.meta))
            .chain(self.types.values().map(|found| &found.meta))
            .chain(self.schemas.values().map(|schema| &schema.meta))
            .chain(self.kept.values().map(|kept| &kept.meta))
            .filter_map(|meta| meta.owner.as_ref().map(|owner| owner.role.as_str()));
        granted.chain(owners).map(str::to_owned).collect()
    }

    /// See [`crate::Schema::adopt`].
    pub fn adopt(&mut self, stored: &Schema) {
        self.adopt_copies(stored);
        self.stored = Some(Box::new(stored.clone()));
    }

    /// Takes over copied text search configurations as stored: only the server knows the mappings.
    fn adopt_copies(&mut self, stored: &Schema) {
        let copies = self
            .kept
            .iter()
            .filter(|(_, kept)| kept::has_copy(&kept.norm));
        for key in copies.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            let Some(known) = stored.kept.get(&key) else {
                continue;
            };
            if let Some(kept) = self.kept.get_mut(&key) {
                kept.sql.clone_from(&known.sql);
                kept.norm.clone_from(&known.norm);
            }
            let settings = stored.kept.iter();
            for (name, setting) in settings.filter(|(_, each)| each.of.as_ref() == Some(&key)) {
                self.kept.insert(name.clone(), setting.clone());
            }
        }
    }

    /// See [`crate::Schema::retain`].
    pub fn retain(&mut self, keep: &dyn Fn(&Object) -> bool) {
        let targets = self.grants.keys().map(|(target, _)| target);
        let targets = targets.filter(|target| targets::has(self, target)).cloned();
        let targets: Vec<model::Target> = targets.collect();
        let default_schema = self.default_schema.clone();
        let kept = |kind: ObjectKind, name: &name::Name| {
            keep(&Object {
                kind,
                name: name.shown(&default_schema),
            })
        };
        let named = |kind: ObjectKind, name: &str| {
            keep(&Object {
                kind,
                name: name.to_owned(),
            })
        };
        self.tables.retain(|name, table| {
            kept(ObjectKind::Table, name)
                && (table.partition_of.is_none() || kept(ObjectKind::Partition, name))
        });
        for table in self.tables.values_mut() {
            table
                .indexes
                .retain(|name, _| named(ObjectKind::Index, name));
            table
                .triggers
                .retain(|name, _| named(ObjectKind::Trigger, name));
            table
                .policies
                .retain(|name, _| named(ObjectKind::Policy, name));
        }
        self.views.retain(|name, view| match view.materialized {
            true => kept(ObjectKind::MaterializedView, name),
            false => kept(ObjectKind::View, name),
        });
        self.types.retain(|name, found| match &found.kind {
            model::TypeKind::Enum(_) => kept(ObjectKind::Type, name),
            model::TypeKind::Domain(_) => kept(ObjectKind::Domain, name),
        });
        // One that numbers a column goes with its table.
        let tables = &self.tables;
        self.sequences
            .retain(|name, sequence| match &sequence.owned_by {
                Some((table, _)) => tables.contains(table),
                None => kept(ObjectKind::Sequence, name),
            });
        self.functions
            .retain(|(name, _), _| kept(ObjectKind::Function, name));
        self.extensions
            .retain(|name, _| named(ObjectKind::Extension, name));
        self.schemas
            .retain(|name, _| named(ObjectKind::Schema, name));
        self.retain_kept(&named);
        let gone = targets.iter().filter(|target| !targets::has(self, target));
        let gone: Vec<&model::Target> = gone.collect();
        self.grants.retain(|(target, _), _| match target.kind {
            "TABLE" => kept(ObjectKind::Table, &target.name),
            _ => !gone.contains(&target),
        });
    }

    /// Retains the objects compared by words for which `keep` returns `true`, without the ones of
    /// dropped owners.
    fn retain_kept(&mut self, keep: &dyn Fn(ObjectKind, &str) -> bool) {
        let is_there = |name: &name::Name| {
            self.tables.contains(name)
                || self.views.contains(name)
                || self.tables.values().any(|table| table.has_index(name))
        };
        let foreign = self
            .kept
            .keys()
            .filter(|key| key.0 == ObjectKind::ForeignTable);
        let foreign: Vec<String> = foreign.map(|(_, name)| name.clone()).collect();
        let is_there = |name: &name::Name| is_there(name) || foreign.contains(&name.quoted());
        self.kept.retain(|(kind, name), kept| {
            keep(*kind, name) && kept.on.as_ref().is_none_or(is_there)
        });
        let kept_ones = &self.kept;
        self.foreign_triggers
            .retain(|on, _| kept_ones.contains(&(ObjectKind::ForeignTable, on.quoted())));
        let owners: Vec<kept::Key> = self.kept.keys().cloned().collect();
        self.kept
            .retain(|_, kept| kept.of.as_ref().is_none_or(|of| owners.contains(of)));
    }

    /// Schemas created explicitly, or containing an object.
    pub(crate) fn namespaces(&self) -> std::collections::BTreeSet<String> {
        let inside = self
            .tables
            .keys()
            .chain(self.views.keys())
            .chain(self.types.keys())
            .chain(self.sequences.keys())
            .chain(self.functions.keys().map(|(name, _)| name));
        let inside = inside.map(|name| name.schema.clone());
        let kept = self.kept.values();
        let inside = inside.chain(kept.filter_map(|kept| kept.schema.clone()));
        let mut all: std::collections::BTreeSet<String> =
            self.schemas.keys().cloned().chain(inside).collect();
        all.extend(
            self.extensions
                .values()
                .filter_map(|extension| extension.schema.clone()),
        );
        let columns = self
            .tables
            .values()
            .flat_map(|table| table.columns.values());
        let items = self
            .tables
            .values()
            .flat_map(|table| table.indexes.values().flat_map(|index| &index.items));
        let collations = columns
            .filter_map(|column| column.collation.as_deref())
            .chain(items.filter_map(|item| item.collation.as_deref()));
        let named = collations.filter_map(|name| name.split_once('.'));
        all.extend(named.map(|(schema, _)| name::fold(schema)));
        all.insert(self.default_schema.clone());
        all.insert("public".to_owned());
        all.insert("pg_catalog".to_owned());
        all
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::{ObjectKind, Product, Server, Source};

    #[test]
    fn partitions_can_be_left_out_as_such() {
        let source = Source {
            name: "text".to_owned(),
            text: "CREATE TABLE t (a int) PARTITION BY RANGE (a); CREATE TABLE p PARTITION OF t DEFAULT;".to_owned(),
        };
        let server = Server::unknown(Product::Postgres);
        let mut schema = super::read(&[source], &server, 1).unwrap().0;
        schema.retain(&|object| object.kind != ObjectKind::Partition);
        let names: Vec<&str> = schema
            .tables
            .keys()
            .map(|name| name.name.as_str())
            .collect();
        assert_eq!(names, ["t"]);
    }

    /// A schema read from a text, without a server.
    pub(crate) fn read(text: &str) -> super::Schema {
        let source = Source {
            name: "text".to_owned(),
            text: text.to_owned(),
        };
        let read = super::read(&[source], &Server::unknown(Product::Postgres), 1);
        read.unwrap().0
    }

    /// The statements about privileges, held-back ones behind `--`.
    fn privileges(from: &str, to: &str, role: &str) -> Vec<String> {
        let options = crate::PlanOptions {
            managed_roles: vec![role.to_owned()],
            ..crate::PlanOptions::default()
        };
        let mut plan = super::plan(&read(from), &read(to), &options).unwrap();
        plan.hold_back(&crate::Allowed::default());
        let about = plan.statements.iter();
        let about = about.filter(|statement| statement.object.kind == ObjectKind::Privilege);
        about.map(crate::Statement::line).collect()
    }

    #[test]
    fn everybody_has_what_no_statement_takes_away() {
        let open = "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';";
        let closed = format!("{open} REVOKE ALL ON FUNCTION f() FROM PUBLIC;");
        let check = |from: &str, to: &str, expected: &[&str]| {
            assert_eq!(privileges(from, to, "public"), expected, "{from} to {to}");
        };
        let revoke = "REVOKE EXECUTE ON FUNCTION public.f() FROM public";
        check("", &closed, &[revoke]);
        check(open, &closed, &[&format!("-- {revoke}")]);
        let grant = "-- GRANT EXECUTE ON FUNCTION public.f() TO public";
        check(&closed, open, &[grant]);
        check(&closed, &closed, &[]);
        check(&closed, "", &[]);
    }

    #[test]
    fn privileges_are_compared_by_column() {
        let text = |columns: &str| {
            format!("CREATE TABLE t (a int, b int, c int); GRANT SELECT ({columns}) ON t TO app;")
        };
        let check = |from: &str, to: &str, expected: &[&str]| {
            let (from, to) = (text(from), text(to));
            assert_eq!(privileges(&from, &to, "app"), expected, "{from} to {to}");
        };
        check("a, b", "b, a", &[]);
        check(
            "a, b",
            "a",
            &["-- REVOKE SELECT (b) ON TABLE public.t FROM app"],
        );
        check(
            "a",
            "c, a, b",
            &["GRANT SELECT (b, c) ON TABLE public.t TO app"],
        );
    }

    #[test]
    fn privileges_on_types_and_servers_are_compared() {
        let made = "CREATE TYPE mood AS ENUM ('a', 'b'); CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;";
        let to = format!(
            "{made} GRANT USAGE ON TYPE mood TO app; GRANT USAGE ON FOREIGN SERVER s TO app WITH GRANT OPTION; \
             GRANT USAGE ON LANGUAGE plpgsql TO app; GRANT USAGE ON FOREIGN DATA WRAPPER w TO other;"
        );
        let grants = [
            "GRANT USAGE ON TYPE public.mood TO app",
            "GRANT USAGE ON FOREIGN SERVER s TO app WITH GRANT OPTION",
            "GRANT USAGE ON LANGUAGE plpgsql TO app",
        ];
        assert_eq!(privileges(made, &to, "app"), grants);
        let revokes = privileges(&to, made, "app");
        assert!(revokes.iter().all(|sql| sql.starts_with("-- REVOKE ")));
        assert_eq!(revokes.len(), grants.len());
        // Another type of the name has none of them.
        let other = to.replace("'a', 'b'", "'b', 'a'");
        assert_eq!(privileges(&to, &other, "app"), &grants[..1]);
        assert_eq!(privileges(&to, &other, "nobody"), &grants[..1]);
    }

    #[test]
    fn privileges_on_what_is_made_later_are_compared() {
        let to = "ALTER DEFAULT PRIVILEGES FOR ROLE deploy IN SCHEMA public GRANT SELECT, INSERT ON TABLES TO app, other; \
                  ALTER DEFAULT PRIVILEGES FOR ROLE deploy IN SCHEMA public REVOKE INSERT ON TABLES FROM app; \
                  ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;";
        let head = "ALTER DEFAULT PRIVILEGES FOR ROLE deploy IN SCHEMA public";
        let check = |from: &str, to: &str, role: &str, expected: &str| {
            assert_eq!(privileges(from, to, role), [expected], "{from} to {to}");
        };
        check(
            "",
            to,
            "app",
            &format!("{head} GRANT SELECT ON TABLES TO app"),
        );
        let revoked = format!("-- {head} REVOKE SELECT ON TABLES FROM app");
        check(to, "", "app", &revoked);
        let closed = "ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM public";
        check("", to, "public", &format!("-- {closed}"));
        let opened = "ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO public";
        check(to, "", "public", &format!("-- {opened}"));
        assert!(privileges(to, to, "app").is_empty());
    }

    #[test]
    fn maintenance_is_part_of_all_where_a_server_has_it() {
        let read = |text: &str, version: Option<u32>| {
            let source = Source {
                name: "text".to_owned(),
                text: format!("CREATE TABLE t (a int); {text}"),
            };
            let server = Server {
                version: version.map(|version| crate::Version(version, 0, 0)),
                ..Server::unknown(Product::Postgres)
            };
            (super::read(&[source], &server, 1).unwrap().0, server)
        };
        let check = |from: &str, to: &str, version: Option<u32>, expected: &[&str]| {
            let ((from, server), (to, _)) = (read(from, version), read(to, version));
            let options = crate::PlanOptions {
                managed_roles: vec!["app".to_owned()],
                server: Some(server),
                ..crate::PlanOptions::default()
            };
            let plan = super::plan(&from, &to, &options).unwrap();
            let texts = plan.statements.iter().map(|each| each.sql.as_str());
            assert_eq!(texts.collect::<Vec<_>>(), expected, "{version:?}");
        };
        let all = "GRANT ALL ON t TO app;";
        let seven =
            "GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON t TO app;";
        let eight = seven.replace("TRIGGER", "TRIGGER, MAINTAIN");
        check(&eight, all, None, &[]);
        check(seven, all, None, &[]);
        check(seven, all, Some(16), &[]);
        check(&eight, all, Some(17), &[]);
        check(
            seven,
            all,
            Some(17),
            &["GRANT MAINTAIN ON TABLE public.t TO app"],
        );
        check(
            all,
            seven,
            Some(18),
            &["REVOKE MAINTAIN ON TABLE public.t FROM app"],
        );
    }

    #[test]
    fn sqldefs_spelling_is_one_that_servers_take() {
        let options = crate::PlanOptions {
            style: crate::Style::Sqldef,
            index_concurrently: true,
            ..crate::PlanOptions::default()
        };
        let from = read("CREATE TABLE t (b int);");
        let to = read(
            "CREATE TABLE t (b int, a timestamp DEFAULT (now() AT TIME ZONE 'utc')); CREATE INDEX CONCURRENTLY i ON t (b);",
        );
        let plan = super::plan(&from, &to, &options).unwrap();
        let texts: Vec<&str> = plan
            .statements
            .iter()
            .map(|each| each.sql.as_str())
            .collect();
        assert!(
            texts[0].ends_with("DEFAULT (now() at time zone 'utc')"),
            "{texts:?}"
        );
        assert_eq!(texts[1], "CREATE INDEX CONCURRENTLY i ON t (b)");
    }

    #[test]
    fn a_default_that_differs_by_row_rewrites_the_table() {
        let own = "CREATE FUNCTION f() RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1';";
        for (default, rewrites) in [
            ("gen_random_uuid()", true),
            ("md5(random()::text)", true),
            ("f()", true),
            ("now()", false),
            ("'a'", false),
        ] {
            let from = read(&format!("{own} CREATE TABLE t (b int);"));
            let to = read(&format!(
                "{own} CREATE TABLE t (b int, a text DEFAULT ({default})::text);"
            ));
            let plan = super::plan(&from, &to, &crate::PlanOptions::default()).unwrap();
            let mut hazards = plan.statements[0].hazards.iter();
            let is_named = hazards.any(|each| matches!(each, crate::Hazard::Rewrite(_)));
            assert_eq!(is_named, rewrites, "{default}");
        }
    }

    #[test]
    fn what_is_the_whole_servers_is_not_compared() {
        let shared = [
            "CREATE ROLE app LOGIN",
            "ALTER SYSTEM SET work_mem = '6MB'",
            "GRANT a TO b",
            "SECURITY LABEL FOR p ON ROLE app IS 'x'",
            "COMMENT ON DATABASE d IS 'x'",
            "DO $$ BEGIN END $$",
            "SECURITY LABEL ON IS 'x'",
        ];
        let schema = read(&format!("{}; CREATE TABLE t (a int);", shared.join("; ")));
        assert_eq!(schema.statements().len(), shared.len() + 1);
        assert_eq!(schema.compared().len(), 1, "{:?}", schema.compared());
    }
}
