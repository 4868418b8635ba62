//! The page of `hakaru collect` on the terminal.

use collect::follow::{Database, Followed, Log};
use collect::layers::Balance;
use collect::usage::Usage;
use console::columns::Columns;
use console::language;
use figures::{counted, numbers};
use logs::{Digest, Unread};
use words::{Text, text};

use super::{Collected, View, inside, sentences};
use crate::page as log_page;

/// Lines of a paragraph.
const LINES_MAX: usize = 4;
/// Names of processes shown per host.
const PROCESSES: usize = 6;
/// Messages shown of a unit.
const MESSAGES: usize = 5;
/// Blanks before the terms of an app, below the app's name in the balance.
const TERMS_INDENT: usize = 19;
/// Smallest offset of a host's clock shown on the page, nanoseconds.
const CLOCK_SHOWN_NS: u64 = 1_000_000;

/// Returns the page with at most `limit` routes and statements, or all for 0.
pub fn of(view: &View, limit: usize) -> String {
    let mut page = Page::default();
    page.add(
        0,
        &text!(
            "HAKARU COLLECT  {time} on {hosts}",
            time = numbers::duration_ms(view.seconds() * 1e3),
            hosts = counted!(view.hosts.len() as u64, "host")
        ),
    );
    page.columns.add_gap();
    for note in &view.notes {
        page.add(2, &sentences::note(note));
    }
    if !view.notes.is_empty() {
        page.columns.add_gap();
    }
    if let Some(balance) = &view.balance {
        page.add_balance(balance);
    }
    page.columns.add_titles(&[
        text!("CPU"),
        text!("peak"),
        text!("free"),
        text!("received"),
        text!("sent"),
        text!("read"),
        text!("written"),
    ]);
    for (one, unread) in view.hosts.iter().zip(&view.unread) {
        page.add_host(one, unread, view.origin_ns());
    }
    for digest in view.access.iter().chain(&view.slow) {
        let names: Vec<String> = view
            .hosts
            .iter()
            .flat_map(|one| log_names(one, digest))
            .collect();
        page.columns.add_gap();
        page.columns
            .add_text(&log_page::of(digest, &names.join(" "), limit));
    }
    for one in &view.hosts {
        if let Ok(Followed {
            database: Some(database),
            ..
        }) = &one.followed
        {
            page.add_database(&one.name, database, limit);
        }
    }
    for one in &view.hosts {
        if let Ok(Followed {
            inside: Some(inside),
            ..
        }) = &one.followed
        {
            inside::add(&mut page.columns, &one.name, inside, limit);
        }
    }
    page.columns.into_text()
}

/// Names of hosts whose logs may be in the digest.
fn log_names(one: &Collected, digest: &Digest) -> Option<String> {
    let followed = one.followed.as_ref().ok()?;
    let is_slow = |log: &&Log| log.is_slow == matches!(digest, Digest::Slow(_));
    let has = followed
        .logs
        .iter()
        .filter(|log| log.bytes > 0)
        .any(|log| is_slow(&log));
    has.then(|| one.name.clone())
}

#[derive(Default)]
struct Page {
    columns: Columns,
}

impl Page {
    fn add_host(&mut self, one: &Collected, unread: &[Unread], origin_ns: Option<i64>) {
        let roles = one.roles.join(", ");
        let name = match roles.is_empty() {
            true => one.name.clone(),
            false => format!("{} ({roles})", one.name),
        };
        self.add_paragraph(2, &name);
        let followed = match &one.followed {
            Ok(followed) => followed,
            Err(error) => return self.add_paragraph(6, error),
        };
        if let Some(usage) = &followed.usage {
            self.add_usage(usage, followed);
        }
        self.add_rest(followed, unread);
        self.add_units(followed, origin_ns);
    }

    /// Adds the journals of units; times are seconds from the beginning, by our clock.
    fn add_units(&mut self, followed: &Followed, origin_ns: Option<i64>) {
        for unit in &followed.units {
            if let Some(error) = &unit.error {
                self.add_paragraph(6, &format!("{}: {error}", unit.unit));
            }
            if unit.error.is_none() || unit.entries > 0 {
                self.add(6, &sentences::unit(unit));
            }
            for entry in unit.messages.iter().take(MESSAGES) {
                let at = super::stamps::at_s(entry, followed, origin_ns);
                let at = at.map_or_else(String::new, |at| format!("{at:+.1} s "));
                let times = match entry.count {
                    1 => String::new(),
                    count => format!(" ×{}", numbers::count(count)),
                };
                let message = figures::line::one_line(&entry.message);
                self.add_paragraph(8, &format!("{at}{message}{times}"));
            }
        }
    }

    /// Adds what a database server counted of statements.
    fn add_database(&mut self, name: &str, database: &Database, limit: usize) {
        self.columns.add_gap();
        let head = text!(
            "statements by the counters of the database on {host}",
            host = name
        );
        self.add(0, &head);
        let notes = database.end.error.iter().chain(&database.end.notes);
        for note in notes {
            self.add_paragraph(2, note);
        }
        if database.end.connections + database.end.prepares > 0 {
            let opened = text!(
                "opened connections: {connections}; prepared statements: {prepares}",
                connections = numbers::count(database.end.connections),
                prepares = numbers::count(database.end.prepares)
            );
            self.add(2, &opened);
        }
        if database.statements.is_empty() {
            return;
        }
        self.columns.add_titles(&[
            text!("calls"),
            text!("time"),
            text!("mean"),
            text!("rows read"),
            text!("rows"),
        ]);
        let all_ns: u64 = database.statements.iter().map(|one| one.time_ns).sum();
        let shown = match limit {
            0 => database.statements.len(),
            limit => limit,
        };
        for one in database.statements.iter().take(shown) {
            self.add_paragraph(2, &one.digest);
            let examined = match one.rows_examined {
                0 => numbers::UNKNOWN.to_owned(),
                rows => numbers::count(rows),
            };
            self.columns.add_figures(&[
                numbers::count(one.count),
                numbers::share(one.time_ns as f64 / all_ns.max(1) as f64),
                numbers::duration_ns(one.time_ns as f64 / one.count.max(1) as f64),
                examined,
                numbers::count(one.rows_sent),
            ]);
        }
    }

    /// Adds the parts of the mean request, each with a share.
    fn add_balance(&mut self, balance: &Balance) {
        self.add(0, &sentences::balance(balance));
        for layer in &balance.layers {
            let share = match balance.mean_s > 0.0 {
                true => layer.mean_s / balance.mean_s,
                false => 0.0,
            };
            let figures = format!(
                "{:>9} {:>5}",
                numbers::duration_ms(layer.mean_s * 1e3),
                numbers::share(share)
            );
            let place = sentences::place(&layer.place).written_in(language::chosen());
            self.add_paragraph(2, &format!("{figures}  {place}"));
            if let Some(terms_s) = &layer.terms_s {
                self.add_paragraph(TERMS_INDENT, &inside::told(terms_s));
            }
        }
        self.columns.add_gap();
    }

    fn add_usage(&mut self, usage: &Usage, followed: &Followed) {
        let all = followed
            .core_limit
            .unwrap_or(f64::from(followed.cores.max(1)));
        let share = |used: f64| numbers::share(used / all);
        self.columns.add_figures(&[
            share(usage.cpu_cores),
            share(usage.cpu_cores_max),
            numbers::bytes(usage.memory_available_min),
            numbers::bytes(usage.received),
            numbers::bytes(usage.sent),
            numbers::bytes(usage.disk_read),
            numbers::bytes(usage.disk_written),
        ]);
        let processes = usage.processes.iter().take(PROCESSES).map(|all| {
            let name = figures::line::one_line(&all.name);
            let count = match all.count {
                1 => String::new(),
                count => format!(" ×{}", numbers::count(count)),
            };
            format!("{name}{count} {}", numbers::share(all.cpu_cores))
        });
        let processes: Vec<String> = processes.collect();
        if !processes.is_empty() {
            self.add(
                6,
                &text!(
                    "{cores}; of one core: {processes}",
                    cores = sentences::cores(all),
                    processes = processes.join(", ")
                ),
            );
        }
        if usage.processes_dropped > 0 {
            self.add(
                6,
                &text!(
                    "too many processes: {records} of further ones are in no figure by name",
                    records = counted!(usage.processes_dropped, "record")
                ),
            );
        }
        if share(usage.steal_cores) != share(0.0) {
            self.add(
                6,
                &text!(
                    "taken by the hypervisor: {share}",
                    share = share(usage.steal_cores)
                ),
            );
        }
    }

    fn add_rest(&mut self, followed: &Followed, unread: &[Unread]) {
        if let Some(offset) = followed.clock
            && offset.nanos.unsigned_abs() > CLOCK_SHOWN_NS + offset.bound_ns
        {
            self.add(6, &sentences::clock(offset));
        }
        for (log, unread) in followed.logs.iter().zip(unread) {
            let bytes = numbers::bytes(log.bytes);
            match &log.error {
                Some(error) => self.add_paragraph(6, &format!("{}: {error}", log.path)),
                None if log.truncations > 0 => self.add(
                    6,
                    &text!(
                        "{path}: {bytes} in the window; truncated {times}",
                        path = log.path.as_str(),
                        bytes,
                        times = counted!(log.truncations, "time")
                    ),
                ),
                None => self.add(
                    6,
                    &text!(
                        "{path}: {bytes} in the window",
                        path = log.path.as_str(),
                        bytes
                    ),
                ),
            }
            if let Some((_, line)) = &unread.first {
                self.add(
                    6,
                    &text!(
                        "{path}: {lines} could not be read and are in no figure; the first: {line}",
                        path = log.path.as_str(),
                        lines = counted!(unread.lines, "line"),
                        line = figures::line::one_line(line)
                    ),
                );
            }
        }
        if let Some(lost) = &followed.lost {
            self.add_paragraph(6, lost);
        }
    }

    fn add(&mut self, indent: usize, line: &Text) {
        self.columns.add_line(indent, line, LINES_MAX);
    }

    fn add_paragraph(&mut self, indent: usize, text: &str) {
        self.columns.add_paragraph(indent, text, LINES_MAX);
    }
}
