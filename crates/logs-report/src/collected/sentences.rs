//! Sentences of the page of `hakaru collect`.

use collect::layers::{Balance, Place};
use collect::message::UnitEnd;
use collect::notes::Note;
use figures::{counted, numbers};
use remote::clock::Offset;
use words::{Text, text};

/// Returns the head of the balance.
pub(super) fn balance(balance: &Balance) -> Text {
    text!(
        "where the time of a request is: {time} as a mean of {requests}",
        time = numbers::duration_ms(balance.mean_s * 1e3),
        requests = counted!(balance.requests, "request")
    )
}

/// Returns the name of a part of the way of a request.
pub(super) fn place(place: &Place) -> Text {
    match place {
        Place::Outside(host) => text!(
            "between the load and {host}, and in its queue",
            host = host.as_str()
        ),
        Place::Proxy(host) => text!("web server on {host}", host = host.as_str()),
        Place::App {
            host,
            with_way: false,
        } => text!("app on {host}", host = host.as_str()),
        Place::App {
            host,
            with_way: true,
        } => text!("app on {host}, with the way to it", host = host.as_str()),
        Place::Between(one, other) => text!(
            "between {one} and {other}",
            one = one.as_str(),
            other = other.as_str()
        ),
        Place::Database(host) => text!("database on {host}", host = host.as_str()),
    }
}

/// Returns a number of cores; the limit of a container may be a part of one.
pub(super) fn cores(cores: f64) -> Text {
    match cores.fract() == 0.0 {
        true => counted!(cores as u64, "core"),
        false => text!("{number} cores", number = numbers::plain(cores)),
    }
}

/// Returns how far a clock is off.
pub(super) fn clock(offset: Offset) -> Text {
    let sign = if offset.nanos < 0 { "-" } else { "+" };
    let ms = numbers::duration_ns(offset.nanos.unsigned_abs() as f64);
    text!(
        "its clock is off by {offset}, ± {bound}",
        offset = format!("{sign}{ms}"),
        bound = numbers::duration_ns(offset.bound_ns as f64)
    )
}

/// Returns what a unit wrote.
pub(super) fn unit(unit: &UnitEnd) -> Text {
    text!(
        "journal of {unit}: entries {entries}, warnings {warnings}, errors {errors}",
        unit = unit.unit.as_str(),
        entries = numbers::count(unit.entries),
        warnings = numbers::count(unit.warnings),
        errors = numbers::count(unit.errors)
    )
}

/// Returns a note for people, with advice.
pub(super) fn note(note: &Note) -> Text {
    match note {
        Note::Saturated { host, used, cores } => text!(
            "{host} has no CPU left: {used} of its {cores} were in use; what ran there is listed below",
            host = host.as_str(),
            used = numbers::plain(*used),
            cores = self::cores(*cores)
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
        Note::Slower { .. }
        | Note::Far { .. }
        | Note::DatabaseIdle { .. }
        | Note::Descriptors { .. } => across(note),
        Note::Files { .. } | Note::Buffered { .. } => of_log(note),
    }
}

/// Returns a note of an access log; nothing for other notes.
fn of_log(note: &Note) -> Text {
    match note {
        Note::Files {
            host,
            files,
            requests,
        } => text!(
            "{host} passes static files to the app: {files} of {requests}; let the web server send them (nginx: root or alias with \
             try_files)",
            host = host.as_str(),
            files = numbers::count(*files),
            requests = counted!(*requests, "request")
        ),
        Note::Buffered {
            host,
            early,
            requests,
        } => text!(
            "the access log of {host} is buffered: {early} of {requests} in it ended before the window; remove buffer= or add flush=1s \
             while you measure",
            host = host.as_str(),
            early = numbers::count(*early),
            requests = counted!(*requests, "request")
        ),
        _ => Text::named(""),
    }
}

/// Returns a note of connections or several hosts; nothing for other notes.
fn across(note: &Note) -> Text {
    match note {
        Note::Slower {
            host,
            median_s,
            other,
            other_median_s,
        } => text!(
            "{host} takes {median} for half of its requests, {other} {other_median}: look at what else runs on {host}, or send it \
             fewer requests (nginx: weight)",
            host = host.as_str(),
            median = numbers::duration_ms(median_s * 1e3),
            other = other.as_str(),
            other_median = numbers::duration_ms(other_median_s * 1e3)
        ),
        Note::Far {
            host,
            other,
            round_trip_s,
        } => text!(
            "{host} and {other} are far apart: a round trip between them takes {time}, and each statement or request needs at least \
             one",
            host = host.as_str(),
            other = other.as_str(),
            time = numbers::duration_ms(round_trip_s * 1e3)
        ),
        Note::DatabaseIdle { host, share } => text!(
            "all app hosts are full while {host} uses {share} of its CPU: run a part of the app there too",
            host = host.as_str(),
            share = numbers::share(*share)
        ),
        Note::Descriptors {
            host,
            process,
            open,
            limit,
        } => text!(
            "{process} on {host} has {open} of at most {limit} files and connections open: raise the limit (systemd: LimitNOFILE; \
             nginx: worker_rlimit_nofile)",
            process = process.as_str(),
            host = host.as_str(),
            open = numbers::count(*open),
            limit = numbers::count(*limit)
        ),
        _ => Text::named(""),
    }
}
