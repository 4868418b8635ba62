//! SQLite.

use figures::numbers;
use words::{phrase, text};

use super::servers::set;
use crate::check::{Area, Check, Cost, Found, Level, Look, Needs, Safety};
use crate::snapshot::DatabaseKind;

const SQLITE: &[DatabaseKind] = &[DatabaseKind::Sqlite];

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "sqlite.rollback-journal",
        area: Area::Database,
        title: phrase!("the file is written with a rollback journal"),
        why: phrase!("each write locks all readers out, and waits for the disk several times"),
        source: "https://www.sqlite.org/wal.html; rails sqlite3_adapter.rb (WAL by default since 7.1)",
        look: Look::Databases(SQLITE, |db, s| {
            let mode = db
                .word("journal_mode")
                .filter(|mode| ["delete", "truncate", "persist"].contains(&mode.as_str()))?;
            // Over a network a write-ahead log damages the file; the disk of a file elsewhere is
            // not known.
            if db.disk.is_none() && super::disk::network(&s.disk).is_some() {
                return None;
            }
            let found = Found::new(Level::Medium, format!("journal_mode = {mode}"))
                .evidence(phrase!("with NORMAL a power cut may lose the last commits; the file stays whole"))
                .change(
                    phrase!(
                        "PRAGMA journal_mode = WAL, and PRAGMA synchronous = NORMAL for each connection"
                    ),
                    text!(
                        "{statement}, and PRAGMA synchronous = FULL",
                        statement = format!("PRAGMA journal_mode = {mode}")
                    ),
                )
                .safety(Safety::Durability);
            let disk = db.disk_costs(&s.measures);
            Some(match disk.sqlite_rollback_ns.zip(disk.sqlite_wal_ns) {
                Some((rollback, wal)) => found.cost(Cost::Each {
                    ns: (rollback - wal).max(0.0),
                    event: phrase!("commit"),
                }),
                None => found,
            })
        }),
    },
    Check {
        id: "sqlite.journal-unsafe",
        area: Area::Database,
        title: phrase!("the file is written without a journal on disk"),
        why: phrase!("a crash in the middle of a write destroys it"),
        source: "https://www.sqlite.org/pragma.html#pragma_journal_mode",
        look: Look::Databases(SQLITE, |db, _| {
            let mode = db
                .word("journal_mode")
                .filter(|mode| ["off", "memory"].contains(&mode.as_str()))?;
            Some(
                Found::new(Level::Medium, format!("journal_mode = {mode}")).change(
                    set(db, "journal_mode", "WAL"),
                    set(db, "journal_mode", mode),
                ),
            )
        }),
    },
    Check {
        id: "sqlite.free-pages",
        area: Area::Database,
        title: phrase!("much of the file is free pages"),
        why: phrase!("what is read lies far apart, and backups copy the rest too"),
        source: "https://www.sqlite.org/lang_vacuum.html",
        look: Look::Databases(SQLITE, |db, _| {
            let (free, all) = (db.number("freelist_count")?, db.number("page_count")?);
            let size = free * db.number("page_size")?;
            (free > 0.25 * all && size > 64.0 * 1048576.0).then(|| {
                Found::new(
                    Level::Low,
                    text!(
                        "{share} of {all} pages, {bytes}",
                        share = numbers::share(free / all),
                        all = all.to_string(),
                        bytes = numbers::bytes(size as u64)
                    ),
                )
                .change("VACUUM", "")
            })
        }),
    },
    Check {
        id: "sqlite.page-small",
        area: Area::Database,
        title: phrase!("the file has small pages"),
        why: phrase!("more levels in each index, more reads for each row"),
        source: "https://www.sqlite.org/pgszchng2016.html (4096 since 3.12)",
        look: Look::Databases(SQLITE, |db, _| {
            let size = db.number("page_size").filter(|size| *size < 4096.0)?;
            Some(
                Found::new(Level::Low, format!("page_size = {size}"))
                    .change(
                        phrase!("PRAGMA page_size = 4096; VACUUM (not in WAL mode)"),
                        format!("PRAGMA page_size = {size}; VACUUM"),
                    )
                    .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "sqlite.not-analysed",
        area: Area::Database,
        title: phrase!("the planner has no statistics"),
        why: phrase!("with several indexes on a table it may choose the wrong one"),
        source: "https://www.sqlite.org/lang_analyze.html (PRAGMA optimize)",
        look: Look::Databases(SQLITE, |db, _| {
            let indexes = db.number("(indexes)")?;
            let bytes = db.number("page_count")? * db.number("page_size")?;
            (db.number("(analysed)")? == 0.0 && indexes >= 3.0 && bytes > 16.0 * 1048576.0).then(
                || {
                    Found::new(
                        Level::Low,
                        text!(
                            "{indexes} indexes, no sqlite_stat1",
                            indexes = indexes.to_string()
                        ),
                    )
                    .change("ANALYZE", "DROP TABLE sqlite_stat1")
                },
            )
        }),
    },
];
