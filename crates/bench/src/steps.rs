//! Long benchmarks in pieces: results of a step are stored, and the same command continues after
//! the last step.
//!
//! Each line of the file is one step: its key, which holds all that the step depends on, and its
//! value. `--for SECONDS` ends a call before a step that would take longer than what is left of it;
//! `--fresh yes` forgets everything.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::options::value;

/// The steps of one benchmark.
pub(crate) struct Steps {
    folder: PathBuf,
    kept: HashMap<String, Value>,
    deadline: Option<Instant>,
}

impl Steps {
    /// Opens the stored steps of the benchmark `name`, in the folder set by `cargo xtask bench`.
    pub(crate) fn open(name: &str, arguments: &[String]) -> Result<Steps, Box<dyn Error>> {
        let kept = std::env::var_os("HAKARU_BENCH_KEPT")
            .ok_or("HAKARU_BENCH_KEPT is not set; run it as `cargo xtask bench`")?;
        let limit: f64 = value(arguments, "for", 0.0)?;
        let fresh: String = value(arguments, "fresh", "no".to_owned())?;
        Steps::in_folder(Path::new(&kept).join(name), limit, fresh == "yes")
    }

    fn in_folder(folder: PathBuf, limit: f64, fresh: bool) -> Result<Steps, Box<dyn Error>> {
        if fresh && folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
        Ok(Steps {
            folder,
            // The last line may have been cut off with the process that wrote it; its step is
            // measured again.
            kept: text.lines().filter_map(step).collect(),
            deadline: (limit > 0.0).then(|| Instant::now() + Duration::from_secs_f64(limit)),
        })
    }

    /// Where steps may keep files for each other.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the step's value: the stored one, or the result of `measure`, which takes about the
    /// given seconds.
    ///
    /// # Errors
    /// Those of `measure`, and a sentence when there is no time left for it.
    pub(crate) fn take(
        &mut self,
        key: &str,
        seconds: f64,
        measure: impl FnOnce() -> Result<Value, Box<dyn Error>>,
    ) -> Result<Value, Box<dyn Error>> {
        if let Some(value) = self.kept.get(key) {
            return Ok(value.clone());
        }
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        if self.deadline.is_some_and(|deadline| end > deadline) {
            let count = self.kept.len();
            return Err(format!(
                "the time of --for is used up before `{key}`; {count} steps are kept in {}, the same command goes on",
                self.folder.display()
            )
            .into());
        }
        let value = measure()?;
        let line = json!({"step": key, "value": value});
        let mut options = fs::OpenOptions::new();
        let mut file = (options.create(true).append(true)).open(self.folder.join(FILE))?;
        // One write, begun on a line of its own, so that a cut-off line spoils no other.
        file.write_all(format!("\n{line}").as_bytes())?;
        self.kept.insert(key.to_owned(), value.clone());
        Ok(value)
    }
}

const FILE: &str = "steps.jsonl";

fn step(line: &str) -> Option<(String, Value)> {
    let mut line: Value = serde_json::from_str(line).ok()?;
    let key = line["step"].as_str()?.to_owned();
    Some((key, line["value"].take()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(steps: &mut Steps, key: &str, measured: i32) -> Value {
        let value = steps.take(key, 1.0, || Ok(json!(measured)));
        value.expect("a step")
    }

    #[test]
    fn a_step_is_measured_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = |fresh| Steps::in_folder(folder.path().join("x"), 0.0, fresh).expect("steps");
        let mut steps = open(false);
        assert_eq!(one(&mut steps, "a", 1), 1);
        assert_eq!(one(&mut steps, "a", 2), 1);
        let mut later = open(false);
        assert_eq!(one(&mut later, "a", 3), 1);
        assert_eq!(one(&mut later, "b", 4), 4);
        assert_eq!(one(&mut open(true), "a", 5), 5);
    }

    #[test]
    fn a_line_that_was_cut_off_is_measured_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_owned();
        let open = || Steps::in_folder(path.clone(), 0.0, false).expect("steps");
        one(&mut open(), "a", 1);
        let file = path.join(FILE);
        let text = fs::read_to_string(&file).expect("a file");
        fs::write(&file, &text[..text.len() - 2]).expect("it is written");
        one(&mut open(), "a", 2);
        assert_eq!(one(&mut open(), "a", 3), 2);
    }

    #[test]
    fn no_step_is_begun_that_cannot_end_in_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut steps = Steps::in_folder(folder.path().to_owned(), 5.0, false).expect("steps");
        let error = steps
            .take("long", 60.0, || Ok(json!(1)))
            .expect_err("no time");
        assert!(error.to_string().contains("goes on"), "{error}");
        assert_eq!(one(&mut steps, "short", 1), 1);
    }
}
