//! What `hakaru run` says of the load before the beginning.

use figures::counted;
use load::{Pace, Plan};
use recording::Nanos;
use words::{Text, text};

/// Returns the announcement of a run's load on an app.
pub fn announcement(url: &str, plan: &Plan) -> Text {
    let load = match &plan.pace {
        Pace::Closed => counted!(u64::from(plan.connections), "connection"),
        Pace::Constant { per_second } => text!(
            "{rate} requests/s over at most {connections}",
            rate = per_second.to_string(),
            connections = counted!(u64::from(plan.connections), "connection")
        ),
        Pace::Scheduled(schedule) => {
            text!("{rate} requests/s", rate = schedule.to_string())
        }
    };
    let duration = seconds(plan.duration);
    match plan.warmup {
        Nanos(0) => text!(
            "loading {url}: {load} for {duration} s; Ctrl-C ends it with what was measured",
            url,
            load,
            duration
        ),
        warmup => text!(
            "loading {url}: {load} for {duration} s after {warmup} s of warm-up; Ctrl-C ends it with what was measured",
            url,
            load,
            duration,
            warmup = seconds(warmup)
        ),
    }
}

/// Seconds without superfluous digits: `20`, `0.5`.
fn seconds(length: Nanos) -> String {
    let text = format!("{:.2}", length.as_secs_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_announced_with_its_length() {
        let check = |plan: &Plan, expected: &str| {
            let said = announcement("127.0.0.1:9292", plan).to_string();
            assert_eq!(
                said,
                format!(
                    "loading 127.0.0.1:9292: {expected}; Ctrl-C ends it with what was measured"
                )
            );
        };
        let closed = Plan {
            connections: 20,
            pace: Pace::Closed,
            warmup: Nanos(0),
            duration: Nanos(10_000_000_000),
            ..Plan::default()
        };
        check(&closed, "20 connections for 10 s");
        let open = Plan {
            connections: 1,
            pace: Pace::Constant { per_second: 2.5 },
            warmup: Nanos(500_000_000),
            ..closed
        };
        check(
            &open,
            "2.5 requests/s over at most 1 connection for 10 s after 0.5 s of warm-up",
        );
    }
}
