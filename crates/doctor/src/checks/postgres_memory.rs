//! PostgreSQL: the sizes of what lies in memory.

use figures::numbers;
use words::{phrase, text};

use super::servers::{MORE_MEMORY, is_old_enough, memory, room, set, uptime};
use crate::check::{Cost, Found, Level, Needs};
use crate::snapshot::{Database, Snapshot};

const MEGABYTE: f64 = 1_048_576.0;

pub(super) fn shared_buffers(db: &Database, s: &Snapshot) -> Option<Found> {
    const NAME: &str = "shared_buffers";
    const USUAL: f64 = 128.0 * MEGABYTE;
    let size = db.number(NAME)?;
    let data = db.number("(data bytes)").unwrap_or(0.0);
    let (hit, read) = (
        db.number("(blocks hit)").unwrap_or(0.0),
        db.number("(blocks read)").unwrap_or(0.0),
    );
    let missed = read / (hit + read).max(1.0);
    let level = match () {
        () if size < USUAL / 8.0 => Level::High,
        () if missed > 0.1 && hit + read > 1e5 && data > size => Level::High,
        () if missed > 0.01 && hit + read > 1e6 && data > size => Level::Medium,
        () if size < 0.9 * USUAL => Level::Medium,
        () => return None,
    };
    let found =
        Found::new(level, format!("{NAME} = {}", numbers::bytes(size as u64))).evidence(text!(
            "data {data}, {share} of blocks not in them",
            data = numbers::bytes(data as u64),
            share = numbers::share(missed)
        ));
    let found = match room(db, s, size, (data * 1.25).max(USUAL), 0.25) {
        Some(bytes) => found.change(
            set(db, NAME, format!("{}MB", bytes / MEGABYTE)),
            set(db, NAME, format!("{}kB", size / 1024.0)),
        ),
        None => found.change(MORE_MEMORY, ""),
    };
    let found = found.needs(Needs::Restart);
    // Most of what is not in them is in the kernel's cache.
    let cached_ns = s.measures.cached_read_ns.filter(|_| db.is_local);
    Some(match db.miss_ns.or(cached_ns) {
        Some(ns) => found.cost(Cost::Each {
            ns,
            event: phrase!("block that is not in them"),
        }),
        None => found,
    })
}

/// Returns the `work_mem` with which all connections fit into the memory, in whole megabytes.
fn work_mem_that_fits(db: &Database, machine: f64) -> Option<f64> {
    let left = machine - db.number("shared_buffers")?;
    let each = left / db.number("max_connections")?.max(1.0);
    Some((each / MEGABYTE).floor() * MEGABYTE)
}

pub(super) fn spills(db: &Database, s: &Snapshot) -> Option<Found> {
    const NAME: &str = "work_mem";
    /// Most for all statements of a server whose memory is unknown.
    const UNKNOWN_MEMORY: f64 = 64.0 * MEGABYTE;
    let (files, bytes) = (
        db.number("(temporary files)")?,
        db.number("(temporary bytes)")?,
    );
    let rate = files / uptime(db).filter(|_| is_old_enough(db))?;
    (rate > 0.1).then(|| {
        let found = Found::new(
            Level::Medium,
            text!(
                "{files} temporary files, {bytes}",
                files = files.to_string(),
                bytes = numbers::bytes(bytes as u64)
            ),
        );
        let size = db.number(NAME).unwrap_or(4.0 * MEGABYTE);
        let most = memory(db, s).and_then(|machine| work_mem_that_fits(db, machine));
        let wanted = (size * 4.0).min(most.unwrap_or(UNKNOWN_MEMORY));
        match wanted > size {
            true => found.change(
                set(db, NAME, format!("{}kB", wanted / 1024.0)),
                set(db, NAME, format!("{}kB", size / 1024.0)),
            ),
            false => found.change(
                phrase!("an index in the order that is asked for, or SET LOCAL work_mem for the statement alone"),
                phrase!("as before"),
            ),
        }
    })
}

pub(super) fn sum(db: &Database, s: &Snapshot) -> Option<Found> {
    const NAME: &str = "work_mem";
    let machine = memory(db, s)?;
    let size = db.number(NAME)?;
    let sum = db.number("shared_buffers")? + size * db.number("max_connections")?;
    (sum > machine).then(|| {
        let found = Found::new(
            Level::Medium,
            text!(
                "shared_buffers + work_mem × max_connections = {sum}, machine {machine}",
                sum = numbers::bytes(sum as u64),
                machine = numbers::bytes(machine as u64)
            ),
        );
        match work_mem_that_fits(db, machine).filter(|bytes| *bytes >= MEGABYTE) {
            Some(bytes) => found.change(
                set(db, NAME, format!("{}kB", bytes / 1024.0)),
                set(db, NAME, format!("{}kB", size / 1024.0)),
            ),
            None => found
                .change(
                    phrase!(
                        "a pooler such as PgBouncer before the server, and a lower max_connections"
                    ),
                    phrase!("as before"),
                )
                .needs(Needs::Restart),
        }
    })
}

pub(super) fn cache_size(db: &Database, s: &Snapshot) -> Option<Found> {
    const NAME: &str = "effective_cache_size";
    let size = db.number(NAME)?;
    let machine = memory(db, s)?;
    let data = db.number("(data bytes)")?;
    (size < machine / 8.0 && data > size).then(|| {
        let wanted = (machine * 0.5 / MEGABYTE).floor();
        Found::new(
            Level::Low,
            text!(
                "effective_cache_size = {size}, machine {machine}",
                size = numbers::bytes(size as u64),
                machine = numbers::bytes(machine as u64)
            ),
        )
        .change(
            set(db, NAME, format!("{wanted}MB")),
            set(db, NAME, format!("{}kB", size / 1024.0)),
        )
    })
}
