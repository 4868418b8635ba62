//! `--online`: sizes of tables, and a run with short waits for locks and retries.

use std::collections::HashMap;

use figures::counted;
use schema::plan::{Online, offline_permission};
use schema::{Product, Statement};
use schema_db::apply::Step;
use schema_db::online::{self, News, Refused, Run, Waits};
use schema_db::{Database, DbError, usage};
use words::text;

use super::outside::Outside;
use super::progress::Watch;
use crate::flags::ApplyArgs;

/// Size of one table, by the server's statistics.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub(super) rows: Option<u64>,
    pub(super) bytes: Option<u64>,
}

/// Tables by name; none without `--online`.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes(Option<HashMap<String, Size>>);

impl Sizes {
    /// Returns the sizes by the server's statistics, for `--online`. Users of SQLite get a notice
    /// of no effect.
    pub(super) fn of_server(database: &mut dyn Database, is_online: bool) -> Sizes {
        if !is_online {
            return Sizes::default();
        }
        let server = database.server().clone();
        if server.product == Product::Sqlite {
            console::notice(text!(
                "--online changes nothing on SQLite: one connection writes at a time, and the others wait until it is done"
            ));
            return Sizes::default();
        }
        let (usage, _) = usage::usage(database);
        let tables = usage.tables.into_iter().map(|(name, table)| {
            let (rows, bytes) = (table.rows, table.bytes);
            (name, Size { rows, bytes })
        });
        Sizes(Some(tables.collect()))
    }

    /// The table of a statement.
    pub(super) fn of(&self, online: &Online) -> Option<(String, Size)> {
        let (sizes, table) = (self.0.as_ref()?, online.table.as_ref()?);
        let bare = table.strip_prefix("public.").unwrap_or(table);
        let size = sizes.get(bare).or_else(|| sizes.get(table))?;
        Some((bare.to_owned(), *size))
    }
}

impl Size {
    /// Returns the size as a part of a line.
    pub(super) fn shown(self) -> String {
        let rows = match self.rows {
            Some(rows) => format!("about {rows} rows"),
            None => "rows not counted yet".to_owned(),
        };
        match self.bytes {
            Some(bytes) => format!("{rows}, {:.1} MiB", bytes as f64 / f64::from(1 << 20)),
            None => rows,
        }
    }
}

/// Waits by the command line.
pub(super) fn waits(args: &ApplyArgs) -> Waits {
    Waits {
        lock: args.online_wait,
        tries: args.online_tries.max(1),
    }
}

/// Executes, and says which statements the server would only do by copying.
pub(super) fn carry_out(
    database: &mut dyn Database,
    steps: &[Step],
    run: Run<'_>,
    outside: &Option<Outside>,
    watch: &mut Watch,
) -> Result<Vec<Refused>, DbError> {
    let mut hand = outside
        .as_ref()
        .map(|outside| |step: &Step| outside.run(step));
    let run = Run {
        outside: hand.as_mut().map(|hand| hand as online::Outside<'_>),
        ..run
    };
    let refused = online::carry_out(database, steps, run, &mut |news| match news {
        News::Event(event) => watch.see(event),
        News::Again(tried, tries, pause) => console::notice(text!(
            "no lock in time, so that others do not wait; try {tried} of {tries}, again in {pause} s",
            tried,
            tries,
            pause = format!("{:.1}", pause.as_secs_f64())
        )),
    })?;
    for each in &refused {
        console::notice(text!(
            "held back: {sql}: the server would copy the table: {message}; say --allow {permission}, or --online-command to have a program like gh-ost do it",
            sql = each.step.sql,
            message = each.message,
            permission = format!("offline-{}:{}", each.step.kind, each.step.name)
        ));
    }
    if !refused.is_empty() {
        console::notice(text!(
            "{statements} refused by the server; what comes later for the same tables was not done either",
            statements = counted!(refused.len() as u64, "statement")
        ));
    }
    Ok(refused)
}

/// Whether a statement is still needed because the server refused the same statement, or an earlier
/// one for the table.
pub(super) fn is_of(refused: &[Refused], left: &Statement) -> bool {
    let is_same = |each: &Refused| each.step.online.table == left.online.table;
    let allowed = offline_permission(left);
    refused.iter().any(|each| {
        is_same(each) || format!("offline-{}:{}", each.step.kind, each.step.name) == allowed
    })
}
