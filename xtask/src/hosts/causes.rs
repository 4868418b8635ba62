//! Planted causes, and the notes expected from `hakaru run`.

use super::bed::{Bed, Plan};
use super::document::{self, Layer, Note};
use crate::run::Outcome;

/// Kind of a note, and the hosts of which any may be named.
type Named = (&'static str, &'static [&'static str]);

/// A cause of slowness, and the host to be named.
pub(super) struct Cause {
    pub(super) name: &'static str,
    plant: fn(&mut Bed) -> Outcome<()>,
    /// Whether requests come at a rate, or each after the response before.
    has_rate: bool,
    /// Notes of which the first must be there; no other may.
    notes: &'static [Named],
    /// Kind and last host of the largest part of the balance; `None` for a cause with little cost.
    largest: Option<(&'static str, &'static str)>,
}

/// The causes, the calm bed first.
pub(super) const ALL: [Cause; 5] = [
    Cause {
        name: "nothing is planted",
        plant: |bed| bed.arrange(&Plan::default()),
        has_rate: true,
        notes: &[],
        largest: None,
    },
    Cause {
        name: "the proxy opens a connection for each request",
        plant: |bed| {
            bed.arrange(&Plan {
                keeps_connections: false,
                ..Plan::default()
            })
        },
        has_rate: true,
        notes: &[("not_kept", &["web"])],
        largest: None,
    },
    Cause {
        name: "one app host is slow",
        plant: |bed| {
            bed.arrange(&Plan {
                slow_ms: Some(80),
                ..Plan::default()
            })
        },
        has_rate: true,
        notes: &[("slower", &["app2"])],
        largest: Some(("app", "app2")),
    },
    Cause {
        name: "the database's host has no CPU left",
        plant: |bed| {
            bed.arrange(&Plan {
                computes: true,
                ..Plan::default()
            })
        },
        has_rate: false,
        notes: &[("saturated", &["db"])],
        largest: Some(("database", "db")),
    },
    Cause {
        name: "the database is 40 ms away",
        plant: |bed| {
            bed.arrange(&Plan {
                database_delay_ms: 40,
                ..Plan::default()
            })
        },
        has_rate: false,
        notes: &[("far", &["app1", "app2"])],
        largest: Some(("between", "db")),
    },
];

/// Plants a cause, runs, and compares what is said with what must be; returns the balance.
pub(super) fn check(cause: &Cause, bed: &mut Bed, rate: u32, seconds: u32) -> Outcome<String> {
    (cause.plant)(bed)?;
    let text = bed.run(cause.has_rate.then_some(rate), seconds)?;
    let notes = document::notes(&text).ok_or("the run has no part of hosts")?;
    let layers = document::layers(&text).ok_or("the run has no balance of hosts")?;
    let told = told(&notes, &layers);
    let complaint =
        wrong_notes(cause.notes, &notes).or_else(|| wrong_layer(cause.largest, &layers));
    match complaint {
        Some(complaint) => Err(format!("{complaint}\n{told}")),
        None => Ok(told),
    }
}

fn wrong_notes(expected: &[Named], notes: &[Note]) -> Option<String> {
    let fits = |(kind, hosts): &Named, note: &Note| {
        note.kind == *kind && hosts.contains(&note.host.as_str())
    };
    let extra = notes
        .iter()
        .find(|note| !expected.iter().any(|named| fits(named, note)));
    if let Some(note) = extra {
        return Some(format!("it says {} of {}", note.kind, note.host));
    }
    let first = expected.first()?;
    let is_there = notes.iter().any(|note| fits(first, note));
    (!is_there).then(|| format!("it does not say {} of {}", first.0, first.1.join(" or ")))
}

/// Compares the largest part with the expected one; parts of one kind with one last host are added
/// up.
fn wrong_layer(expected: Option<(&str, &str)>, layers: &[Layer]) -> Option<String> {
    let (kind, host) = expected?;
    let end = |layer: &Layer| match layer.kind.as_str() {
        "between" => (layer.kind.clone(), layer.other.clone()),
        _ => (layer.kind.clone(), layer.host.clone()),
    };
    let sum = |of: &(String, String)| {
        let those = layers.iter().filter(|layer| end(layer) == *of);
        those.map(|layer| layer.mean_s).sum::<f64>()
    };
    let largest = layers
        .iter()
        .map(end)
        .max_by(|a, b| sum(a).total_cmp(&sum(b)))?;
    let is_right = largest == (kind.to_owned(), host.to_owned());
    (!is_right).then(|| {
        format!(
            "the largest part is {} {}, not {kind} {host}",
            largest.0, largest.1
        )
    })
}

fn told(notes: &[Note], layers: &[Layer]) -> String {
    let layers = layers.iter().map(|layer| {
        let other = match layer.other.as_str() {
            "null" => String::new(),
            other => format!(" - {other}"),
        };
        format!(
            "  {:>8.2} ms  {} {}{other}",
            layer.mean_s * 1e3,
            layer.kind,
            layer.host
        )
    });
    let notes = notes
        .iter()
        .map(|note| format!("  note         {} {}", note.kind, note.host));
    layers.chain(notes).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(kind: &str, host: &str, other: &str, mean_s: f64) -> Layer {
        Layer {
            kind: kind.to_owned(),
            host: host.to_owned(),
            other: other.to_owned(),
            mean_s,
        }
    }

    #[test]
    fn ways_to_one_host_count_together() {
        let layers = [
            layer("between", "app1", "db", 0.02),
            layer("app", "app1", "null", 0.03),
            layer("between", "app2", "db", 0.02),
        ];
        assert_eq!(wrong_layer(Some(("between", "db")), &layers), None);
        assert!(wrong_layer(Some(("app", "app1")), &layers).is_some());
        assert_eq!(wrong_layer(None, &layers), None);
    }

    #[test]
    fn a_note_too_many_and_one_too_few_are_named() {
        let note = |kind: &str, host: &str| Note {
            kind: kind.to_owned(),
            host: host.to_owned(),
        };
        let far: &[Named] = &[("far", &["app1", "app2"])];
        assert_eq!(wrong_notes(far, &[note("far", "app2")]), None);
        assert!(wrong_notes(far, &[]).is_some());
        assert!(wrong_notes(far, &[note("far", "app1"), note("files", "web")]).is_some());
        assert_eq!(wrong_notes(&[], &[]), None);
    }
}
