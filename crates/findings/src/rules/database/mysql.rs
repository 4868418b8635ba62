//! MySQL and MariaDB.

use figures::numbers;
use recording::DatabaseFacts;
use words::{Text, text};

use super::{Advice, MISSES_MIN, Writes, is_on, memory_for, rate};
use crate::context::Context;
use crate::exact::{Exact, SettingScope};
use crate::text::{fit, percent};
use crate::types::Confidence;

/// Temporary tables on disk per second below which disk tables are rare.
const TMP_DISK_RATE_MIN: f64 = 1.0;
/// Share of temporary tables written to disk from which the tables' memory is too small.
const TMP_DISK_SHARE_MIN: f64 = 0.25;
/// Share of SELECTs served by the query cache below which the cache's one lock costs more than the
/// cache saves.
const CACHE_HITS_MIN: f64 = 0.2;
/// Threshold of the slow log, seconds, below which nearly all statements are logged.
const LOG_ALL_S: f64 = 0.01;

pub(super) fn advice(context: &Context<'_>, database: &DatabaseFacts) -> Vec<Advice> {
    let found = [
        flushes(context, database),
        buffer_pool(context, database),
        query_cache(database),
        statement_log(database),
        tables_on_disk(context, database),
    ];
    found.into_iter().flatten().collect()
}

fn flushes(context: &Context<'_>, database: &DatabaseFacts) -> Option<Advice> {
    let flush = database.number("innodb_flush_log_at_trx_commit") == Some(1);
    let binlog = is_on(database, "log_bin") && database.number("sync_binlog") == Some(1);
    let writes = Writes::of(context);
    if !(flush || binlog) || !writes.matter() {
        return None;
    }
    let mut settings = Vec::new();
    let mut exact = Vec::new();
    if flush {
        settings.push("innodb_flush_log_at_trx_commit=1");
        exact.push("SET GLOBAL innodb_flush_log_at_trx_commit = 2");
    }
    if binlog {
        settings.push("sync_binlog=1");
        exact.push("SET GLOBAL sync_binlog = 1000");
    }
    let fsyncs = rate(database, "Innodb_os_log_fsyncs").max(rate(database, "Innodb_data_fsyncs"));
    Some(Advice {
        what: text!(
            "each write waits for the disk: {settings}",
            settings = settings.join(", ")
        ),
        why: text!(
            "every commit is flushed to the disk before it is answered, and commits queue behind each other's \
             flush"
        ),
        evidence: vec![
            writes.evidence(),
            text!("{rate} flushes per second", rate = numbers::plain(fsyncs)),
        ],
        remedy: text!(
            "where a second of commits may be lost when the machine loses power (not when the server is killed), \
             flush once per second"
        ),
        exact: Some(Exact::setting(exact.join("; "), SettingScope::Server)),
        gain: writes.gain_text(),
        share: writes.gain.share,
        replayed: writes.gain.replayed,
        confidence: Confidence::Medium,
    })
}

fn buffer_pool(context: &Context<'_>, database: &DatabaseFacts) -> Option<Advice> {
    let pool = database.number("innodb_buffer_pool_size")?;
    let data = database.number("(data bytes)")?;
    let read = database.growth("Innodb_buffer_pool_reads")?;
    let wanted = database.growth("Innodb_buffer_pool_read_requests")?;
    let misses = read as f64 / wanted.max(1) as f64;
    (data > pool && misses >= MISSES_MIN).then(|| Advice {
        what: text!("the buffer pool holds {pool} of {data} of data", pool = numbers::bytes(pool), data = numbers::bytes(data)),
        why: text!("pages that do not fit are read from the disk again and again"),
        evidence: vec![text!("{read} of {wanted} pages wanted were read from disk ({share})", read = numbers::count(read), wanted = numbers::count(wanted), share = percent(misses))],
        remedy: text!("give it the size of the data and room to grow, as far as memory allows: most of a host that has no \
             other task"),
        exact: memory_for(context, pool, data).map(|bytes| {
            let text = format!("SET GLOBAL innodb_buffer_pool_size = {bytes}");
            Exact::setting(text, SettingScope::Server)
        }),
        gain: text!("unknown: the server counts pages, not the time that reading them takes"),
        share: 0.0,
        replayed: None,
        confidence: Confidence::Medium,
    })
}

fn query_cache(database: &DatabaseFacts) -> Option<Advice> {
    let on = is_on(database, "query_cache_type") && database.number("query_cache_size")? > 0;
    let hits = database.growth("Qcache_hits")?;
    let missed = database.growth("Qcache_inserts")? + database.growth("Qcache_not_cached")?;
    let share = hits as f64 / (hits + missed).max(1) as f64;
    (on && missed > 0 && share < CACHE_HITS_MIN).then(|| Advice {
        what: text!(
            "the query cache answers {share} of the SELECTs",
            share = percent(share)
        ),
        why: text!(
            "it has one lock for all, and each write to a table throws out all that was kept of it"
        ),
        evidence: vec![text!(
            "{hits} answered from it, {missed} not",
            hits = numbers::count(hits),
            missed = numbers::count(missed)
        )],
        remedy: text!("turn it off"),
        exact: Some(Exact::setting(
            "SET GLOBAL query_cache_type = OFF",
            SettingScope::Server,
        )),
        gain: text!("unknown: its lock is not counted"),
        share: 0.0,
        replayed: None,
        confidence: Confidence::Medium,
    })
}

fn statement_log(database: &DatabaseFacts) -> Option<Advice> {
    let slow = is_on(database, "slow_query_log")
        && database.setting("long_query_time")?.parse::<f64>().ok()? < LOG_ALL_S;
    let general = is_on(database, "general_log");
    let (name, exact) = match (slow, general) {
        (_, true) => ("general_log", "SET GLOBAL general_log = OFF"),
        (true, _) => ("slow_query_log", "SET GLOBAL long_query_time = 1"),
        _ => return None,
    };
    Some(Advice {
        what: text!("the server writes every statement to its {name}", name),
        why: text!("each statement is written to a file or table, one after the other"),
        evidence: vec![text!(
            "{rate} statements per second; long_query_time is {setting}",
            rate = numbers::plain(rate(database, "Queries")),
            setting = database
                .setting("long_query_time")
                .map_or_else(|| text!("unknown"), Text::from)
        )],
        remedy: text!("keep it for as long as it is read; a run has every statement anyway"),
        exact: Some(Exact::setting(exact, SettingScope::Server)),
        gain: text!("unknown: the server does not count what logging takes"),
        share: 0.0,
        replayed: None,
        confidence: Confidence::Medium,
    })
}

/// Returns the change doubling the smaller of the two limits on a table in memory, the effective
/// one. The other is never lowered.
fn larger_tables(database: &DatabaseFacts) -> Option<Exact> {
    let names = ["tmp_table_size", "max_heap_table_size"];
    let [tables, heap] = names.map(|name| database.number(name));
    let doubled = tables?.min(heap?).saturating_mul(2);
    let lower = names
        .into_iter()
        .filter(|name| database.number(name) < Some(doubled));
    let changes: Vec<String> = lower
        .map(|name| format!("SET GLOBAL {name} = {doubled}"))
        .collect();
    Some(Exact::setting(changes.join("; "), SettingScope::Server))
}

fn tables_on_disk(context: &Context<'_>, database: &DatabaseFacts) -> Option<Advice> {
    let made = database.growth("Created_tmp_tables")?;
    let on_disk = database.growth("Created_tmp_disk_tables")?;
    let share = on_disk as f64 / made.max(1) as f64;
    if rate(database, "Created_tmp_disk_tables") < TMP_DISK_RATE_MIN || share < TMP_DISK_SHARE_MIN {
        return None;
    }
    let mut evidence = vec![text!(
        "{on_disk} of {made} temporary tables went to disk ({share})",
        on_disk = numbers::count(on_disk),
        made = numbers::count(made),
        share = percent(share)
    )];
    let most = database
        .statements
        .iter()
        .filter(|one| one.tmp_tables_on_disk > 0);
    let most = most.max_by_key(|one| one.tmp_tables_on_disk);
    evidence.extend(most.map(|one| {
        text!(
            "{count} by {statement}",
            count = one.tmp_tables_on_disk,
            statement = fit(context.text(one.digest), 160)
        )
    }));
    Some(Advice {
        what: text!(
            "{rate} temporary tables per second on disk",
            rate = numbers::plain(rate(database, "Created_tmp_disk_tables"))
        ),
        why: text!(
            "a sort or a grouping that does not fit, or that holds long texts, is written to disk and read again"
        ),
        evidence,
        remedy: text!(
            "leave long texts out of sorted and grouped statements, give them an index in that order, or allow \
             larger tables in memory"
        ),
        exact: larger_tables(database),
        gain: text!("unknown: a part of these statements' time"),
        share: 0.0,
        replayed: None,
        confidence: Confidence::Medium,
    })
}
