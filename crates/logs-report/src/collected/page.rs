//! The page of `hakaru collect` on the terminal.

use collect::follow::{Followed, Log};
use collect::notes::Note;
use collect::usage::Usage;
use console::columns::Columns;
use figures::{counted, numbers};
use logs::Digest;
use remote::clock::Offset;
use words::{Text, text};

use super::{Collected, View};
use crate::page as log_page;

/// Lines of a paragraph.
const LINES_MAX: usize = 4;
/// Names of processes shown per host.
const PROCESSES: usize = 6;
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
        page.add(2, &said(note));
    }
    if !view.notes.is_empty() {
        page.columns.add_gap();
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
    for one in &view.hosts {
        page.add_host(one);
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
    fn add_host(&mut self, one: &Collected) {
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
            self.add_usage(usage, followed.cores);
        }
        self.add_rest(followed);
    }

    fn add_usage(&mut self, usage: &Usage, cores: u32) {
        let share = |used: f64| numbers::share(used / f64::from(cores.max(1)));
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
                    cores = counted!(u64::from(cores), "core"),
                    processes = processes.join(", ")
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

    fn add_rest(&mut self, followed: &Followed) {
        if let Some(offset) = followed.clock
            && offset.nanos.unsigned_abs() > CLOCK_SHOWN_NS + offset.bound_ns
        {
            self.add(6, &clock(offset));
        }
        for log in &followed.logs {
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

fn clock(offset: Offset) -> Text {
    let sign = if offset.nanos < 0 { "-" } else { "+" };
    let ms = numbers::duration_ns(offset.nanos.unsigned_abs() as f64);
    text!(
        "its clock is off by {offset}, ± {bound}",
        offset = format!("{sign}{ms}"),
        bound = numbers::duration_ns(offset.bound_ns as f64)
    )
}

fn said(note: &Note) -> Text {
    match note {
        Note::Saturated { host, used, cores } => text!(
            "{host} has no CPU left: {used} of its {cores} were in use; what ran there is listed below",
            host = host.as_str(),
            used = numbers::plain(*used),
            cores = counted!(u64::from(*cores), "core")
        ),
        Note::Uneven {
            role,
            busy,
            busy_share,
            idle,
            idle_share,
        } => text!(
            "the work of the role {role} is shared badly: {busy} used {busy_share} of its CPU, {idle} {idle_share}",
            role = role.as_str(),
            busy = busy.as_str(),
            busy_share = numbers::share(*busy_share),
            idle = idle.as_str(),
            idle_share = numbers::share(*idle_share)
        ),
        Note::NotKept {
            host,
            opened,
            requests,
        } => text!(
            "{host} opened {opened} for {requests} that its web server passed on: connections are not kept (nginx: keepalive in \
             upstream, with proxy_http_version 1.1 and an empty Connection header)",
            host = host.as_str(),
            opened = counted!(*opened, "connection"),
            requests = counted!(*requests, "request")
        ),
        Note::ClockOff { host, offset } => text!(
            "the clock of {host} is off by {offset}: times of its logs do not fit those of other hosts; does chrony or \
             systemd-timesyncd run there?",
            host = host.as_str(),
            offset = numbers::duration_ns(offset.nanos.unsigned_abs() as f64)
        ),
    }
}
