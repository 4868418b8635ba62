//! benchmark_driver's YAML files as a [`Suite`].
//!
//! Keys, forms and defaults are those of benchmark_driver 0.17. An unknown key, or a value of the
//! wrong form, is an error that shows its line. Unlike there, a script may be a number, and `yes`
//! or `on` as a name stays a name (YAML 1.2).

mod place;
mod typed;

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_yaml_ng::Value;

use crate::model::{Context, Job, Metric, Printed, Runner, Script, Suite, Work};
use crate::record;
use crate::shell_words;
pub use place::FileError;
use typed::{CommandFile, ContextEntry, RubyFile, ScriptEntry, ScriptFile};

/// Names for `type` beside [`Runner`]'s.
const OTHER_TYPES: [&str; 3] = ["ruby_stdout", "command_stdout", "recorded"];

/// Reads a file's text; `path` is the name in errors, and the base folder of relative paths.
pub fn read(path: &Path, text: &str) -> Result<Suite, FileError> {
    let value: Value = serde_yaml_ng::from_str(text)
        .map_err(|error| FileError::of_yaml(path, text, &error, "docs/bench.md lists the keys"))?;
    let kind = match value.get("type") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name.clone()),
        Some(_) => {
            return Err(FileError::at_key(
                path,
                text,
                "type",
                "`type` is a name".to_owned(),
            ));
        }
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    match kind.as_deref() {
        Some("ruby_stdout") => Ok(ruby_stdout(typed(path, text)?, folder)),
        Some("command_stdout") => Ok(command_stdout(typed(path, text)?, folder)),
        Some("recorded") => record::read(&value)
            .map(|recorded| Suite {
                runner: None,
                jobs: Vec::new(),
                contexts: Vec::new(),
                recorded,
            })
            .map_err(|message| FileError::at_key(path, text, "type", message)),
        kind => {
            let runner = kind.map(|name| {
                Runner::of(name)
                    .ok_or_else(|| FileError::at_key(path, text, "type", unknown_type(name)))
            });
            scripts(typed(path, text)?, runner.transpose()?)
                .map_err(|(key, message)| FileError::at_key(path, text, key, message))
        }
    }
}

fn typed<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, FileError> {
    serde_yaml_ng::from_str(text)
        .map_err(|error| FileError::of_yaml(path, text, &error, "docs/bench.md lists the keys"))
}

fn unknown_type(name: &str) -> String {
    if name.contains('/') {
        return format!(
            "the runner `{name}` is Ruby code for benchmark_driver itself; leave `type` out to measure the scripts as they are"
        );
    }
    let known = Runner::ALL.map(Runner::name);
    let known = [&known[..], &OTHER_TYPES].concat().join(", ");
    format!("no runner is called `{name}`; there are {known}")
}

fn scripts(file: ScriptFile, runner: Option<Runner>) -> Result<Suite, (&'static str, String)> {
    let job = |entry: ScriptEntry| Job {
        name: entry.name.unwrap_or_else(|| entry.script.clone()),
        ruby_min: entry.ruby_min.or_else(|| file.ruby_min.clone()),
        work: Work::Script(Script {
            prelude: joined(&[&file.prelude, &entry.prelude]),
            body: entry.script,
            teardown: joined(&[&entry.teardown, &file.teardown]),
            loop_count: entry.loop_count.or(file.loop_count),
        }),
    };
    let jobs: Vec<Job> = file.benchmark.0.into_iter().map(job).collect();
    if jobs.is_empty() {
        return Err(("benchmark", "`benchmark` holds no script".to_owned()));
    }
    if jobs
        .iter()
        .any(|job| matches!(&job.work, Work::Script(script) if script.loop_count == Some(0)))
    {
        return Err(("loop_count", "`loop_count` is 1 or more".to_owned()));
    }
    Ok(Suite {
        runner,
        jobs,
        contexts: file.contexts.into_iter().map(context).collect(),
        recorded: Vec::new(),
    })
}

fn joined(parts: &[&Option<String>]) -> String {
    let mut text = String::new();
    for part in parts.iter().copied().flatten() {
        text.push_str(part);
        if !part.ends_with('\n') && !part.is_empty() {
            text.push('\n');
        }
    }
    text
}

fn context(entry: ContextEntry) -> Context {
    let mut prelude = String::new();
    let mut names = Vec::new();
    for (gem, version) in &entry.gems.0 {
        prelude.push_str(&format!("gem {}, {}\n", quoted(gem), quoted(version)));
        if entry.require {
            prelude.push_str(&format!("require {}\n", quoted(gem)));
        }
        names.push(format!("{gem} {version}"));
    }
    prelude.push_str(&joined(&[&entry.prelude]));
    Context {
        name: entry.name.unwrap_or_else(|| names.join(", ")),
        prelude,
    }
}

/// A text as a Ruby literal.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "\\'");
    format!("'{escaped}'")
}

fn ruby_stdout(file: RubyFile, folder: &Path) -> Suite {
    let (name, metric) = file.metrics.0;
    let environment = file.environment.0.into_iter();
    let printed = Printed {
        command: shell_words::split(&file.command),
        has_ruby: true,
        folder: folder.join(file.working_directory.unwrap_or_default()),
        metric: Metric::new(
            &name,
            metric.unit.as_deref().unwrap_or_default(),
            metric.larger_better,
            &metric.worse_word,
        ),
        figure: metric.from_stdout,
        environment: environment
            .map(|(key, value)| (key, value.from_stdout))
            .collect(),
    };
    one_job(file.name, printed)
}

fn command_stdout(file: CommandFile, folder: &Path) -> Suite {
    let kind = file.metrics_type;
    let printed = Printed {
        command: shell_words::split(&file.command),
        has_ruby: true,
        folder: folder.join(file.working_directory.unwrap_or_default()),
        metric: Metric::new(
            kind.name.as_deref().unwrap_or(&kind.unit),
            &kind.unit,
            kind.larger_better,
            &kind.worse_word,
        ),
        figure: file.stdout_to_metrics,
        environment: Vec::new(),
    };
    one_job(file.name, printed)
}

fn one_job(name: String, printed: Printed) -> Suite {
    Suite {
        runner: None,
        jobs: vec![Job {
            name,
            work: Work::Printed(printed),
            ruby_min: None,
        }],
        contexts: Vec::new(),
        recorded: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
