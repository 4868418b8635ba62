//! SQLite.

use recording::DatabaseFacts;
use words::text;

use super::{Advice, Writes};
use crate::context::Context;
use crate::exact::{Exact, SettingScope};
use crate::types::Confidence;

pub(super) fn advice(context: &Context<'_>, database: &DatabaseFacts) -> Vec<Advice> {
    let found = [
        journal(context, database),
        synchronous(context, database),
        busy(context),
    ];
    found.into_iter().flatten().collect()
}

/// Returns the value of a PRAGMA issued by the app during the run; digests keep values written as
/// words.
fn pragma<'a>(context: &Context<'a>, name: &str) -> Option<&'a str> {
    let texts = context.recording.texts.iter().map(|(_, text)| text);
    texts
        .filter_map(|text| {
            text.strip_prefix("PRAGMA ")
                .or_else(|| text.strip_prefix("pragma "))
        })
        .find_map(|rest| {
            let rest = rest.trim_start().strip_prefix(name)?;
            Some(
                rest.trim_start_matches([' ', '=', '('])
                    .trim_end_matches([')', ' ', ';']),
            )
        })
}

fn journal(context: &Context<'_>, database: &DatabaseFacts) -> Option<Advice> {
    let mode = database.setting("journal_mode")?;
    if !["delete", "truncate", "persist"].contains(&mode) {
        return None;
    }
    let writes = Writes::of(context);
    writes.matter().then(|| Advice {
        what: text!("SQLite's journal_mode is {mode}: readers and writers keep each other out", mode),
        why: text!("a writer needs the file for itself, and each commit flushes journal and file"),
        evidence: vec![writes.evidence()],
        remedy: text!("switch to the write-ahead log once; it is kept in the file. All processes must be on this host. With it, PRAGMA synchronous = NORMAL on every connection is as safe against damage, and flushes at checkpoints only"),
        exact: Some(to_log(context, mode)),
        gain: writes.gain_text(),
        share: writes.gain.share,
        replayed: writes.gain.replayed,
        confidence: Confidence::High,
    })
}

/// Returns the change to the write-ahead log. An app that sets the mode itself would set it back.
fn to_log(context: &Context<'_>, mode: &str) -> Exact {
    let is_set = pragma(context, "journal_mode").is_some_and(|value| !value.is_empty());
    match is_set {
        true => Exact::setting("PRAGMA journal_mode = WAL", SettingScope::Connection),
        false => Exact::SqliteLog {
            present: mode.to_owned(),
        },
    }
}

fn synchronous(context: &Context<'_>, database: &DatabaseFacts) -> Option<Advice> {
    let with_log = database.setting("journal_mode")? == "wal";
    let told = pragma(context, "synchronous");
    let relaxed = told.is_some_and(|value| !value.eq_ignore_ascii_case("full"));
    if !with_log || relaxed {
        return None;
    }
    let writes = Writes::of(context);
    writes.matter().then(|| Advice {
        what: text!("SQLite may flush the disk on each commit: synchronous is FULL unless it is set"),
        why: text!("with a write-ahead log NORMAL is as safe against damage, and flushes at checkpoints only"),
        evidence: vec![
            writes.evidence(),
            told.map_or_else(
                || text!("no PRAGMA synchronous was seen; one at boot would not have been"),
                |value| text!("the app sets it to {value}", value),
            ),
        ],
        remedy: text!("set it on every connection; the last commits may be lost when the machine loses power"),
        exact: Some(Exact::setting("PRAGMA synchronous = NORMAL", SettingScope::Connection)),
        gain: writes.gain_text(),
        share: writes.gain.share,
        replayed: writes.gain.replayed,
        confidence: if told.is_some() { Confidence::Medium } else { Confidence::Low },
    })
}

fn busy(context: &Context<'_>) -> Option<Advice> {
    let locked = context.recording.failures.iter().find(|failure| {
        let told = format!("{} {}", failure.reason, failure.response).to_ascii_lowercase();
        told.contains("database is locked") || told.contains("busyexception")
    })?;
    Some(Advice {
        what: text!(
            "{count} failures: SQLite's database is locked",
            count = locked.count
        ),
        why: text!("a second writer does not wait for the first unless it is told how long"),
        evidence: vec![text!("such as {line}", line = context.text(locked.line))],
        remedy: text!(
            "set a busy timeout on every connection, and begin transactions that write with BEGIN IMMEDIATE"
        ),
        exact: Some(Exact::setting(
            "PRAGMA busy_timeout = 5000",
            SettingScope::Connection,
        )),
        gain: text!("no time; these requests no longer fail"),
        share: 0.0,
        replayed: None,
        confidence: Confidence::High,
    })
}
