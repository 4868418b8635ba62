//! Each kind of object: made on the server, exported, loaded into an empty database, exported
//! again.

use schema::Server;
use schema_db::Database;

use super::Databases;
use super::made;
use crate::bench::{self, dumped};

#[test]
fn every_kind_goes_there_and_comes_back() {
    for variable in ["HAKARU_TEST_POSTGRES_URL", "HAKARU_TEST_POSTGRES18_URL"] {
        let bench = Databases::new(variable, None);
        let mut failed = Vec::new();
        let is_new = variable == "HAKARU_TEST_POSTGRES18_URL";
        let newer = made::SINCE_17.into_iter().filter(|_| is_new);
        for (kind, made) in made::KINDS.into_iter().chain(newer) {
            // Some of this is in no schema, so that cleaning a database would leave it.
            let ((one, mut database), (other, mut copy)) = (bench.make(), bench.make());
            let mut done = round_trip(&mut database, &mut copy, made);
            let dump = |name: &str| {
                let words = ["--schema-only".to_owned(), address(&bench.url, name)];
                dumped(variable, &words)
            };
            let raw = dump(&one);
            if raw != dump(&other) {
                failed.push(format!("{kind}: {}", difference(&raw, &dump(&other))));
            }
            done = done.and_then(|()| is_read_whole(&raw, &mut database));
            failed.extend(done.err().map(|error| format!("{kind}: {error}")));
            // A database with subscriptions is not dropped.
            for name in ["sub", "other"]
                .into_iter()
                .filter(|_| kind == "subscription")
            {
                for database in [&mut database, &mut copy] {
                    let gone = format!("DROP SUBSCRIPTION IF EXISTS {name}");
                    database.execute(&gone).unwrap();
                }
            }
            drop((database, copy));
            let mut admin = super::server(&bench.url, None);
            for name in [one, other] {
                let gone = format!("DROP DATABASE {name} WITH (FORCE)");
                admin.execute(&gone).unwrap();
            }
        }
        assert!(failed.is_empty(), "{variable}: {}", failed.join("\n"));
    }
}

/// Lines of one text that the other lacks, both ways.
fn difference(one: &str, other: &str) -> String {
    let without = |text: &str, other: &str| -> Vec<String> {
        let lines = text.lines();
        let lines = lines.filter(|line| !other.lines().any(|found| found == *line));
        lines.map(str::to_owned).collect()
    };
    let (gone, new) = (without(one, other), without(other, one));
    format!("gone {gone:#?}, new {new:#?} (or another order)")
}

fn round_trip(
    database: &mut dyn Database,
    copy: &mut dyn Database,
    made: &str,
) -> Result<(), String> {
    let message = |error: schema_db::DbError| error.message;
    database.execute(made).map_err(message)?;
    let unseen = database.unseen().map_err(message)?;
    if !unseen.is_empty() {
        return Err(format!("not seen: {unseen:?}"));
    }
    let exported = database.export().map_err(message)?;
    let schema = bench::load_whole(&exported, &database.server().clone())?;
    for sql in schema.statements() {
        let done = copy.execute(&sql);
        done.map_err(|error| format!("{}\n  at: {sql}", error.message))?;
    }
    let again = copy.export().map_err(message)?;
    let copied = bench::load_whole(&again, &copy.server().clone())?;
    let (first, second) = (schema.statements(), copied.statements());
    if first != second {
        return Err(format!("{first:#?}\nbecame\n{second:#?}"));
    }
    let options = schema::PlanOptions::default();
    let plan = schema::plan(&copied, &schema, &options).map_err(|error| error.to_string())?;
    match plan.statements.is_empty() {
        true => Ok(()),
        false => Err(bench::spelled(&plan)),
    }
}

/// The server's address with another database.
fn address(url: &str, name: &str) -> String {
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

/// `pg_dump`'s output is read completely: everything in the database, and nothing else.
fn is_read_whole(dump: &str, database: &mut dyn Database) -> Result<(), String> {
    let server: Server = database.server().clone();
    let read = bench::load_whole(dump, &server)?;
    let exported = database.export().map_err(|error| error.message)?;
    let exported = bench::load(&exported, &server)?;
    for (from, to) in [(&exported, &read), (&read, &exported)] {
        let options = schema::PlanOptions::default();
        let plan = schema::plan(from, to, &options).map_err(|error| error.to_string())?;
        if !plan.statements.is_empty() {
            return Err(bench::spelled(&plan));
        }
    }
    Ok(())
}

#[test]
fn an_event_trigger_sees_nothing_of_a_schema_that_is_tried_out() {
    let bench = Databases::new("HAKARU_TEST_POSTGRES_URL", None);
    let mut scratch = bench::Bench::empty(&bench);
    let statements = [
        "CREATE FUNCTION no() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'",
        "CREATE EVENT TRIGGER et ON ddl_command_end EXECUTE FUNCTION no()",
        "CREATE TABLE t (a int)",
    ];
    let statements = statements.map(str::to_owned);
    let stored = scratch.database().read_back(&statements).unwrap();
    for part in ["CREATE EVENT TRIGGER et", "CREATE TABLE public.t"] {
        assert!(stored.contains(part), "{stored}");
    }
}
