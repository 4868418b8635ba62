//! MySQL and MariaDB.

use figures::numbers;
use words::{phrase, text};

use super::servers::{MORE_MEMORY, at_start, connection_churn, is_old_enough, room, set, uptime};
use crate::check::{Area, Check, Cost, Found, Level, Look, Needs, Safety};
use crate::snapshot::{Database, DatabaseKind, Snapshot};

/// Both makers.
pub(super) const BOTH: &[DatabaseKind] = &[DatabaseKind::Mysql, DatabaseKind::Mariadb];

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "mysql.buffer-pool-small",
        area: Area::Database,
        title: phrase!("the buffer pool is too small for the data"),
        why: phrase!("pages that are needed again are read from disk each time"),
        source: "MySQLTuner (90 % of reads from memory); https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-resize.html",
        look: Look::Databases(BOTH, buffer_pool),
    },
    Check {
        id: "mysql.redo-log-small",
        area: Area::Database,
        title: phrase!("the redo log holds less than an hour of writes"),
        why: phrase!(
            "pages are written out in a hurry whenever the log is full, and writes wait for it"
        ),
        source: "MySQLTuner; https://dev.mysql.com/doc/refman/8.4/en/innodb-redo-log.html",
        look: Look::Databases(BOTH, redo_log),
    },
    Check {
        id: "mysql.commit-syncs",
        area: Area::Database,
        title: phrase!("each commit waits for the disk twice"),
        why: phrase!("the redo log and the binary log are both written for good at each commit"),
        source: "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html (innodb_flush_log_at_trx_commit, sync_binlog)",
        look: Look::Databases(BOTH, commit_syncs),
    },
    Check {
        id: "mysql.log-waits",
        area: Area::Database,
        title: phrase!("statements have waited for room in the log buffer"),
        why: phrase!("a write stands still until the buffer has been written out"),
        source: "MySQLTuner (Innodb_log_waits > 0)",
        look: Look::Databases(BOTH, |db, _| {
            const NAME: &str = "innodb_log_buffer_size";
            /// Bytes from which a transaction is too large rather than the buffer too small.
            const MOST: f64 = 268_435_456.0;
            let waits = grown(db, "Innodb_log_waits", 10.0)?;
            let size = db.number(NAME).filter(|size| *size < MOST)?;
            let found = Found::new(Level::Low, format!("Innodb_log_waits = {waits}"));
            let is_dynamic = db.kind == DatabaseKind::Mysql && db.release() >= (8, 0);
            Some(resized(
                found,
                db,
                NAME,
                (size * 4.0).min(MOST),
                size,
                is_dynamic,
            ))
        }),
    },
    Check {
        id: "mysql.pool-waits",
        area: Area::Database,
        title: phrase!("statements have waited for a free page of the buffer pool"),
        why: phrase!("a read stands still until an old page has been written out"),
        source: "https://dev.mysql.com/doc/refman/8.4/en/server-status-variables.html (Innodb_buffer_pool_wait_free)",
        look: Look::Databases(BOTH, |db, s| {
            let waits = grown(db, "Innodb_buffer_pool_wait_free", 100.0)?;
            let size = db.number("innodb_buffer_pool_size")?;
            let found = Found::new(
                Level::Medium,
                format!("Innodb_buffer_pool_wait_free = {waits}"),
            );
            Some(larger_pool(found, db, s, size * 2.0))
        }),
    },
    Check {
        id: "mysql.temporary-tables-on-disk",
        area: Area::Database,
        title: phrase!("temporary tables are made on disk"),
        why: phrase!("a sort or a group that would fit into memory is written and read back"),
        source: "MySQLTuner (25 %)",
        look: Look::Databases(BOTH, |db, _| {
            let (disk, all) = (
                db.number("Created_tmp_disk_tables")?,
                db.number("Created_tmp_tables")?,
            );
            let rate = disk / uptime(db).filter(|_| is_old_enough(db))?;
            (all > 0.0 && disk > 0.25 * all && rate > 1.0).then(|| {
                let found = Found::new(
                    Level::Medium,
                    text!(
                        "{share} of {all} temporary tables, {rate} per second",
                        share = numbers::share(disk / all),
                        all = all.to_string(),
                        rate = format!("{rate:.1}")
                    ),
                );
                larger_temporary_tables(found, db)
            })
        }),
    },
    Check {
        id: "mysql.sort-merges",
        area: Area::Database,
        title: phrase!("sorts do not fit into their buffer"),
        why: phrase!("they are written out in parts and merged"),
        source: "MySQLTuner (10 % of sorts)",
        look: Look::Databases(BOTH, |db, _| {
            let merges = db.number("Sort_merge_passes")?;
            let sorts = db.number("Sort_scan")? + db.number("Sort_range")?;
            (is_old_enough(db) && sorts > 100.0 && merges > 0.1 * sorts).then(|| {
                let size = db.number("sort_buffer_size").unwrap_or(262_144.0);
                Found::new(
                    Level::Low,
                    text!(
                        "{merges} merges in {sorts} sorts",
                        merges = merges.to_string(),
                        sorts = sorts.to_string()
                    ),
                )
                .change(
                    phrase!("an index in the order that is asked for"),
                    "DROP INDEX …",
                )
                .change(
                    set(db, "sort_buffer_size", size * 4.0),
                    set(db, "sort_buffer_size", size),
                )
            })
        }),
    },
    Check {
        id: "mysql.connection-churn",
        area: Area::Database,
        title: phrase!("the app connects again and again"),
        why: phrase!("each connection costs a handshake and a thread; a pool keeps them"),
        source: "MySQLTuner (thread cache); https://guides.rubyonrails.org/configuring.html#database-pooling",
        look: Look::Databases(BOTH, |db, _| {
            connection_churn(db, db.number("Connections")?)
        }),
    },
    Check {
        id: "mysql.threads-created",
        area: Area::Database,
        title: phrase!("the server makes a thread for most connections"),
        why: phrase!("kept threads would serve the next connection at once"),
        source: "MySQLTuner (50 % of connections)",
        look: Look::Databases(BOTH, |db, _| {
            let (made, all) = (db.number("Threads_created")?, db.number("Connections")?);
            // Pools of threads, and a cache for all connections, make no more of them.
            let pooled = db
                .word("thread_handling")
                .is_some_and(|word| word.starts_with("pool"));
            let size = db.number("thread_cache_size").unwrap_or(0.0);
            let most = db.number("max_connections").unwrap_or(f64::INFINITY);
            let wanted = (size * 2.0).max(64.0).min(most);
            let is_churn = is_old_enough(db) && all > 1000.0 && made > 0.5 * all;
            (is_churn && !pooled && wanted > size).then(|| {
                Found::new(
                    Level::Low,
                    format!("Threads_created = {made}, Connections = {all}"),
                )
                .change(
                    set(db, "thread_cache_size", wanted),
                    set(db, "thread_cache_size", size),
                )
            })
        }),
    },
    Check {
        id: "mysql.reverse-names",
        area: Area::Database,
        title: phrase!("each new connection's address is looked up by name"),
        why: phrase!("a slow name server makes every connect slow"),
        source: "https://dev.mysql.com/doc/refman/8.4/en/host-cache.html (skip_name_resolve)",
        look: Look::Databases(BOTH, |db, _| {
            let off = db.is_on("skip_name_resolve") == Some(false);
            // Over loopback the name is known without asking.
            (off && !db.is_local).then(|| {
                Found::new(Level::Low, "skip_name_resolve = OFF")
                    .change(
                        phrase!(
                            "skip_name_resolve=ON in the configuration file; grants by address"
                        ),
                        "skip_name_resolve=OFF",
                    )
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "mysql.statements-leak",
        area: Area::Database,
        title: phrase!("prepared statements are not closed"),
        why: phrase!(
            "they take memory of the server until the limit, then preparing fails; each was a round trip for one use"
        ),
        source: "https://dev.mysql.com/doc/refman/8.4/en/server-status-variables.html (Com_stmt_close)",
        look: Look::Databases(BOTH, |db, _| {
            let (now, most) = (
                db.number("Prepared_stmt_count")?,
                db.number("max_prepared_stmt_count")?,
            );
            let opened = db.number("Com_stmt_prepare")? - db.number("Com_stmt_close")?;
            (now > 0.1 * most && opened > 0.1 * most).then(|| {
                let level = if now > 0.5 * most {
                    Level::High
                } else {
                    Level::Medium
                };
                Found::new(
                    level,
                    text!(
                        "Prepared_stmt_count = {now} of {most}",
                        now = now.to_string(),
                        most = most.to_string()
                    ),
                )
                .change(
                    phrase!(
                        "close statements after use, or prepare each text once for a connection"
                    ),
                    phrase!("as before"),
                )
            })
        }),
    },
];

/// Returns a counter's value, if above the threshold.
fn grown(db: &Database, name: &str, above: f64) -> Option<f64> {
    db.number(name).filter(|value| *value > above)
}

/// Adds the change to larger temporary tables in memory: the smaller of two settings counts, except
/// for the engine TempTable. Each connection may have several.
fn larger_temporary_tables(found: Found, db: &Database) -> Found {
    const MOST: f64 = 268_435_456.0;
    let engine = db.word("internal_tmp_mem_storage_engine");
    let names: &[&str] = match engine.as_deref() {
        Some("temptable") => &["tmp_table_size"],
        _ => &["tmp_table_size", "max_heap_table_size"],
    };
    let sizes = names
        .iter()
        .map(|name| (*name, db.number(name).unwrap_or(16_777_216.0)));
    let sizes: Vec<(&str, f64)> = sizes.collect();
    let now = sizes
        .iter()
        .map(|(_, size)| *size)
        .fold(f64::INFINITY, f64::min);
    let wanted = (now * 4.0).min(MOST);
    if wanted <= now {
        return found.change(
            phrase!("an index in the order that is asked for"),
            "DROP INDEX …",
        );
    }
    let smaller = sizes.into_iter().filter(|(_, size)| *size < wanted);
    smaller.fold(found, |found, (name, size)| {
        found.change(set(db, name, wanted), set(db, name, size))
    })
}

fn buffer_pool(db: &Database, s: &Snapshot) -> Option<Found> {
    /// Bytes of a pool below which tuning gains nothing: the smallest default of any server.
    const USUAL: f64 = 128.0 * 1024.0 * 1024.0;
    let size = db.number("innodb_buffer_pool_size")?;
    let data = db.number("(data bytes)").unwrap_or(0.0);
    let reads = db.number("Innodb_buffer_pool_reads").unwrap_or(0.0);
    let requests = db.number("Innodb_buffer_pool_read_requests").unwrap_or(0.0);
    let missed = reads / requests.max(1.0);
    let level = match () {
        () if size < USUAL / 4.0 => Level::High,
        () if missed > 0.1 && requests > 1e5 && data > size => Level::High,
        () if missed > 0.01 && requests > 1e5 && data > size => Level::Medium,
        () if size < 0.9 * USUAL => Level::Medium,
        () if data > 4.0 * size && is_old_enough(db) => Level::Low,
        () => return None,
    };
    let found = Found::new(
        level,
        format!("innodb_buffer_pool_size = {}", numbers::bytes(size as u64)),
    )
    .evidence(text!(
        "data {data}, {share} of reads from disk",
        data = numbers::bytes(data as u64),
        share = numbers::share(missed)
    ));
    let found = larger_pool(found, db, s, (data * 1.25).max(USUAL));
    Some(
        match db.miss_ns.or(db.disk_costs(&s.measures).page_read_ns) {
            Some(ns) => found.cost(Cost::Each {
                ns,
                event: phrase!("page that is not in the pool"),
            }),
            None => found,
        },
    )
}

/// Adds the change to a buffer pool of the wanted size, or of half the memory, since the app may
/// run on the machine too.
fn larger_pool(found: Found, db: &Database, s: &Snapshot, wanted: f64) -> Found {
    const NAME: &str = "innodb_buffer_pool_size";
    let size = db.number(NAME).unwrap_or(0.0);
    let Some(bytes) = room(db, s, size, wanted, 0.5) else {
        return found.change(MORE_MEMORY, "");
    };
    // MariaDB takes no more than this while it runs.
    let most = db.number("innodb_buffer_pool_size_max");
    let is_dynamic = most.is_none_or(|most| bytes <= most);
    resized(found, db, NAME, bytes, size, is_dynamic)
}

/// Adds the change of a setting read only at the start by some versions.
fn resized(
    found: Found,
    db: &Database,
    name: &str,
    wanted: f64,
    size: f64,
    is_dynamic: bool,
) -> Found {
    match is_dynamic {
        true => found.change(set(db, name, wanted), set(db, name, size)),
        false => found
            .change(at_start(name, wanted), at_start(name, size))
            .needs(Needs::Restart),
    }
}

fn redo_log(db: &Database, _: &Snapshot) -> Option<Found> {
    const MEGABYTE: f64 = 1_048_576.0;
    /// Largest size taken by every version with a limit, for all files together.
    const MOST: f64 = 137_438_953_472.0;
    let is_mysql = db.kind == DatabaseKind::Mysql;
    let (name, size, files) = match db.number("innodb_redo_log_capacity") {
        // MariaDB has no such setting.
        Some(size) if is_mysql => ("innodb_redo_log_capacity", size, 1.0),
        _ => (
            "innodb_log_file_size",
            db.number("innodb_log_file_size")?,
            db.number("innodb_log_files_in_group").unwrap_or(1.0),
        ),
    };
    let is_dynamic = match is_mysql {
        true => name == "innodb_redo_log_capacity",
        false => db.release() >= (10, 9),
    };
    let all = size * files;
    let written = db.number("Innodb_os_log_written")?;
    let per_hour = written / (uptime(db).filter(|_| is_old_enough(db))? / 3600.0);
    let wanted = (per_hour.min(MOST) / files / MEGABYTE).ceil() * MEGABYTE;
    (per_hour > all && wanted > size).then(|| {
        let level = if per_hour > 4.0 * all {
            Level::Medium
        } else {
            Level::Low
        };
        let mut found = Found::new(level, format!("{name} = {}", numbers::bytes(size as u64)));
        if files > 1.0 {
            found = found.evidence(format!("innodb_log_files_in_group = {files}"));
        }
        let found = found.evidence(text!(
            "{bytes} written per hour",
            bytes = numbers::bytes(per_hour as u64)
        ));
        resized(found, db, name, wanted, size, is_dynamic)
    })
}

fn commit_syncs(db: &Database, s: &Snapshot) -> Option<Found> {
    let redo = db.number("innodb_flush_log_at_trx_commit")?;
    let binary = db.is_on("log_bin")? && db.number("sync_binlog")? == 1.0;
    let disk = db.disk_costs(&s.measures);
    let sync = disk.sync_ns;
    (redo == 1.0 && binary).then(|| {
        // Where a sync costs nothing that users notice, this is only worth knowing.
        let level = match sync {
            Some(ns) if ns > 1e6 => Level::Medium,
            _ => Level::Low,
        };
        let found = Found::new(level, "innodb_flush_log_at_trx_commit = 1, sync_binlog = 1")
            .evidence(phrase!("with 100 a crash of the machine may lose up to 100 groups of commits, and copies that have read them differ from then on"))
            .change(set(db, "sync_binlog", 100), set(db, "sync_binlog", 1))
            .safety(Safety::Durability);
        match sync {
            // What the change saves: the binary log's part.
            Some(ns) => found.cost(Cost::Each {
                ns: disk.append_sync_ns.unwrap_or(ns),
                event: phrase!("commit"),
            }),
            None => found,
        }
    })
}
