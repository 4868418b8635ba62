//! What the runners need of a server.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

use schema::{Allowed, Hazard, Plan, PlanOptions, Schema, Server, Source, Style};
use schema_db::Database;
use schema_db::runner::{self, Settings};

thread_local! {
    /// What the server has said of statements since [`remember_answers`].
    static ANSWERS: RefCell<Option<HashMap<Vec<String>, String>>> = const { RefCell::new(None) };
}

/// Forgets what the server has said of statements, and asks for each only once from now on. One
/// thread must use one server.
pub fn remember_answers() {
    ANSWERS.set(Some(HashMap::new()));
}

/// Makes databases of one server.
pub trait Bench {
    /// A new, empty database, dropped with the value.
    fn empty(&self) -> Box<dyn Scratch + '_>;
}

/// A database of one test.
pub trait Scratch {
    /// The connection.
    fn database(&mut self) -> &mut dyn Database;

    /// Whether the server can be asked for the stored form of a schema.
    fn can_be_asked(&self) -> bool {
        false
    }

    /// Roles whose privileges are part of the schema.
    fn managed_roles(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the server's form of a schema.
    fn stored(&mut self, statements: &[String]) -> Result<String, String> {
        let stored = self.database().read_back(statements);
        stored.map_err(|error| format!("asking: {error:?}"))
    }

    /// The catalogue, described independently of the schema engine, in an order equal for equal
    /// schemas.
    fn catalogue(&mut self) -> Vec<String>;

    /// Whether a catalogue is what is wanted, or the same by what the text leaves to the server.
    fn is_reached(&self, ours: &[String], wanted: &[String]) -> bool {
        ours == wanted
    }
}

/// The folder of another corpus than our own, where one is named.
pub fn other_corpus() -> Option<PathBuf> {
    std::env::var_os("HAKARU_SCHEMA_CORPUS").map(PathBuf::from)
}

/// The folder of the corpus.
pub fn corpus() -> PathBuf {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../schema/fixtures/corpus");
    other_corpus().unwrap_or_else(|| PathBuf::from(own))
}

/// Reads one text.
pub fn load(text: &str, server: &Server) -> Result<Schema, String> {
    let source = Source {
        name: "schema.sql".to_owned(),
        text: text.to_owned(),
    };
    let loaded = schema::read(&[source], server);
    loaded
        .map(|loaded| loaded.schema)
        .map_err(|error| error.to_string())
}

/// A text of which every statement is understood.
pub fn load_whole(text: &str, server: &Server) -> Result<Schema, String> {
    let source = Source {
        name: "text.sql".to_owned(),
        text: text.to_owned(),
    };
    let loaded = schema::read(&[source], server).map_err(|error| error.to_string())?;
    let mut notes = loaded.notes.iter();
    match notes.find(|note| note.kind == schema::NoteKind::Opaque) {
        Some(note) => Err(format!("not read: {}", note.text)),
        None => Ok(loaded.schema),
    }
}

/// What the database holds.
pub fn exported(scratch: &mut dyn Scratch) -> Result<Schema, String> {
    let database = scratch.database();
    let text = database
        .export()
        .map_err(|error| format!("export: {error:?}"))?;
    load(&text, &database.server().clone()).map_err(|error| format!("own export: {error}"))
}

/// The plan to a text in our own style, with everything allowed.
pub fn plan_to(scratch: &mut dyn Scratch, desired: &Schema) -> Result<Plan, String> {
    let from = exported(scratch)?;
    plan_with(scratch, &from, desired, &everything())
}

fn everything() -> Allowed {
    Allowed {
        all: true,
        named: Vec::new(),
    }
}

fn plan_with(
    scratch: &mut dyn Scratch,
    from: &Schema,
    desired: &Schema,
    allowed: &Allowed,
) -> Result<Plan, String> {
    let options = PlanOptions {
        style: Style::Native,
        managed_roles: scratch
            .managed_roles()
            .iter()
            .map(|role| (*role).to_owned())
            .collect(),
        ..PlanOptions::default()
    };
    let settings = Settings {
        options,
        allowed: allowed.clone(),
        scratch: runner::Scratch::Never,
        keep: &|_| true,
    };
    let plan = runner::plan(
        from,
        &mut desired.clone(),
        Some(scratch.database()),
        &settings,
    );
    plan.map_err(|error| error.to_string())
}

/// Applies what destroys nothing of the way to a text, which must succeed; then nothing but what is
/// held back may be left. The plan.
pub fn approach(scratch: &mut dyn Scratch, text: &str) -> Result<String, String> {
    let from = exported(scratch)?;
    approach_from(scratch, &from, text)
}

/// [`approach`] from a known schema.
pub fn approach_from(
    scratch: &mut dyn Scratch,
    from: &Schema,
    text: &str,
) -> Result<String, String> {
    go(scratch, from, text, &Allowed::default())
}

/// The same with some of what destroys allowed by name; the plan.
pub fn approach_with(
    scratch: &mut dyn Scratch,
    text: &str,
    allowed: &[&str],
) -> Result<String, String> {
    let allowed = Allowed {
        all: false,
        named: allowed.iter().map(|name| (*name).to_owned()).collect(),
    };
    let from = exported(scratch)?;
    go(scratch, &from, text, &allowed)
}

fn go(
    scratch: &mut dyn Scratch,
    from: &Schema,
    text: &str,
    allowed: &Allowed,
) -> Result<String, String> {
    let server = scratch.database().server().clone();
    let mut desired = load(text, &server)?;
    let plan = plan_with(scratch, from, &desired, allowed)?;
    let applied = plan.applied().map(|statement| statement.sql.as_str());
    run(scratch, applied).map_err(|error| format!("{error}\nof\n{}", spelled(&plan)))?;
    let mut reached = exported(scratch)?;
    let mut rest = plan_with(scratch, &reached, &desired, allowed)?;
    if rest.applied().next().is_some() && scratch.can_be_asked() {
        ask(scratch, &mut desired)?;
        rest = plan_with(scratch, &reached, &desired, allowed)?;
        // What waited for something that only another spelling had held back.
        run(
            scratch,
            rest.applied().map(|statement| statement.sql.as_str()),
        )?;
        reached = exported(scratch)?;
        rest = plan_with(scratch, &reached, &desired, allowed)?;
    }
    match rest.applied().next() {
        None => Ok(spelled(&plan)),
        Some(_) => Err(format!(
            "this is left to do\n{}\nafter\n{}",
            spelled(&rest),
            spelled(&plan)
        )),
    }
}

/// Brings the database to a text, as `apply` would; then there must be nothing left to do.
pub fn reach(scratch: &mut dyn Scratch, text: &str) -> Result<(), String> {
    let from = exported(scratch)?;
    reach_from(scratch, &from, text).map(drop)
}

/// [`reach`] from a known schema; returns the reached one.
pub fn reach_from(scratch: &mut dyn Scratch, from: &Schema, text: &str) -> Result<Schema, String> {
    let server = scratch.database().server().clone();
    let mut desired = load(text, &server)?;
    let plan = plan_with(scratch, from, &desired, &everything())?;
    run(
        scratch,
        plan.applied().map(|statement| statement.sql.as_str()),
    )?;
    let reached = exported(scratch)?;
    let mut rest = plan_with(scratch, &reached, &desired, &everything())?;
    if !rest.statements.is_empty() && scratch.can_be_asked() {
        ask(scratch, &mut desired)?;
        rest = plan_with(scratch, &reached, &desired, &everything())?;
    }
    match rest.statements.first() {
        None => Ok(reached),
        Some(statement) => Err(format!(
            "{} statements are left to do after\n{}\nthe first: {}",
            rest.statements.len(),
            spelled(&plan),
            statement.sql
        )),
    }
}

/// Creates everything of a text in an empty database, as [`reach_from`] does, without asking what
/// is there then.
pub fn create(scratch: &mut dyn Scratch, text: &str) -> Result<(), String> {
    let server = scratch.database().server().clone();
    let (nothing, desired) = (load("", &server)?, load(text, &server)?);
    let plan = plan_with(scratch, &nothing, &desired, &everything())?;
    let statements = plan.applied().map(|statement| statement.sql.as_str());
    run(scratch, statements)
}

/// Asks the server for the stored form of a schema, like the program with a server at hand.
pub fn ask(scratch: &mut dyn Scratch, desired: &mut Schema) -> Result<(), String> {
    let statements = desired.compared();
    let known = ANSWERS.with_borrow(|answers| answers.as_ref()?.get(&statements).cloned());
    let stored = match known {
        Some(stored) => stored,
        None => scratch.stored(&statements)?,
    };
    ANSWERS.with_borrow_mut(|answers| {
        let answers = answers.as_mut();
        answers.map(|answers| answers.insert(statements, stored.clone()))
    });
    let stored = load(&stored, &scratch.database().server().clone())?;
    desired.adopt(&stored);
    Ok(())
}

/// Executes statements, in a transaction where helpful.
pub fn run<'a>(
    scratch: &mut dyn Scratch,
    statements: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let database = scratch.database();
    let is_transactional = database.is_transactional();
    let mut execute = |sql: &str| {
        let done = database.execute(sql);
        done.map_err(|error| format!("{}\n  at: {sql}", error.message))
    };
    if is_transactional {
        execute("BEGIN")?;
    }
    for sql in statements {
        execute(sql)?;
    }
    if is_transactional {
        execute("COMMIT")?;
    }
    Ok(())
}

/// Executes what is applied of a plan, with what stands alone outside of transactions.
pub fn run_plan(scratch: &mut dyn Scratch, plan: &Plan) -> Result<(), String> {
    let mut together: Vec<&str> = Vec::new();
    for statement in plan.applied() {
        let sql = statement.sql.as_str();
        let is_alone = statement.hazards.contains(&Hazard::NotTransactional);
        if !is_alone || !scratch.database().is_transactional() {
            together.push(sql);
            continue;
        }
        run(scratch, std::mem::take(&mut together).into_iter())?;
        let done = scratch.database().execute(sql);
        done.map_err(|error| format!("{}\n  at: {sql}", error.message))?;
    }
    run(scratch, together.into_iter())
}

/// A plan as text.
pub fn spelled(plan: &Plan) -> String {
    let statements = plan
        .statements
        .iter()
        .map(|statement| match statement.held_back {
            None => format!("{};\n", statement.sql),
            Some(_) => format!("-- Skipped: {};\n", statement.sql.replace('\n', "\n-- ")),
        });
    statements.collect()
}

/// What the server's own program for dumps prints; `variable` names the server.
pub fn dumped(variable: &str, words: &[String]) -> String {
    let name = variable.replace("_URL", "_DUMP");
    let command = std::env::var(&name)
        .unwrap_or_else(|_| panic!("{name} is not set; `cargo xtask with-servers` sets it"));
    printed(&command, words)
}

/// What a program for dumps prints. Lines that differ from one call to the next are left out.
pub fn printed(command: &str, words: &[String]) -> String {
    let mut command = command.split(' ');
    let program = command.next().unwrap();
    let output = std::process::Command::new(program)
        .args(command)
        .args(words)
        .output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let is_same_twice = |line: &&str| {
        let changing = ["\\restrict", "\\unrestrict", "-- Dump completed"];
        !changing.iter().any(|start| line.starts_with(start))
    };
    let lines: Vec<&str> = text.lines().filter(is_same_twice).collect();
    lines.join("\n")
}
