//! From all measurements to the comparison.

use comparison::{CurvePoint, Row, Variant};
use figures::{counted, numbers};
use recording::Nanos;
use stats::comparison::Comparison;
use stats::design::Design;
use stats::{mean, median};
use words::{Text, text};

use super::{Experiment, Label, Seen, Sides};
use crate::measurement::cause;

/// Share of the generator's thread in use, from which the generator itself is measured.
const GENERATOR_BUSY: f64 = 0.85;
/// Share of measurements on a disturbed host, from which a note is due.
const DISTURBED_SHARE: f64 = 0.1;
/// Growth of an app's memory within a measurement, from which a note is due, bytes.
const LEAK_BYTES: f64 = 20.0 * (1 << 20) as f64;
/// Shares at which the curves are drawn.
const CURVE: [f64; 16] = [
    0.1, 0.25, 0.5, 0.66, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999,
    1.0,
];

impl Experiment<'_> {
    /// Returns the results, except the cause of a cut-off.
    pub(super) fn results(
        mut self,
        blocks: Option<&(Comparison, Design)>,
    ) -> comparison::Comparison {
        self.doubts();
        for seen in &mut self.seen {
            seen.latency.sort_unstable();
        }
        let outcome = blocks.map(|(comparison, design)| (comparison.end(), design));
        let rows = outcome.as_ref().map(|(outcome, design)| {
            let rows = design.names().zip(&outcome.rows).enumerate();
            rows.map(|(row, (name, seen))| Row {
                metric: name.to_owned(),
                a: geometric_mean(self.measured.iter().map(|block| block.a[row])),
                b: geometric_mean(self.measured.iter().map(|block| block.b[row])),
                seen: *seen,
            })
            .collect()
        });
        let outcome = outcome.map(|(outcome, _)| outcome);
        comparison::Comparison {
            a: self.variant(Label::A),
            b: self.variant(Label::B),
            rows: rows.unwrap_or_default(),
            blocks: self.measured.len(),
            redone: self.redone,
            disturbed: self.disturbed,
            noise_floor: outcome.as_ref().and_then(|outcome| outcome.noise_floor),
            noise_claims: outcome.as_ref().is_some_and(|outcome| outcome.noise_claims),
            measuring_s: self.begin.elapsed().as_secs_f64(),
            load: load_in_words(self.sides),
            curve: curve(&self.seen),
            measured: self.measured,
            notes: self.notes,
            ..comparison::Comparison::default()
        }
    }

    fn variant(&self, label: Label) -> Variant {
        let seen = &self.seen[label.index()];
        Variant {
            name: self.sides.side(label).name.clone(),
            start_s: median(&seen.starts_s),
            warmup_s: seen.warmup_s,
            requests: seen.latency.len() as u64,
            failed: seen.failed,
            memory_bytes: median(&seen.memory).map(|bytes| bytes as u64),
        }
    }

    /// What to know before the numbers are trusted.
    fn doubts(&mut self) {
        let measurements = 4 * self.measured.len();
        if let Some(last) = self.disturbance
            && self.disturbed as f64 > DISTURBED_SHARE * measurements as f64
        {
            self.notes.push(text!("the host was disturbed during {disturbed} of {measurements} measurements ({last} in the last of \
                 them): intervals are wider for it; a quieter host or hour decides sooner", disturbed = self.disturbed, measurements, last = cause(&last)));
        }
        if self.generator > GENERATOR_BUSY {
            self.notes.push(text!("the load generator used {share}% of its thread, so it may be what was measured; give it more \
                 threads or less load", share = format!("{:.0}", self.generator * 100.0)));
        }
        if self.sides.is_live {
            self.notes.push(
                text!("both apps stayed up: what lies in these two boots is not told from what lies in the variants"),
            );
        }
        for label in [Label::A, Label::B] {
            self.notes
                .extend(silences(label, self.silent[label.index()]));
            let statuses = &self.seen[label.index()].statuses;
            let hollow =
                figures::hollow::warning(statuses.iter().map(|(status, count)| (*status, *count)));
            self.notes.extend(
                hollow.map(|doubt| text!("{label}: {doubt}", label = label.to_string(), doubt)),
            );
            let growth = median(&self.seen[label.index()].growth).unwrap_or(0.0);
            if growth > LEAK_BYTES {
                self.notes.push(text!("the memory of {label} grew by {memory} MiB within a measurement: does it leak?", label = label.to_string(), memory = format!("{:.0}", growth / f64::from(1 << 20))));
            }
        }
    }
}

/// Returns the note about measurements without any response: repeated, measurements are in no
/// figure, so a side hanging now and then would look sound.
fn silences(label: Label, count: u64) -> Option<Text> {
    (count > 0).then(|| {
        text!(
            "{label} answered nothing in {measurements}, which were repeated: no figure here shows that it hung",
            label = label.to_string(),
            measurements = counted!(count, "measurement")
        )
    })
}

fn geometric_mean(pairs: impl Iterator<Item = [f64; 2]>) -> f64 {
    let logs: Vec<f64> = pairs.flatten().map(f64::ln).collect();
    mean(&logs).map_or(f64::NAN, f64::exp)
}

/// Returns latency quantiles over all measured requests; shares without a single request beyond are
/// left out.
fn curve(seen: &[Seen; 2]) -> Vec<CurvePoint> {
    let at = |side: &Seen, share: f64| {
        let carried = share >= 1.0 || side.latency.len() as f64 * (1.0 - share) >= 1.0;
        let value: Nanos = stats::quantile(&side.latency, share).filter(|_| carried)?;
        Some(value.as_millis_f64())
    };
    let points = CURVE.into_iter().map(|share| CurvePoint {
        share,
        a_ms: at(&seen[0], share),
        b_ms: at(&seen[1], share),
    });
    points
        .filter(|point| point.a_ms.is_some() || point.b_ms.is_some())
        .collect()
}

fn load_in_words(sides: &Sides) -> String {
    let plan = &sides.a.settings.plan;
    match plan.pace {
        load::Pace::Closed => numbers::counted(u64::from(plan.connections), "connection"),
        load::Pace::Constant { per_second } => format!(
            "{per_second} requests/s over at most {} connections",
            plan.connections
        ),
        load::Pace::Scheduled(_) => format!(
            "a schedule of rates over at most {} connections",
            plan.connections
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_without_a_response_are_named() {
        assert_eq!(silences(Label::A, 0), None);
        let said = silences(Label::B, 2).expect("a note").to_string();
        assert!(
            said.starts_with("B answered nothing in 2 measurements"),
            "{said}"
        );
    }
}
