//! Executes a plan, one statement after the other. A run interrupted at any point is completed by
//! the next.
//!
//! Where DDL can be rolled back, statements run in as few transactions as possible: a plan in one
//! transaction leaves everything or nothing. Elsewhere a [`journal`](crate::journal) in the
//! database itself records the statements and how many are done.

use std::time::{Duration, Instant};

use schema::Product;
use schema::plan::{Online, Way};

use crate::journal::Journal;
use crate::{Database, DbError, online};

/// A statement to be carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Without `;`.
    pub sql: String,
    /// Whether the step may share a transaction with others.
    pub transactional: bool,
    /// Verb of the statement, such as `create`.
    pub verb: String,
    /// Kind of the object.
    pub kind: String,
    /// Name of the object.
    pub name: String,
    /// How the step is executed on a table in use.
    pub online: Online,
    /// Indices of the prerequisite steps.
    pub needs: Vec<usize>,
}

/// How a plan is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether to use transactions where supported for DDL. On SQLite one is always used.
    pub transaction: bool,
    /// Identity of the plan in the journal, recognised by a later run.
    pub plan_id: u64,
}

/// What happens, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A transaction begins.
    Begin,
    /// A statement is about to be executed; steps count from 0.
    Statement(usize, &'a Step),
    /// A step was executed, in the given time.
    Done(usize, Duration),
    /// The transaction is kept.
    Commit,
    /// The transaction is taken back.
    Rollback,
}

/// Executes the steps in order.
///
/// The caller holds the runner's lock and has looked at the schema since then.
///
/// # Errors
/// The first statement that failed. An open transaction has been rolled back then.
pub fn apply(
    database: &mut dyn Database,
    steps: &[Step],
    options: Options,
    watch: &mut dyn FnMut(&Event<'_>),
) -> Result<(), DbError> {
    // SQLite writes a table anew in several statements, which must not be torn apart.
    let transactions = options.transaction || database.server().product == Product::Sqlite;
    let groups = groups(steps, transactions && database.is_transactional());
    let mut journal = match groups.as_slice() {
        [] => return Ok(()),
        [only] if only.transaction || only.steps.len() == 1 => None,
        _ => Some(Journal::begin(database, options.plan_id, steps)?),
    };
    for group in groups {
        if group.transaction {
            in_transaction(database, steps, &group, journal.as_mut(), watch)?;
        } else {
            for index in group.steps {
                execute(database, steps, index, watch)?;
                if let Some(journal) = &mut journal {
                    journal.set_done(database, index + 1)?;
                }
            }
        }
    }
    journal.map_or(Ok(()), |journal| journal.end(database))
}

/// Consecutive steps executed together.
#[derive(Debug, PartialEq, Eq)]
struct Group {
    transaction: bool,
    steps: std::ops::Range<usize>,
}

fn groups(steps: &[Step], transactions: bool) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let transaction = transactions && step.transactional;
        match groups.last_mut() {
            Some(last) if last.transaction == transaction => last.steps.end = index + 1,
            _ => groups.push(Group {
                transaction,
                steps: index..index + 1,
            }),
        }
    }
    groups
}

fn in_transaction(
    database: &mut dyn Database,
    steps: &[Step],
    group: &Group,
    journal: Option<&mut Journal>,
    watch: &mut dyn FnMut(&Event<'_>),
) -> Result<(), DbError> {
    database.execute("BEGIN")?;
    watch(&Event::Begin);
    let done = group
        .steps
        .clone()
        .try_for_each(|index| execute(database, steps, index, watch))
        .and_then(|()| match journal {
            Some(journal) => journal.set_done(database, group.steps.end),
            None => Ok(()),
        })
        .and_then(|()| database.execute("COMMIT"));
    match done {
        Ok(()) => watch(&Event::Commit),
        Err(error) => {
            // A connection that is gone has been rolled back by the server; its answer adds
            // nothing.
            let _ = database.execute("ROLLBACK");
            watch(&Event::Rollback);
            return Err(error);
        }
    }
    Ok(())
}

fn execute(
    database: &mut dyn Database,
    steps: &[Step],
    index: usize,
    watch: &mut dyn FnMut(&Event<'_>),
) -> Result<(), DbError> {
    let step = &steps[index];
    watch(&Event::Statement(index, step));
    let start = Instant::now();
    if let Way::Build {
        schema,
        table,
        index,
    } = &step.online.way
    {
        // What a failed build has left has the name of the index.
        online::sweep(database, [schema, table, index])?;
    }
    database.execute(&step.sql)?;
    watch(&Event::Done(index, start.elapsed()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn step(sql: &str, transactional: bool) -> Step {
        Step {
            sql: sql.to_owned(),
            transactional,
            verb: "create".to_owned(),
            kind: "table".to_owned(),
            name: sql.to_owned(),
            ..Step::default()
        }
    }

    fn run(fake: &mut Fake, steps: &[Step], transaction: bool) -> Result<(), DbError> {
        let options = Options {
            transaction,
            plan_id: 7,
        };
        apply(fake, steps, options, &mut |_| {})
    }

    #[test]
    fn one_transaction_holds_what_may_be_in_one() {
        let mut fake = Fake::transactional();
        run(&mut fake, &[step("a", true), step("b", true)], true).unwrap();
        assert_eq!(fake.executed, ["BEGIN", "a", "b", "COMMIT"]);
    }

    #[test]
    fn what_may_not_be_in_a_transaction_stands_alone_and_is_journalled() {
        let mut fake = Fake::transactional();
        run(&mut fake, &[step("a", true), step("b", false)], true).unwrap();
        let ours: Vec<&str> = fake
            .executed
            .iter()
            .filter(|sql| !sql.contains("_hakaru_journal"))
            .map(String::as_str)
            .collect();
        assert_eq!(ours, ["BEGIN", "a", "COMMIT", "b"]);
        assert!(
            fake.executed[0].starts_with("CREATE TABLE"),
            "{:?}",
            fake.executed
        );
        assert!(fake.executed.last().unwrap().starts_with("DROP TABLE"));
    }

    #[test]
    fn a_failed_statement_takes_its_transaction_back() {
        let mut fake = Fake::transactional();
        fake.refuse = Some("b".to_owned());
        run(&mut fake, &[step("a", true), step("b", true)], true).unwrap_err();
        assert_eq!(fake.executed, ["BEGIN", "a", "b", "ROLLBACK"]);
    }

    #[test]
    fn without_transactions_the_journal_counts_every_statement() {
        let mut fake = Fake {
            refuse: Some("b".to_owned()),
            ..Fake::default()
        };
        run(&mut fake, &[step("a", true), step("b", true)], true).unwrap_err();
        assert!(!fake.executed.iter().any(|sql| sql == "BEGIN"));
        assert!(
            fake.executed
                .iter()
                .any(|sql| sql.ends_with("SET done = 1"))
        );
        assert!(!fake.executed.last().unwrap().starts_with("DROP TABLE"));
    }
}
