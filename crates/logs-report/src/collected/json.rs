//! The collected facts as JSON; docs/json.md names each key.

use collect::follow::Log;
use collect::layers::{Balance, Place};
use collect::notes::Note;
use collect::sockets::Link;
use collect::usage::{Processes, Usage};
use logs::Digest;
use remote::clock::Offset;
use serde_json::{Value, json};

use super::{Collected, View};
use crate::json as log_json;

/// Format and version of the document.
const FORMAT: &str = "hakaru-collect";
const VERSION: u32 = 1;

/// Returns the document.
pub fn of(view: &View) -> Value {
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
        "notes": view.notes.iter().map(note).collect::<Vec<_>>(),
        "hosts": view.hosts.iter().map(host).collect::<Vec<_>>(),
        "balance": view.balance.as_ref().map(balance),
        "routes": routes, "statements": statements, "unread": unread,
    })
}

fn host(one: &Collected) -> Value {
    let (name, roles) = (&one.name, &one.roles);
    match &one.followed {
        Err(error) => json!({ "name": name, "roles": roles, "error": error }),
        Ok(followed) => json!({
            "name": name, "roles": roles, "error": followed.lost, "cores": followed.cores,
            "core_limit": followed.core_limit,
            "usage": followed.usage.as_ref().map(usage), "clock": followed.clock.map(clock),
            "logs": followed.logs.iter().map(log).collect::<Vec<_>>(),
        }),
    }
}

fn usage(usage: &Usage) -> Value {
    json!({
        "seconds": usage.seconds, "cpu_cores": usage.cpu_cores, "cpu_cores_max": usage.cpu_cores_max,
        "steal_cores": usage.steal_cores, "memory_available_min_bytes": usage.memory_available_min,
        "received_bytes": usage.received, "sent_bytes": usage.sent, "disk_read_bytes": usage.disk_read,
        "disk_written_bytes": usage.disk_written, "connections_opened": usage.opened,
        "links": usage.links.iter().map(link).collect::<Vec<_>>(),
        "processes": usage.processes.iter().map(processes).collect::<Vec<_>>(),
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

fn balance(balance: &Balance) -> Value {
    let layers = balance.layers.iter().map(|layer| {
        let (kind, host, other) = match &layer.place {
            Place::Outside(host) => ("outside", host, None),
            Place::Proxy(host) => ("proxy", host, None),
            Place::App { host, .. } => ("app", host, None),
            Place::Between(host, other) => ("between", host, Some(other)),
            Place::Database(host) => ("database", host, None),
        };
        json!({ "kind": kind, "host": host, "other": other, "mean_s": layer.mean_s })
    });
    json!({
        "requests": balance.requests, "mean_s": balance.mean_s, "layers": layers.collect::<Vec<_>>(),
    })
}
