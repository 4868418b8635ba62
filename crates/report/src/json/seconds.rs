//! The rows of `processes` and `seconds`: what clients saw, and what was watched in the same
//! second.

use breakdown::{ProcessSecond, Second, Seconds};
use recording::Recording;

use super::{latency, role_name};
use crate::seconds;
use crate::v1::{self, Line};

pub(super) fn processes(watched: &Seconds) -> Vec<Line<v1::Process>> {
    let process = |process: &breakdown::Process| {
        Line(v1::Process {
            pid: process.pid,
            role: role_name(process.role),
            name: process.name.clone(),
            worker: process.worker,
            fds_limit: process.fds_limit,
        })
    };
    watched.processes.iter().map(process).collect()
}

pub(super) fn rows(recording: &Recording, watched: &Seconds) -> Vec<Line<v1::Second>> {
    let seen = seconds::of(recording).into_iter();
    seen.map(|seen| {
        let of_second = |second: &&Second| second.at_s == seen.at_s;
        let found = watched.seconds.iter().find(of_second);
        Line(row(seen, found))
    })
    .collect()
}

fn row(seen: seconds::Second, watched: Option<&Second>) -> v1::Second {
    v1::Second {
        at_s: seen.at_s,
        answered: seen.answered,
        errors: seen.errors,
        checks_failed: seen.checks_failed,
        latency_ms: latency(seen.latency),
        threads_busy: watched.and_then(|second| second.threads_busy).map(short),
        backlog: watched.and_then(|second| second.backlog),
        cpu_busy_cores: watched.map(|second| short(second.busy_cores)),
        cpu_steal_cores: watched.map(|second| short(second.steal_cores)),
        cpu_pressure_share: watched.and_then(|second| second.cpu_pressure).map(short),
        io_pressure_share: watched.and_then(|second| second.io_pressure).map(short),
        memory_pressure_share: watched.and_then(|second| second.memory_pressure).map(short),
        memory_available_bytes: watched.map(|second| second.memory_available),
        memory_used_bytes: watched.and_then(|second| second.memory_used),
        memory_limit_bytes: watched.and_then(|second| second.memory_limit),
        network_received_bytes: watched.and_then(|second| second.network_received),
        network_sent_bytes: watched.and_then(|second| second.network_sent),
        loopback_bytes: watched.and_then(|second| second.loopback),
        disk_read_bytes: watched.and_then(|second| second.disk_read),
        disk_written_bytes: watched.and_then(|second| second.disk_written),
        processes: watched.map_or_else(Vec::new, |second| {
            second.processes.iter().map(process).collect()
        }),
    }
}

fn process(process: &ProcessSecond) -> v1::ProcessSecond {
    let ruby = process.ruby.as_ref();
    v1::ProcessSecond {
        pid: process.pid,
        cpu_cores: short(process.cpu_cores),
        rss_bytes: process.rss,
        pss_bytes: process.pss,
        threads: process.threads,
        fds: process.fds,
        gc_count: ruby.map(|ruby| ruby.gc_count),
        gc_major: ruby.map(|ruby| ruby.gc_major),
        gc_share: ruby.map(|ruby| short(ruby.gc_share)),
        heap_live: ruby.map(|ruby| ruby.heap_live),
        jit_code_bytes: ruby.and_then(|ruby| ruby.jit_code_bytes),
        jit_share: ruby.and_then(|ruby| ruby.jit_share).map(short),
    }
}

/// Three digits after the point: more is noise, and a long run has many rows.
fn short(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::json::run;
    use crate::samples::Sample;

    #[test]
    fn each_second_is_one_line() {
        let text = run(&Sample::chat().view(), None);
        let value: Value = serde_json::from_str(&text).unwrap();
        let seconds = value["seconds"].as_array().unwrap();
        assert_eq!(seconds.len(), 20);
        assert_eq!(seconds[0]["processes"][0]["cpu_cores"], 1.1);
        assert_eq!(value["processes"][1]["role"], "generator");
        let lines = text.lines();
        let rows = lines.filter(|line| line.trim_start().starts_with("{\"at_s\":"));
        assert_eq!(rows.count(), 20);
    }

    #[test]
    fn what_is_not_known_is_null() {
        let mut sample = Sample::chat();
        let second = |sample: &Sample| -> Value {
            let value: Value = serde_json::from_str(&run(&sample.view(), None)).unwrap();
            value["seconds"][0].clone()
        };
        let watched = second(&sample);
        for unknown in ["backlog", "threads_busy", "memory_limit_bytes"] {
            assert_eq!(watched[unknown], Value::Null, "{unknown}");
        }
        assert_eq!(watched["processes"][0]["gc_share"], Value::Null);
        sample.recording.host.clear();
        let unwatched = second(&sample);
        assert_eq!(unwatched["cpu_busy_cores"], Value::Null);
        assert_eq!(unwatched["processes"], Value::Array(Vec::new()));
    }
}
