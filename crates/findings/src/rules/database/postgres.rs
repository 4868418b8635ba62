//! PostgreSQL.

use figures::numbers;
use recording::{Access, DatabaseFacts};
use words::text;

use super::{Advice, MISSES_MIN, Writes, memory_for};
use crate::context::Context;
use crate::exact::{Exact, SettingScope};
use crate::text::percent;
use crate::types::Confidence;

/// Temporary bytes per second below which temporary files do not matter.
const TEMP_RATE_MIN: f64 = 1024.0 * 1024.0;
/// Default meant for rotating disks; with flash a random page costs little more than the next one.
const RANDOM_PAGE_COST_DEFAULT: f64 = 4.0;

pub(super) fn advice(context: &Context<'_>, database: &DatabaseFacts) -> Vec<Advice> {
    let found = [
        commits(context, database),
        shared_buffers(context, database),
        work_mem(database),
        random_page_cost(context, database),
        statements(database),
    ];
    found.into_iter().flatten().collect()
}

fn commits(context: &Context<'_>, database: &DatabaseFacts) -> Option<Advice> {
    let on =
        database.setting("synchronous_commit")? == "on" && database.setting("fsync") != Some("off");
    let writes = Writes::of(context);
    (on && writes.matter()).then(|| Advice {
        what: text!("each write waits for the disk: synchronous_commit=on"),
        why: text!("every commit waits until its log is on the disk"),
        evidence: vec![writes.evidence()],
        remedy: text!("where a crash of the server may lose the last commits (nothing is damaged), turn it off: for all, or with SET LOCAL for the transactions that may"),
        exact: Some(Exact::PostgresSetting { name: "synchronous_commit", value: "off" }),
        gain: writes.gain_text(),
        share: writes.gain.share,
        replayed: writes.gain.replayed,
        confidence: Confidence::Medium,
    })
}

fn shared_buffers(context: &Context<'_>, database: &DatabaseFacts) -> Option<Advice> {
    let buffers = database.number("shared_buffers")?;
    let data = database.number("(data bytes)")?;
    let read = database.growth("blks_read")?;
    let wanted = read + database.growth("blks_hit")?;
    let misses = read as f64 / wanted.max(1) as f64;
    (data > buffers && misses >= MISSES_MIN).then(|| Advice {
        what: text!(
            "shared_buffers hold {buffers} of {data} of data",
            buffers = numbers::bytes(buffers),
            data = numbers::bytes(data)
        ),
        why: text!("pages that do not fit are read from the system again and again"),
        evidence: vec![text!(
            "{read} of {wanted} pages wanted were not in it ({share})",
            read = numbers::count(read),
            wanted = numbers::count(wanted),
            share = percent(misses)
        )],
        remedy: text!("a quarter of the host's memory is usual; needs a restart"),
        exact: memory_for(context, buffers, data).map(|bytes| {
            let megabytes = bytes.div_ceil(1 << 20);
            let text = format!("ALTER SYSTEM SET shared_buffers = '{megabytes}MB'");
            Exact::setting(text, SettingScope::Restart)
        }),
        gain: text!("unknown: the server counts pages, not the time that reading them takes"),
        share: 0.0,
        replayed: None,
        confidence: Confidence::Medium,
    })
}

fn work_mem(database: &DatabaseFacts) -> Option<Advice> {
    let bytes = database.growth("temp_bytes")?;
    let files = database.growth("temp_files").unwrap_or(0);
    (bytes as f64 >= TEMP_RATE_MIN * database.seconds().max(1.0)).then(|| Advice {
        what: text!(
            "sorts and joins wrote {bytes} to temporary files",
            bytes = numbers::bytes(bytes)
        ),
        why: text!("what does not fit into work_mem is written to disk and read again"),
        evidence: vec![text!(
            "{files} files; work_mem is {setting}",
            files = numbers::count(files),
            setting = database
                .number("work_mem")
                .map_or_else(|| text!("unknown"), |value| numbers::bytes(value).into())
        )],
        remedy: text!("allow more for each sort; every connection may take it several times"),
        exact: doubled(database.number("work_mem")),
        gain: text!("unknown: a part of these statements' time"),
        share: 0.0,
        replayed: None,
        confidence: Confidence::Medium,
    })
}

/// Returns the change at least doubling `work_mem`; `None` where the present size is unknown or
/// already large, since every sort of every connection may take so much.
fn doubled(present: Option<u64>) -> Option<Exact> {
    const SIZES: [(u64, &str); 6] = [
        (8, "8MB"),
        (16, "16MB"),
        (32, "32MB"),
        (64, "64MB"),
        (128, "128MB"),
        (256, "256MB"),
    ];
    let wanted = present?.saturating_mul(2);
    let (_, value) = SIZES
        .into_iter()
        .find(|(megabytes, _)| megabytes << 20 >= wanted)?;
    Some(Exact::PostgresSetting {
        name: "work_mem",
        value,
    })
}

fn random_page_cost(context: &Context<'_>, database: &DatabaseFacts) -> Option<Advice> {
    let cost: f64 = database.setting("random_page_cost")?.parse().ok()?;
    // Only where a table with indexes is read from end to end could it have changed a plan.
    let steps = context
        .recording
        .explained
        .iter()
        .flat_map(|explained| &explained.steps);
    let scanned = steps
        .filter(|step| step.access == Access::FullScan && step.indexes.len() > 1)
        .map(|step| step.table.as_str())
        .next()?;
    (cost >= RANDOM_PAGE_COST_DEFAULT).then(|| Advice {
        what: text!("random_page_cost is {cost}, as for a spinning disk", cost = cost.to_string()),
        why: text!("the planner thinks that following an index is expensive, and may read a table from end to end instead"),
        evidence: vec![text!("{scanned} has indexes and is read from end to end", scanned)],
        remedy: text!("set it for flash storage, and look at the plan again"),
        exact: Some(Exact::PostgresSetting { name: "random_page_cost", value: "1.1" }),
        gain: text!("unknown: only if it changes a plan"),
        share: 0.0,
        replayed: None,
        confidence: Confidence::Low,
    })
}

fn statements(database: &DatabaseFacts) -> Option<Advice> {
    let state = database.setting("(pg_stat_statements)")?;
    Some(Advice {
        what: text!("pg_stat_statements is missing: the server counts no statements"),
        why: text!("what statements cost on the server, also those of other apps, is unknown"),
        evidence: vec![text!("asking for it says: {state}", state)],
        remedy: text!("load it (needs a restart), and create it in this database"),
        exact: Some(Exact::setting(
            "shared_preload_libraries = 'pg_stat_statements'; then CREATE EXTENSION pg_stat_statements",
            SettingScope::Restart,
        )),
        gain: text!("no time; findings then know rows and pages of each statement"),
        share: 0.0,
        replayed: None,
        confidence: Confidence::Low,
    })
}
