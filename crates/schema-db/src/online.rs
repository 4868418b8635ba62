//! Executes a plan on tables in use: each statement by itself, with short waits for locks other
//! sessions would queue behind, repeated until granted.
//!
//! Only what is dropped and recreated, such as a view, stays in one transaction where the server
//! supports one: nobody may find it missing.

use std::ops::Range;
use std::time::{Duration, Instant};

use schema::online::TEMPORARY;
use schema::plan::Way;

use crate::apply::{Event, Step};
use crate::journal::{self, Journal};
use crate::{Database, DbError, DbErrorKind};

/// Longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Longest wait for locks nobody queues behind.
const UNHURRIED: Duration = Duration::from_secs(24 * 60 * 60);

/// The ways without a copy during which others write, the cheapest first.
const WAYS: [&str; 2] = ["ALGORITHM=INSTANT", "ALGORITHM=INPLACE, LOCK=NONE"];

/// Error codes of an `ALTER TABLE` not executable with the requested, cheap algorithm.
const DEARER: [&str; 3] = ["(error 1845)", "(error 1846)", "(error 4092)"];

/// How locks are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Longest wait for a lock behind which others queue. MySQL and MariaDB count whole seconds, at
    /// least 1.
    pub lock: Duration,
    /// How often a statement is tried.
    pub tries: u32,
}

/// A statement executable only by copying the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The statement.
    pub step: Step,
    /// The server's own words.
    pub message: String,
}

/// Does a step in place of the server; an error is one sentence.
pub type Outside<'a> = &'a mut dyn FnMut(&Step) -> Result<(), String>;

/// A run.
pub struct Run<'a> {
    /// How locks are waited for.
    pub waits: Waits,
    /// Names the plan in the journal.
    pub plan_id: u64,
    /// Whether an earlier run has left a journal.
    pub had_journal: bool,
    /// Takes what the server refuses.
    pub outside: Option<Outside<'a>>,
}

/// What happens beside [`Event`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News<'a> {
    /// As without `--online`.
    Event(Event<'a>),
    /// A lock was not granted: number of the attempt (from 1), maximum, and the pause before the
    /// next.
    Again(u32, u32, Duration),
}

/// Executes the steps in order, and returns the ones refused without a copy. A dependent of a
/// refused step, or a later one on the same table, is left out, except to recreate a dropped
/// object.
///
/// # Errors
/// The first statement that failed otherwise, also after the last try.
pub fn carry_out(
    database: &mut dyn Database,
    steps: &[Step],
    mut run: Run<'_>,
    watch: &mut dyn FnMut(&News<'_>),
) -> Result<Vec<Refused>, DbError> {
    let mut journal = match steps.len() {
        0 | 1 => None,
        _ => Some(Journal::begin(database, run.plan_id, steps)?),
    };
    let mut refused: Vec<Refused> = Vec::new();
    let mut state = State {
        left: vec![false; steps.len()],
        done: 0,
    };
    for group in groups(steps, database.is_transactional()) {
        if !group.clone().any(|at| state.is_stuck(steps, at)) {
            let Some(refusal) = patiently(database, steps, group.clone(), &mut run, watch)? else {
                state.done += group.len();
                if let Some(journal) = &mut journal {
                    journal.set_done(database, state.done)?;
                }
                continue;
            };
            refused.push(refusal);
        }
        state.left[group].fill(true);
    }
    if journal.is_some() || run.had_journal {
        journal::clear(database)?;
    }
    Ok(refused)
}

/// How far a run is.
struct State {
    /// Steps refused, or left out as dependents.
    left: Vec<bool>,
    /// How many steps are done.
    done: usize,
}

impl State {
    /// Whether a step has to be left out.
    fn is_stuck(&self, steps: &[Step], at: usize) -> bool {
        let step = &steps[at];
        let needs = |which: &dyn Fn(usize) -> bool| step.needs.iter().any(|at| which(*at));
        let mut left = steps[..at].iter().zip(&self.left);
        let table = step.online.table.as_ref();
        let is_same = left.any(|(other, left)| *left && other.online.table.as_ref() == table);
        let comes_again =
            needs(&|needed| needed < at && steps[needed].verb == "drop" && !self.left[needed]);
        let is_kept = needs(&|needed| self.left[needed]) || (is_same && table.is_some());
        is_kept && !comes_again
    }
}

/// Each step by itself, but for what goes and comes again.
fn groups(steps: &[Step], is_transactional: bool) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < steps.len() {
        let mut end = at + 1;
        let mut index = at;
        while is_transactional && index < end {
            let back = comes_back(steps, index).map(|back| back + 1);
            end = end.max(back.unwrap_or(end));
            index += 1;
        }
        if steps[at..end].iter().all(|step| step.transactional) {
            groups.push(at..end);
        } else {
            groups.extend((at..end).map(|index| index..index + 1));
        }
        at = end;
    }
    groups
}

/// Index of the step recreating an object dropped by the given one.
fn comes_back(steps: &[Step], at: usize) -> Option<usize> {
    let gone = &steps[at];
    let mut later = steps.iter().enumerate().skip(at + 1);
    let is_gone = gone.verb == "drop";
    let again = later.find(|(_, step)| {
        step.verb == "create" && step.kind == gone.kind && step.name == gone.name
    });
    again.filter(|_| is_gone).map(|(index, _)| index)
}

/// Tries until the locks are given.
fn patiently(
    database: &mut dyn Database,
    steps: &[Step],
    group: Range<usize>,
    run: &mut Run<'_>,
    watch: &mut dyn FnMut(&News<'_>),
) -> Result<Option<Refused>, DbError> {
    let mut pause = run.waits.lock;
    let mut tries = 1;
    loop {
        match once(database, steps, group.clone(), run, watch) {
            Err(error) if error.kind == DbErrorKind::Locked && tries < run.waits.tries => {
                watch(&News::Again(tries, run.waits.tries, pause));
                std::thread::sleep(pause);
                pause = (pause * 2).min(PAUSE_MAX);
                tries += 1;
            }
            ended => return ended,
        }
    }
}

fn once(
    database: &mut dyn Database,
    steps: &[Step],
    group: Range<usize>,
    run: &mut Run<'_>,
    watch: &mut dyn FnMut(&News<'_>),
) -> Result<Option<Refused>, DbError> {
    if group.len() == 1 {
        let (index, start) = (group.start, Instant::now());
        watch(&News::Event(Event::Statement(index, &steps[index])));
        let refused = alone(database, &steps[index], run)?;
        watch(&News::Event(Event::Done(index, start.elapsed())));
        return Ok(refused);
    }
    database.set_lock_timeout(run.waits.lock)?;
    database.execute("BEGIN")?;
    watch(&News::Event(Event::Begin));
    let done = group.into_iter().try_for_each(|index| {
        let start = Instant::now();
        watch(&News::Event(Event::Statement(index, &steps[index])));
        database.execute(&steps[index].sql)?;
        watch(&News::Event(Event::Done(index, start.elapsed())));
        Ok(())
    });
    if let Err(error) = done.and_then(|()| database.execute("COMMIT")) {
        // A connection that is gone has been rolled back by the server.
        let _ = database.execute("ROLLBACK");
        watch(&News::Event(Event::Rollback));
        return Err(error);
    }
    watch(&News::Event(Event::Commit));
    Ok(None)
}

/// Executes one statement in the intended way.
fn alone(
    database: &mut dyn Database,
    step: &Step,
    run: &mut Run<'_>,
) -> Result<Option<Refused>, DbError> {
    let wait = match &step.online.way {
        Way::Hurried | Way::Cheapest { .. } => run.waits.lock,
        Way::Patient => UNHURRIED,
        Way::Build {
            schema,
            table,
            index,
        } => {
            database.set_lock_timeout(UNHURRIED)?;
            sweep(database, [schema, table, index])?;
            UNHURRIED
        }
    };
    database.set_lock_timeout(wait)?;
    match &step.online.way {
        Way::Cheapest { table, action } => cheaply(database, step, (table, action), run),
        _ => database.execute(&step.sql).map(|()| None),
    }
}

/// Asks for one way after the other; what has none goes to the outside program.
fn cheaply(
    database: &mut dyn Database,
    step: &Step,
    (table, action): (&str, &str),
    run: &mut Run<'_>,
) -> Result<Option<Refused>, DbError> {
    let mut said = String::new();
    for way in WAYS {
        match database.execute(&format!("ALTER TABLE {table} {way}, {action}")) {
            Ok(()) => return Ok(None),
            Err(error) if DEARER.iter().any(|code| error.message.contains(code)) => {
                said = error.message;
            }
            Err(error) => return Err(error),
        }
    }
    let plain = Step {
        sql: format!("ALTER TABLE {table} {action}"),
        ..step.clone()
    };
    match &mut run.outside {
        Some(outside) => outside(&plain).map(|()| None).map_err(|message| DbError {
            kind: DbErrorKind::Refused,
            message,
            sql: Some(plain.sql.clone()),
        }),
        None => Ok(Some(Refused {
            step: plain,
            message: said,
        })),
    }
}

/// Drops an index of the given name left invalid by a failed build. A temporary index is dropped
/// even when valid, since its definition is unknown.
pub(crate) fn sweep(
    database: &mut dyn Database,
    [schema, table, index]: [&String; 3],
) -> Result<(), DbError> {
    let is_ours = index.starts_with(TEMPORARY);
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let left = database.query(&format!(
        "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
         JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE i.indrelid = format('%I.%I', {}, {})::regclass AND c.relname = {} \
         AND ({is_ours} OR NOT i.indisvalid)",
        literal(schema),
        literal(table),
        literal(index),
    ))?;
    for name in left.into_iter().flatten().flatten() {
        database.execute(&format!("DROP INDEX CONCURRENTLY {name}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(verb: &str, name: &str) -> Step {
        Step {
            sql: format!("{verb} {name}"),
            transactional: true,
            verb: verb.to_owned(),
            kind: "view".to_owned(),
            name: name.to_owned(),
            ..Step::default()
        }
    }

    #[test]
    fn what_goes_and_comes_again_is_never_missing() {
        let steps = [
            step("add", "a"),
            step("drop", "v"),
            step("alter", "b"),
            step("create", "v"),
            step("drop", "w"),
        ];
        assert_eq!(groups(&steps, true), [0..1, 1..4, 4..5]);
        assert_eq!(groups(&steps, false).len(), 5);
    }
}
