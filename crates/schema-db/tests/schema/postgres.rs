//! PostgreSQL 15 and 18.

mod catalogue;
mod changes;
mod features;
mod kinds;
mod locks;
mod losses;
mod made;
mod pairs;
mod real;
mod unseen;

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use schema::{Product, Server};
use schema_db::Database;
use schema_db::postgres::{self, Postgres, PostgresAddress};
use serde_json::Value;

use crate::bench::{self, Bench, Scratch};
use crate::cases::{self, Exception};

const FILE: &str = "cases-postgres.json";

/// Roles named in the cases.
const ROLES: [&str; 7] = [
    "psqldef_user",
    "readonly_user",
    "app_user",
    "admin_role",
    "user1",
    "user2",
    "user3",
];

/// A collation named in the cases, which databases have where the machine has the locale.
const EN_US: &str = "SET allow_system_table_mods = on; \
    CREATE COLLATION IF NOT EXISTS pg_catalog.\"en_US\" (provider = icu, locale = 'en-US'); \
    RESET allow_system_table_mods";

/// Databases of a server, with names unique to the process.
struct Databases {
    url: String,
    /// Schema of unqualified names; `None` for `public`.
    default_schema: Option<&'static str>,
    /// Free databases, emptied before reuse: creating a database, and connecting, takes longer.
    free: RefCell<Vec<(String, Postgres)>>,
    /// Whether the stored form of a schema is read in such a database too, for long runs.
    is_hurried: bool,
    /// Roles whose privileges are part of the schema.
    managed_roles: &'static [&'static str],
}

struct OneDatabase<'a> {
    bench: &'a Databases,
    name: String,
    /// `None` while being returned.
    database: Option<Postgres>,
}

fn server(url: &str, dbname: Option<&str>) -> Postgres {
    let address = PostgresAddress {
        url: Some(url.to_owned()),
        dbname: dbname.map(str::to_owned),
        ..PostgresAddress::default()
    };
    postgres::connect(&address).unwrap_or_else(|error| panic!("{url}: {error:?}"))
}

impl Databases {
    fn new(variable: &str, default_schema: Option<&'static str>) -> Databases {
        let url = std::env::var(variable).unwrap_or_else(|_| {
            panic!("set {variable}, or run `cargo xtask with-servers cargo test …`")
        });
        let mut admin = server(&url, None);
        for role in ROLES {
            // Another test of this program may be making it just now.
            let _ = admin.execute(&format!("CREATE ROLE {role} LOGIN"));
        }
        let _ = admin.execute("CREATE ROLE postgres");
        // One without a directory of its own, as the server's tests have it.
        admin
            .execute("SET allow_in_place_tablespaces = on")
            .unwrap();
        let _ = admin.execute("CREATE TABLESPACE hakaru_space LOCATION ''");
        Databases {
            url,
            default_schema,
            free: RefCell::new(Vec::new()),
            is_hurried: false,
            managed_roles: &[],
        }
    }

    fn major(&self) -> u32 {
        server(&self.url, None).server().version.unwrap().0
    }
}

impl Databases {
    fn make(&self) -> (String, Postgres) {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: only the uniqueness of the number matters.
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hakaru_test_{}_{count}", std::process::id());
        let mut admin = server(&self.url, None);
        admin
            .execute(&format!("CREATE DATABASE {name} TEMPLATE template0"))
            .unwrap();
        if let Some(schema) = self.default_schema {
            admin
                .execute(&format!("ALTER DATABASE {name} SET search_path = {schema}"))
                .unwrap();
            server(&self.url, Some(&name))
                .execute(&format!("CREATE SCHEMA {schema}"))
                .unwrap();
        }
        let mut database = server(&self.url, Some(&name));
        database.execute(EN_US).unwrap();
        (name, database)
    }
}

impl Drop for Databases {
    fn drop(&mut self) {
        let mut admin = server(&self.url, None);
        for (name, _) in self.free.borrow().iter() {
            let _ = admin.execute(&format!("DROP DATABASE {name} WITH (FORCE)"));
        }
    }
}

impl Bench for Databases {
    fn empty(&self) -> Box<dyn Scratch + '_> {
        let taken = self.free.borrow_mut().pop();
        let (name, database) = match taken {
            Some((name, mut database)) => {
                clean(&mut database, self.default_schema);
                (name, database)
            }
            None => self.make(),
        };
        Box::new(OneDatabase {
            bench: self,
            name,
            database: Some(database),
        })
    }
}

/// What no schema holds, then extensions and schemas: words of `DROP`, and a query for the names.
const OBJECTS: [(&str, &str); 6] = [
    (
        "EVENT TRIGGER",
        "SELECT quote_ident(evtname) FROM pg_event_trigger",
    ),
    (
        "PUBLICATION",
        "SELECT quote_ident(pubname) FROM pg_publication",
    ),
    (
        "FOREIGN DATA WRAPPER",
        "SELECT quote_ident(fdwname) FROM pg_foreign_data_wrapper",
    ),
    (
        "EXTENSION",
        "SELECT quote_ident(extname) FROM pg_extension WHERE extname <> 'plpgsql'",
    ),
    (
        "SCHEMA",
        "SELECT quote_ident(nspname) FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'",
    ),
    (
        "ACCESS METHOD",
        "SELECT quote_ident(amname) FROM pg_am WHERE oid >= 16384",
    ),
];

/// Drops everything possibly created by a test.
fn clean(database: &mut Postgres, default_schema: Option<&str>) {
    // A test may have failed within a transaction.
    database.execute("ROLLBACK").unwrap();
    for (what, names) in OBJECTS {
        let rows = database.query(names).unwrap();
        for name in rows.into_iter().flatten().flatten() {
            let gone = format!("DROP {what} {name} CASCADE");
            database.execute(&gone).unwrap();
        }
    }
    for schema in ["public"].into_iter().chain(default_schema) {
        database
            .execute(&format!("CREATE SCHEMA {schema}"))
            .unwrap();
    }
}

impl Drop for OneDatabase<'_> {
    fn drop(&mut self) {
        if let Some(database) = self.database.take() {
            self.bench
                .free
                .borrow_mut()
                .push((std::mem::take(&mut self.name), database));
        }
    }
}

impl Scratch for OneDatabase<'_> {
    fn database(&mut self) -> &mut dyn Database {
        self.database.as_mut().unwrap()
    }

    fn can_be_asked(&self) -> bool {
        true
    }

    fn managed_roles(&self) -> &'static [&'static str] {
        self.bench.managed_roles
    }

    fn stored(&mut self, statements: &[String]) -> Result<String, String> {
        if !self.bench.is_hurried {
            let stored = self.database().read_back(statements);
            return stored.map_err(|error| format!("asking: {error:?}"));
        }
        let mut other = self.bench.empty();
        for sql in statements {
            // As in a scratch database, what one cannot have is left out.
            let _ = other.database().execute(sql);
        }
        let text = other.database().export();
        text.map_err(|error| format!("asking: {error:?}"))
    }

    fn catalogue(&mut self) -> Vec<String> {
        catalogue::lines(self.database.as_mut().unwrap())
    }
}

fn unknown() -> Server {
    Server::unknown(Product::Postgres)
}

fn is_for_us(case: &Value) -> bool {
    case["flavor"].is_null()
}

fn in_public(case: &Value) -> bool {
    is_for_us(case) && case["user"].is_null()
}

fn in_foo(case: &Value) -> bool {
    is_for_us(case) && !case["user"].is_null()
}

/// Cases not accepted by any server here.
const NOT_REACHED: [Exception; 2] = [
    (
        "tests_aurora_dsql/CreateIndexAsyncWithWhere",
        "ASYNC is Aurora DSQL's, and no word of PostgreSQL",
    ),
    (
        "tests_aurora_dsql/AddIndexAsync",
        "ASYNC is Aurora DSQL's, and no word of PostgreSQL",
    ),
];

/// What version 15 does not know.
const NOT_IN_15: [Exception; 3] = [
    (
        "tests_constraints/UniqueWithoutOverlaps",
        "WITHOUT OVERLAPS came with version 18",
    ),
    (
        "tests_constraints/ForeignKeyWithPeriod",
        "WITHOUT OVERLAPS came with version 18",
    ),
    (
        "tests_constraints/AddPrimaryKeyWithoutOverlaps",
        "WITHOUT OVERLAPS came with version 18",
    ),
];

/// Where sqldef's text is not what we want to write.
const SPELLED_OTHERWISE: [Exception; 9] = [
    (
        "tests_aurora_dsql/AddIndexAsync",
        "ASYNC is Aurora DSQL's, and no word of PostgreSQL",
    ),
    (
        "tests_domains/AlterDomainAddCheck",
        "sqldef leaves a domain's check that is not wanted any more; we drop it",
    ),
    (
        "tests_domains/AlterDomainAddNamedCheck",
        "sqldef leaves a domain's check that is not wanted any more; we drop it",
    ),
    (
        "tests_pgvector/CreateVectorExtension",
        "sqldef quotes this name although the setting says that it should not",
    ),
    (
        "tests_pgvector/CreateHnswIndexWithOptions",
        "we write an index's parameters in alphabetical order",
    ),
    (
        "tests_set/SetSearchPathTo",
        "sqldef passes over SET search_path; for us the table is in the schema that the text names",
    ),
    (
        "tests_triggers/CreateTriggerWithoutForEachRow",
        "sqldef makes a trigger for rows of one for statements",
    ),
    (
        "tests_types/AlterTypeAddValue",
        "sqldef leaves values that are not wanted any more; we make the type anew without them",
    ),
    (
        "tests_types/RenameEnumValueWithSchema",
        "sqldef leaves values that are not wanted any more; we make the type anew without them",
    ),
];

fn every_case(variable: &str) {
    let bench = Databases::new(variable, None);
    let major = bench.major();
    println!("PostgreSQL {major}");
    let mut exceptions = NOT_REACHED.to_vec();
    if major < 18 {
        exceptions.extend(NOT_IN_15);
    }
    cases::on_server(FILE, &bench, &in_public, &exceptions);
    cases::on_server(FILE, &Databases::new(variable, Some("foo")), &in_foo, &[]);
}

/// Exceptions in addition to the ones in Hakaru's own order.
const NOT_IN_SQLDEFS_ORDER: [Exception; 1] = [(
    "tests_set/SetSearchPathTo",
    "the text names another schema than the bench has",
)];

fn every_case_as_sqldef(variable: &str) {
    let bench = Databases::new(variable, None);
    let mut exceptions = NOT_IN_SQLDEFS_ORDER.to_vec();
    exceptions.extend(NOT_REACHED);
    if bench.major() < 18 {
        exceptions.extend(NOT_IN_15);
    }
    cases::on_server_as_sqldef(FILE, &bench, &in_public, &exceptions);
    cases::on_server_as_sqldef(FILE, &Databases::new(variable, Some("foo")), &in_foo, &[]);
}

#[test]
fn every_case_in_sqldefs_order_on_15() {
    every_case_as_sqldef("HAKARU_TEST_POSTGRES_URL");
}

#[test]
fn every_case_in_sqldefs_order_on_18() {
    every_case_as_sqldef("HAKARU_TEST_POSTGRES18_URL");
}

#[test]
fn every_case_ends_where_it_should_and_goes_back_on_15() {
    every_case("HAKARU_TEST_POSTGRES_URL");
}

#[test]
fn every_case_ends_where_it_should_and_goes_back_on_18() {
    every_case("HAKARU_TEST_POSTGRES18_URL");
}

#[test]
fn the_drop_in_spelling_is_sqldefs() {
    let in_public = |case: &Value| case["user"].is_null() && case["manage"] == false;
    cases::spelled_as_sqldef(FILE, &unknown(), &in_public, &SPELLED_OTHERWISE);
}

#[test]
fn real_schemas_are_read_whole_and_reached() {
    real::files(&unknown(), "HAKARU_TEST_POSTGRES18_URL");
}

#[test]
fn features_are_reached_there_and_back() {
    for variable in ["HAKARU_TEST_POSTGRES_URL", "HAKARU_TEST_POSTGRES18_URL"] {
        let bench = Databases::new(variable, None);
        cases::features(&bench, features::FEATURES.into_iter());
    }
}

#[test]
fn what_is_held_back_leaves_the_rest() {
    let bench = Databases::new("HAKARU_TEST_POSTGRES_URL", None);
    for (one, other) in features::FEATURES {
        for (current, desired) in [(one, other), (other, one)] {
            let mut scratch = bench.empty();
            bench::reach(&mut *scratch, current).unwrap();
            let approached = bench::approach(&mut *scratch, desired);
            approached.unwrap_or_else(|error| panic!("{current}\n{desired}\n{error}"));
        }
    }
}

fn random_pairs(variable: &str, share: (u64, u64)) {
    let mut bench = Databases::new(variable, None);
    bench.is_hurried = true;
    bench.managed_roles = &pairs::MANAGED;
    crate::pairs::run(&bench, variable, share, &pairs::pair);
}

#[test]
fn random_pairs_are_reached_and_rows_survive_on_15() {
    random_pairs("HAKARU_TEST_POSTGRES_URL", (0, 2));
}

#[test]
fn random_pairs_are_reached_and_rows_survive_on_18() {
    random_pairs("HAKARU_TEST_POSTGRES18_URL", (1, 2));
}

#[test]
fn values_are_neither_lost_nor_changed_without_a_yes() {
    let bench = Databases::new("HAKARU_TEST_POSTGRES_URL", None);
    crate::losses::check(&bench, &losses::CHANGES);
}

#[test]
fn a_database_matches_the_text_that_made_it() {
    for variable in ["HAKARU_TEST_POSTGRES_URL", "HAKARU_TEST_POSTGRES18_URL"] {
        let bench = Databases::new(variable, None);
        for text in features::STORED {
            let mut scratch = bench.empty();
            scratch.database().execute(text).unwrap();
            bench::reach(&mut *scratch, text).unwrap_or_else(|error| panic!("{text}\n{error}"));
            let text = scratch.database().export().unwrap();
            let mut other = bench.empty();
            bench::reach(&mut *other, &text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        }
    }
}

#[test]
fn what_killed_runs_left_is_removed() {
    let bench = Databases::new("HAKARU_TEST_POSTGRES_URL", None);
    let databases = "SELECT datname FROM pg_database";
    crate::left::is_removed(bench.empty().database(), databases);
}
