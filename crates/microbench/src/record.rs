//! benchmark_driver's record files: earlier figures, to be shown in another form.
//!
//! They are YAML with tags of Ruby structs, maps as keys, and anchors. Only names and numbers are
//! read; no tag makes an object.

use std::fmt::Write;

use serde_yaml_ng::{Mapping, Value};

use crate::model::Metric;

/// A figure of a job by a contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The job's name.
    pub job: String,
    /// The contender's name.
    pub contender: String,
    /// What the figure is.
    pub metric: Metric,
    /// The figure; 0 when measuring failed.
    pub value: f64,
    /// All figures of repeated measurements.
    pub all: Vec<f64>,
    /// Turns.
    pub loop_count: Option<f64>,
    /// Seconds for all turns.
    pub duration: Option<f64>,
    /// Whether the figure belongs to the warm-up.
    pub is_warmup: bool,
}

/// Reads a parsed file; an error says what is missing.
pub fn read(file: &Value) -> Result<Vec<Recorded>, String> {
    let jobs = mapping(file.get("job_warmup_context_result"))
        .ok_or("`job_warmup_context_result` is no map")?;
    let mut all = Vec::new();
    for (job, phases) in jobs {
        let job = text(job, "name").ok_or("a job without a name")?;
        for (is_warmup, contexts) in mapping(Some(phases)).into_iter().flatten() {
            for (context, result) in mapping(Some(contexts)).into_iter().flatten() {
                let contender = text(context, "name").ok_or("a context without a name")?;
                let phase = Phase {
                    job: &job,
                    contender: &contender,
                    is_warmup: is_warmup.as_bool().unwrap_or(false),
                };
                all.extend(phase.figures(result)?);
            }
        }
    }
    Ok(all)
}

struct Phase<'a> {
    job: &'a str,
    contender: &'a str,
    is_warmup: bool,
}

impl Phase<'_> {
    fn figures(&self, result: &Value) -> Result<Vec<Recorded>, String> {
        let values = mapping(plain(result).get("values")).ok_or("a result without `values`")?;
        let number = |key: &str| plain(result).get(key).and_then(Value::as_f64);
        let all = mapping(plain(result).get("all_values"));
        let each = values.iter().map(|(metric, value)| {
            let of_metric = all
                .and_then(|all| all.values().next())
                .and_then(Value::as_sequence);
            let is_larger_better = plain(metric).get("larger_better").and_then(Value::as_bool);
            Ok(Recorded {
                job: self.job.to_owned(),
                contender: self.contender.to_owned(),
                metric: Metric::new(
                    &text(metric, "name").ok_or("a metric without a name")?,
                    &text(metric, "unit").unwrap_or_default(),
                    is_larger_better.unwrap_or(true),
                    &text(metric, "worse_word").unwrap_or_else(|| "slower".to_owned()),
                ),
                value: value.as_f64().unwrap_or(0.0),
                all: of_metric
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_f64)
                    .collect(),
                loop_count: number("loop_count"),
                duration: number("duration"),
                is_warmup: self.is_warmup,
            })
        });
        each.collect()
    }
}

/// Returns a value without the tag.
fn plain(value: &Value) -> &Value {
    match value {
        Value::Tagged(tagged) => plain(&tagged.value),
        value => value,
    }
}

fn mapping(value: Option<&Value>) -> Option<&Mapping> {
    plain(value?).as_mapping()
}

fn text(value: &Value, key: &str) -> Option<String> {
    match plain(value) {
        Value::String(name) => Some(name.clone()),
        value => value.get(key)?.as_str().map(str::to_owned),
    }
}

/// Writes a record file readable by Hakaru and benchmark_driver.
pub fn write(all: &[Recorded]) -> String {
    let mut out = "---\ntype: recorded\njob_warmup_context_result:\n".to_owned();
    let mut jobs: Vec<&str> = all.iter().map(|one| one.job.as_str()).collect();
    jobs.dedup();
    for job in jobs {
        let _ = writeln!(
            out,
            "  ? !ruby/struct:BenchmarkDriver::DefaultJob\n    name: {}\n  : false:",
            quoted(job)
        );
        for one in all.iter().filter(|one| one.job == job) {
            write_one(&mut out, one);
        }
    }
    out.push_str("metrics:\n");
    if let Some(one) = all.first() {
        out.push_str("- !ruby/struct:BenchmarkDriver::Metric\n");
        write_metric(&mut out, &one.metric, "  ");
    }
    out
}

fn write_one(out: &mut String, one: &Recorded) {
    let number = |value: Option<f64>| value.map_or("null".to_owned(), |value| format!("{value:?}"));
    let name = quoted(&one.contender);
    let _ = write!(
        out,
        "      ? !ruby/struct:BenchmarkDriver::Context\n        name: {name}\n        executable: !ruby/struct:BenchmarkDriver::Config::Executable\n          name: {name}\n          command: []\n        gems: {{}}\n        prelude: ''\n      : !ruby/struct:BenchmarkDriver::Result\n        values:\n          ? !ruby/struct:BenchmarkDriver::Metric\n"
    );
    write_metric(out, &one.metric, "            ");
    let _ = writeln!(out, "          : {:?}", one.value);
    if !one.all.is_empty() {
        out.push_str("        all_values:\n          ? !ruby/struct:BenchmarkDriver::Metric\n");
        write_metric(out, &one.metric, "            ");
        let all: Vec<String> = one.all.iter().map(|value| format!("{value:?}")).collect();
        let _ = writeln!(out, "          : [{}]", all.join(", "));
    }
    let _ = writeln!(
        out,
        "        duration: {}\n        loop_count: {}\n        environment: {{}}",
        number(one.duration),
        number(one.loop_count)
    );
}

fn write_metric(out: &mut String, metric: &Metric, indent: &str) {
    let _ = writeln!(
        out,
        "{indent}name: {}\n{indent}unit: {}\n{indent}larger_better: {}\n{indent}worse_word: {}",
        quoted(&metric.name),
        quoted(&metric.unit),
        metric.is_larger_better,
        quoted(&metric.worse)
    );
}

/// A JSON string is a YAML string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::model::Runner;

    fn recorded(job: &str, contender: &str, value: f64) -> Recorded {
        Recorded {
            job: job.to_owned(),
            contender: contender.to_owned(),
            metric: Runner::Ips.metric(),
            value,
            all: vec![value, value / 2.0],
            loop_count: Some(200.0),
            duration: Some(0.25),
            is_warmup: false,
        }
    }

    /// A record with anchors, as Ruby's YAML library writes for objects occurring twice.
    const ANCHORED: &str = "---\ntype: recorded\njob_warmup_context_result:\n  ? !ruby/struct:BenchmarkDriver::DefaultJob\n    name: join\n    script: x\n  : true:\n      ? &1 !ruby/struct:BenchmarkDriver::Context\n        name: one\n      : !ruby/struct:BenchmarkDriver::Result\n        values:\n          ? &2 !ruby/struct:BenchmarkDriver::Metric\n            name: Iteration per second\n            unit: i/s\n            larger_better: true\n            worse_word: slower\n          : 5.5\n        duration: 0.5\n        loop_count: 3\n    false:\n      *1 : !ruby/struct:BenchmarkDriver::Result\n        values:\n          *2 : 7\nmetrics:\n- *2\n";

    #[test]
    fn anchors_and_tags_are_followed() {
        let suite = crate::yaml::read(Path::new("r.yml"), ANCHORED).expect("a record");
        let values: Vec<(bool, f64, &str)> = suite
            .recorded
            .iter()
            .map(|one| (one.is_warmup, one.value, one.contender.as_str()))
            .collect();
        assert_eq!(values, [(true, 5.5, "one"), (false, 7.0, "one")]);
        assert_eq!(suite.recorded[1].metric, Runner::Ips.metric());
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for bad in [
            "type: recorded\n",
            "type: recorded\njob_warmup_context_result: 3\n",
        ] {
            assert!(crate::yaml::read(Path::new("r.yml"), bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(names in prop::collection::btree_set("[ -~]{1,12}", 1..4), value in 0.001f64..1e9) {
            let all: Vec<Recorded> = names.iter()
                .flat_map(|job| [recorded(job, "one", value), recorded(job, "t: wo", value)])
                .collect();
            let suite = crate::yaml::read(Path::new("r.yml"), &write(&all)).expect("a record");
            prop_assert_eq!(suite.recorded, all);
        }
    }
}
