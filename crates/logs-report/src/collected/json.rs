//! The collected facts as JSON; docs/json.md names each key.

use collect::follow::{Database, Followed, Inside, Log};
use collect::layers::{Balance, Place, TERMS};
use collect::message::{STATES, UnitEnd};
use collect::notes::Note;
use collect::sockets::Link;
use collect::usage::{Processes, Usage};
use logs::Digest;
use remote::clock::Offset;
use serde_json::{Value, json};
use words::{Language, Text};

use super::{Collected, View, sentences, stamps};
use crate::json as log_json;

/// Format and version of the document.
const FORMAT: &str = "hakaru-collect";
const VERSION: u32 = 1;

/// Returns the document, with sentences in English.
pub fn of(view: &View) -> Value {
    in_language(view, Language::English)
}

/// Returns the document with sentences in a language, for a page.
pub fn in_language(view: &View, language: Language) -> Value {
    let routes: Vec<Value> = match &view.access {
        Some(Digest::Access(access)) => access.rows().iter().map(log_json::route).collect(),
        _ => Vec::new(),
    };
    let statements: Vec<Value> = match &view.slow {
        Some(Digest::Slow(slow)) => slow.statements().iter().map(log_json::statement).collect(),
        _ => Vec::new(),
    };
    let unread: Vec<Value> = (view.access.iter().chain(&view.slow))
        .map(|digest| log_json::lines(digest.unread()))
        .collect();
    json!({
        "format": FORMAT, "version": VERSION, "seconds": view.seconds(),
        "notes": view.notes.iter().map(|one| with_text(note(one), sentences::note(one), language)).collect::<Vec<_>>(),
        "hosts": hosts(view),
        "balance": view.balance.as_ref().map(|one| balance(one, language)),
        "routes": routes, "statements": statements, "unread": unread,
    })
}

/// Adds the sentence for people to an object.
fn with_text(mut object: Value, text: Text, language: Language) -> Value {
    object["text"] = text.written_in(language).into();
    object
}

fn hosts(view: &View) -> Vec<Value> {
    let hosts = view.hosts.iter().zip(&view.seconds);
    let hosts = hosts.map(|(one, seconds)| {
        let mut value = host(one, view.origin_ns());
        if one.followed.is_ok() {
            value["requests_by_second"] =
                seconds.as_ref().map(|all| all.requests.as_slice()).into();
        }
        value
    });
    hosts.collect()
}

fn host(one: &Collected, origin_ns: Option<i64>) -> Value {
    let (name, roles) = (&one.name, &one.roles);
    match &one.followed {
        Err(error) => json!({ "name": name, "roles": roles, "error": error }),
        Ok(followed) => json!({
            "name": name, "roles": roles, "error": followed.lost, "cores": followed.cores,
            "core_limit": followed.core_limit,
            "usage": followed.usage.as_ref().map(usage), "clock": followed.clock.map(clock),
            "logs": followed.logs.iter().map(log).collect::<Vec<_>>(),
            "database": followed.database.as_ref().map(database),
            "inside": followed.inside.as_ref().map(inside),
            "units": followed.units.iter().map(|one| unit(one, followed, origin_ns)).collect::<Vec<_>>(),
        }),
    }
}

fn database(database: &Database) -> Value {
    let statements = database.statements.iter().map(|one| {
        json!({
            "digest": one.digest, "calls": one.count, "time_s": one.time_ns as f64 / 1e9,
            "rows_examined": one.rows_examined, "rows_sent": one.rows_sent, "pages": one.pages,
        })
    });
    json!({
        "error": database.end.error, "notes": database.end.notes,
        "connections": database.end.connections, "prepares": database.end.prepares,
        "statements": statements.collect::<Vec<_>>(),
    })
}

fn inside(inside: &Inside) -> Value {
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    let routes = inside.routes.iter().map(|one| {
        let states = by_name(&STATES, &one.states_ns.map(seconds));
        json!({
            "route": one.route, "requests": one.requests, "failed": one.failed,
            "time_s": seconds(one.time_ns), "waited_s": seconds(one.waited_ns), "states_s": states,
        })
    });
    let statements = inside.statements.iter().map(|one| {
        json!({
            "digest": one.digest, "site": one.site, "calls": one.count, "rows": one.rows,
            "time_s": seconds(one.time_ns), "gvl_wait_s": seconds(one.gvl_wait_ns),
        })
    });
    let end = &inside.end;
    json!({
        "error": end.error, "notes": end.notes, "server": end.server, "ruby": end.ruby,
        "processes": end.processes, "requests": end.requests, "dropped": end.dropped,
        "routes": routes.collect::<Vec<_>>(), "statements": statements.collect::<Vec<_>>(),
    })
}

/// Returns an object of seconds by name.
fn by_name(names: &[&str], seconds: &[f64]) -> Value {
    let all = names.iter().zip(seconds);
    let all = all.map(|(name, seconds)| ((*name).to_owned(), Value::from(*seconds)));
    all.collect::<serde_json::Map<_, _>>().into()
}

fn unit(unit: &UnitEnd, followed: &Followed, origin_ns: Option<i64>) -> Value {
    let messages = unit.messages.iter().map(|one| {
        json!({
            "at_s": stamps::at_s(one, followed, origin_ns), "count": one.count, "message": one.message,
        })
    });
    json!({
        "unit": unit.unit, "error": unit.error, "entries": unit.entries, "warnings": unit.warnings,
        "errors": unit.errors, "messages": messages.collect::<Vec<_>>(),
    })
}

fn usage(usage: &Usage) -> Value {
    json!({
        "seconds": usage.seconds, "cpu_cores": usage.cpu_cores, "cpu_cores_max": usage.cpu_cores_max,
        "steal_cores": usage.steal_cores, "memory_available_min_bytes": usage.memory_available_min,
        "received_bytes": usage.received, "sent_bytes": usage.sent, "disk_read_bytes": usage.disk_read,
        "disk_written_bytes": usage.disk_written, "connections_opened": usage.opened,
        "links": usage.links.iter().map(link).collect::<Vec<_>>(),
        "processes": usage.processes.iter().map(processes).collect::<Vec<_>>(),
        "processes_dropped": usage.processes_dropped,
    })
}

fn link(link: &Link) -> Value {
    json!({ "local": link.local, "peer": link.peer, "round_trip_min_s": f64::from(link.rtt_min_us) / 1e6 })
}

fn processes(all: &Processes) -> Value {
    json!({ "name": all.name, "count": all.count, "cpu_cores": all.cpu_cores, "rss_max_bytes": all.rss_max })
}

fn clock(offset: Offset) -> Value {
    json!({
        "offset_s": offset.nanos as f64 / 1e9, "bound_s": offset.bound_ns as f64 / 1e9, "steady": offset.is_steady,
    })
}

fn log(log: &Log) -> Value {
    json!({
        "path": log.path, "bytes": log.bytes, "truncations": log.truncations, "incomplete_lines": log.incomplete,
        "error": log.error,
    })
}

fn note(note: &Note) -> Value {
    match note {
        Note::Saturated { host, used, cores } => {
            json!({ "kind": "saturated", "host": host, "cpu_cores": used, "cores": cores })
        }
        Note::Uneven {
            role,
            busy,
            busy_share,
            idle,
            idle_share,
        } => json!({
            "kind": "uneven", "role": role, "host": busy, "cpu_share": busy_share, "other": idle,
            "other_cpu_share": idle_share,
        }),
        Note::NotKept {
            host,
            opened,
            requests,
        } => {
            json!({ "kind": "not_kept", "host": host, "connections_opened": opened, "requests": requests })
        }
        Note::ClockOff { host, offset } => {
            json!({ "kind": "clock_off", "host": host, "clock": clock(*offset) })
        }
        Note::Slower {
            host,
            median_s,
            other,
            other_median_s,
        } => json!({
            "kind": "slower", "host": host, "median_s": median_s, "other": other, "other_median_s": other_median_s,
        }),
        Note::Far {
            host,
            other,
            round_trip_s,
        } => json!({ "kind": "far", "host": host, "other": other, "round_trip_s": round_trip_s }),
        Note::Files {
            host,
            files,
            requests,
        } => json!({ "kind": "files", "host": host, "files": files, "requests": requests }),
        Note::Buffered {
            host,
            early,
            requests,
        } => json!({ "kind": "buffered", "host": host, "early": early, "requests": requests }),
        Note::DatabaseIdle { host, share } => {
            json!({ "kind": "database_idle", "host": host, "cpu_share": share })
        }
        Note::Descriptors {
            host,
            process,
            open,
            limit,
        } => {
            json!({ "kind": "descriptors", "host": host, "process": process, "open": open, "limit": limit })
        }
    }
}

fn balance(balance: &Balance, language: Language) -> Value {
    let layers = balance.layers.iter().map(|layer| {
        let (kind, host, other) = match &layer.place {
            Place::Outside(host) => ("outside", host, None),
            Place::Proxy(host) => ("proxy", host, None),
            Place::App { host, .. } => ("app", host, None),
            Place::Between(host, other) => ("between", host, Some(other)),
            Place::Database(host) => ("database", host, None),
        };
        let terms = layer.terms_s.map(|terms_s| by_name(&TERMS, &terms_s));
        let value = json!({
            "kind": kind, "host": host, "other": other, "mean_s": layer.mean_s, "terms_s": terms,
        });
        with_text(value, sentences::place(&layer.place), language)
    });
    json!({
        "requests": balance.requests, "mean_s": balance.mean_s, "layers": layers.collect::<Vec<_>>(),
    })
}
