//! One run on one server, from reading the schema to reaching the wanted one.
//!
//! Order: [`begin`] locks out other runs, then reads the schema, so nobody changes it afterwards;
//! [`prepare`] plans, and takes over what an earlier run left unfinished; [`carry_out`] executes;
//! [`rest`] reads the schema again and returns what is still missing, which can only be what was
//! held back.

mod owners;

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use schema::{
    Allowed, Hazard, Loaded, Note, Object, ObjectKind, Plan, PlanError, PlanOptions, Schema,
    Server, Source, SyntaxError, Verb,
};

use crate::apply::{self, Event, Step};
use crate::journal::{self, Unfinished};
use crate::{Database, DbError, DbErrorKind};

/// Verb of a step recreating an object temporarily dropped by an earlier run.
const RESTORE: &str = "restore";

/// When the server is asked for the stored form of the wanted schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scratch {
    /// The server is not asked.
    Never,
    /// When an existing object would change by Hakaru's own idea of the server's normal form.
    #[default]
    Auto,
    /// In any case; a failure is an error.
    Always,
}

/// How two schemas are compared.
pub struct Settings<'a> {
    /// Spelling and the like.
    pub options: PlanOptions,
    /// What may be destroyed.
    pub allowed: Allowed,
    /// Whether to ask the server.
    pub scratch: Scratch,
    /// Filter: objects with the result `false` are excluded from both sides.
    pub keep: &'a dyn Fn(&Object) -> bool,
}

/// Why a run cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The server's error.
    Database(DbError),
    /// A text outside the dialect's SQL.
    Syntax(SyntaxError),
    /// Two schemas between which there is no way.
    Plan(PlanError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Database(error) => f.write_str(&error.message),
            RunError::Syntax(error) => error.fmt(f),
            RunError::Plan(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl From<DbError> for RunError {
    fn from(error: DbError) -> RunError {
        RunError::Database(error)
    }
}

impl From<SyntaxError> for RunError {
    fn from(error: SyntaxError) -> RunError {
        RunError::Syntax(error)
    }
}

impl From<PlanError> for RunError {
    fn from(error: PlanError) -> RunError {
        RunError::Plan(error)
    }
}

/// What is to be done on a server.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The server's schema before.
    pub from: Schema,
    /// The way, with what was not allowed held back.
    pub plan: Plan,
    /// An interrupted earlier run.
    pub cut_off: Option<Unfinished>,
    /// Steps recreating objects temporarily dropped by the interrupted run.
    pub restored: Vec<Step>,
}

/// Becomes the only runner; statements then wait for locks no longer than `patience` either.
///
/// # Errors
/// When another runner is there for longer.
pub fn begin(database: &mut dyn Database, patience: Duration) -> Result<(), DbError> {
    database.lock(patience)?;
    database.set_lock_timeout(patience)
}

/// The server's schema, without our own journal.
///
/// # Errors
/// Whatever the server says.
pub fn current(
    database: &mut dyn Database,
    settings: &Settings<'_>,
) -> Result<(Schema, Vec<Note>), RunError> {
    let source = |text| Source {
        name: "the server's schema".to_owned(),
        text,
    };
    let server = database.server().clone();
    let loaded = schema::read(&[source(database.export()?)], &server)?;
    let (mut schema, notes) = kept(loaded, settings);
    let names = &settings.options.roles;
    if !names.is_empty() {
        let roles = source(database.roles(names)?);
        let read = schema.read_roles(roles, &server, names);
        read.map_err(|unknown| DbError {
            kind: DbErrorKind::Unsupported,
            message: format!(
                "the server describes a role in words that are not known: {unknown} …; leave it out of --role"
            ),
            sql: None,
        })?;
    }
    Ok((schema, notes))
}

/// The schema in texts.
///
/// # Errors
/// The first place that is no SQL.
pub fn read(
    texts: &[Source],
    server: &Server,
    settings: &Settings<'_>,
) -> Result<(Schema, Vec<Note>), RunError> {
    let names = &settings.options.roles;
    let loaded = schema::read_with_roles(texts, server, names)?;
    Ok(kept(loaded, settings))
}

/// The schemas in two lists of texts, which are read at the same time, and the notes on both.
///
/// # Errors
/// The first place that is no SQL.
pub fn read_both(
    texts: (&[Source], &[Source]),
    server: &Server,
    settings: &Settings<'_>,
) -> Result<(Schema, Schema, Vec<Note>), RunError> {
    let names = &settings.options.roles;
    let (from, to) = match names.is_empty() {
        true => schema::read_both(texts, server)?,
        false => (
            schema::read_with_roles(texts.0, server, names)?,
            schema::read_with_roles(texts.1, server, names)?,
        ),
    };
    let (from, mut notes) = kept(from, settings);
    let (to, others) = kept(to, settings);
    notes.extend(others);
    Ok((from, to, notes))
}

fn kept(mut loaded: Loaded, settings: &Settings<'_>) -> (Schema, Vec<Note>) {
    let keep = |object: &Object| !journal::is_journal(object) && (settings.keep)(object);
    loaded.schema.retain(&keep);
    (loaded.schema, loaded.notes)
}

/// The way from one schema to the other. `database` is asked how it would store the second one, if
/// settings say so; `wanted` learns that.
///
/// # Errors
/// When there is no way, or the server has to be asked and cannot.
pub fn plan(
    from: &Schema,
    wanted: &mut Schema,
    database: Option<&mut dyn Database>,
    settings: &Settings<'_>,
) -> Result<Plan, RunError> {
    let (mut options, mut database) = (settings.options.clone(), database);
    if let Some(database) = &database {
        options.server = Some(database.server().clone());
    }
    let mut plan = schema::plan(from, wanted, &options);
    let is_worth_asking = match settings.scratch {
        Scratch::Never => false,
        Scratch::Auto => !plan.as_ref().is_ok_and(only_creates),
        Scratch::Always => true,
    };
    if let Some(database) = database.as_deref_mut().filter(|_| is_worth_asking) {
        match database.read_back(&wanted.compared()) {
            Ok(text) => {
                let name = "the server's scratch place".to_owned();
                let server = database.server().clone();
                let (stored, _) = read(&[Source { name, text }], &server, settings)?;
                wanted.adopt(&stored);
                plan = schema::plan(from, wanted, &options);
            }
            // Not everybody may make a scratch place; our own normal form has to do then.
            Err(_) if settings.scratch == Scratch::Auto => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut plan = plan?;
    if let Some(database) = database {
        owners::give_back(&mut plan, database)?;
    }
    plan.hold_back(&settings.allowed);
    Ok(plan)
}

/// Whether a plan only creates objects, which have no existing form to compare.
fn only_creates(plan: &Plan) -> bool {
    let mut statements = plan.statements.iter();
    statements.all(|statement| matches!(statement.verb, Verb::Create | Verb::Comment | Verb::Grant))
}

/// Looks at the server and plans.
///
/// # Errors
/// As for [`current`] and [`plan`].
pub fn prepare(
    database: &mut dyn Database,
    wanted: &mut Schema,
    settings: &Settings<'_>,
) -> Result<Prepared, RunError> {
    let (from, _) = current(database, settings)?;
    let cut_off = journal::unfinished(database)?;
    let plan = plan(&from, wanted, Some(database), settings)?;
    let restored = match &cut_off {
        Some(unfinished) => lost(&unfinished.steps, &objects(&from), &objects(wanted)),
        None => Vec::new(),
    };
    Ok(Prepared {
        from,
        plan,
        cut_off,
        restored,
    })
}

impl Prepared {
    /// What will be executed.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = steps_of(&self.plan);
        steps.extend(self.restored.iter().cloned());
        steps
    }
}

/// What is applied of a plan.
fn steps_of(plan: &Plan) -> Vec<Step> {
    let numbered = plan.statements.iter().enumerate();
    let applied = numbered.filter(|(_, statement)| statement.held_back.is_none());
    let step = |(at, statement): (usize, &schema::Statement)| {
        let needs = statement.needs.clone();
        let step = Step::of(statement);
        (at, Step { needs, ..step })
    };
    renumbered(applied.map(step))
}

/// Renumbers steps from positions in a plan, ascending, to positions among the steps. A
/// prerequisite not among the steps is dropped.
pub fn renumbered(numbered: impl Iterator<Item = (usize, Step)>) -> Vec<Step> {
    let (places, mut steps): (Vec<usize>, Vec<Step>) = numbered.unzip();
    for step in &mut steps {
        let needs = step.needs.iter();
        let among_steps = needs.filter_map(|needed| places.binary_search(needed).ok());
        step.needs = among_steps.collect();
    }
    steps
}

impl Step {
    /// A statement of a plan, by itself.
    pub fn of(statement: &schema::Statement) -> Step {
        Step {
            sql: statement.sql.clone(),
            transactional: !statement.hazards.contains(&Hazard::NotTransactional),
            verb: statement.verb.word().to_owned(),
            kind: statement.object.kind.word().to_owned(),
            name: statement.object.name.clone(),
            online: statement.online.clone(),
            needs: Vec::new(),
        }
    }
}

/// Executes the steps; afterwards no journal is left, neither ours nor an earlier one.
///
/// # Errors
/// The first statement that failed.
pub fn carry_out(
    database: &mut dyn Database,
    steps: &[Step],
    options: apply::Options,
    had_journal: bool,
    watch: &mut dyn FnMut(&Event<'_>),
) -> Result<(), DbError> {
    apply::apply(database, steps, options, watch)?;
    if had_journal {
        journal::clear(database)?;
    }
    Ok(())
}

/// What is still between the server and what is wanted.
///
/// # Errors
/// As for [`current`] and [`plan`].
pub fn rest(
    database: &mut dyn Database,
    wanted: &mut Schema,
    settings: &Settings<'_>,
) -> Result<Plan, RunError> {
    let (reached, _) = current(database, settings)?;
    plan(&reached, wanted, Some(database), settings)
}

/// Returns a hash identifying a plan in the journal.
pub fn plan_id<'a>(statements: impl Iterator<Item = &'a str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    statements.for_each(|sql| sql.hash(&mut hasher));
    hasher.finish()
}

type Names = HashSet<(ObjectKind, String)>;

/// Everything in a schema, by kind and name.
fn objects(schema: &Schema) -> Names {
    let seen = RefCell::new(Names::new());
    schema.clone().retain(&|object| {
        seen.borrow_mut().insert((object.kind, object.name.clone()));
        true
    });
    seen.into_inner()
}

/// Steps of an interrupted run recreating dropped objects missing on the server and in the wanted
/// schema. No comparison would restore such objects.
fn lost(steps: &[Step], present: &Names, wanted: &Names) -> Vec<Step> {
    let mut taken: HashSet<(&str, &str)> = HashSet::new();
    let mut lost = Vec::new();
    for step in steps {
        let object = (step.kind.as_str(), step.name.as_str());
        let is_in = |names: &Names| {
            names
                .iter()
                .any(|(kind, name)| (kind.word(), name.as_str()) == object)
        };
        match step.verb.as_str() {
            "drop" => drop(taken.insert(object)),
            "create" if !taken.contains(&object) => {}
            "create" | RESTORE if !is_in(present) && !is_in(wanted) => lost.push(Step {
                verb: RESTORE.to_owned(),
                ..step.clone()
            }),
            _ => {}
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(verb: &str, name: &str) -> Step {
        Step {
            sql: format!("{verb} {name}"),
            transactional: false,
            verb: verb.to_owned(),
            kind: "view".to_owned(),
            name: name.to_owned(),
            ..Step::default()
        }
    }

    fn names(names: &[&str]) -> Names {
        names
            .iter()
            .map(|n| (ObjectKind::View, (*n).to_owned()))
            .collect()
    }

    #[test]
    fn only_what_was_there_before_and_nobody_else_makes_is_restored() {
        let steps = [
            step("drop", "away"),
            step("drop", "wanted"),
            step("drop", "back"),
            step("create", "new"),
            step("create", "away"),
            step("create", "wanted"),
            step("create", "back"),
            step(RESTORE, "older"),
        ];
        let lost = lost(&steps, &names(&["back"]), &names(&["wanted"]));
        let texts: Vec<&str> = lost.iter().map(|step| step.sql.as_str()).collect();
        assert_eq!(texts, ["create away", "restore older"]);
        assert!(lost.iter().all(|step| step.verb == RESTORE));
    }
}
