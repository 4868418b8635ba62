//! The chat's solutions, one after the other: the gain of each, beside the scatter of repeated
//! measurements, and whether the finding solved is there before and gone after.
//!
//! Scores and findings are kept by step in a file for each database, so that a part can be measured
//! again; the page is written from all that is kept.

mod page;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::copy::Copy;
use crate::machine;
use crate::options::{list, value};
use crate::program::{apply, done, mariadb_url, patches};

/// Where page and scores are kept.
const FOLDER: &str = "benchmarks/solutions";
/// Stored steps of one database by number; 0 is the unchanged app.
type Steps = BTreeMap<usize, Step>;

struct Step {
    name: String,
    scores: Vec<f64>,
    /// Number of runs with each solved finding, by name.
    found: BTreeMap<String, usize>,
}

/// A finding solved by a patch.
struct Answered {
    patch: String,
    id: String,
    /// What the finding's text holds.
    about: String,
}

struct Options {
    runs: usize,
    seconds: f64,
    warmup: f64,
}

/// Measures the given steps; returns whether no step lowered the score beyond the spread, and all
/// together gave the growth asked.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let databases: Vec<String> = list(arguments, "databases", "sqlite,mariadb")?;
    let into = PathBuf::from(value(arguments, "into", default_folder())?);
    let (first, last) = (
        value(arguments, "from", 0)?,
        value(arguments, "to", usize::MAX)?,
    );
    let options = Options {
        runs: value(arguments, "runs", 3)?,
        seconds: value(arguments, "seconds", 6.0)?,
        warmup: value(arguments, "warmup", 2.0)?,
    };
    std::fs::create_dir_all(&into)?;
    // With no name the page alone is written anew.
    for database in databases.iter().filter(|name| !name.is_empty()) {
        let path = into.join(format!("{database}.json"));
        let mut steps = read(&path)?;
        for (number, step) in measure(database, first..=last, &options)? {
            steps.insert(number, step);
        }
        std::fs::write(&path, format!("{:#}\n", document(&steps)))?;
    }
    page::write(&into)
}

fn default_folder() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(FOLDER).display().to_string()
}

fn measure(
    database: &str,
    wanted: std::ops::RangeInclusive<usize>,
    options: &Options,
) -> Result<Steps, Box<dyn Error>> {
    let mut chat = Copy::of("chat")?;
    match database {
        "sqlite" => {}
        "mariadb" => chat.set("DATABASE_URL", mariadb_url()?),
        other => return Err(format!("the chat is not measured on {other:?}").into()),
    }
    chat.move_port(&["hakaru.toml"])?;
    let patches = patches(&chat.folder)?;
    let answered = answered(database)?;
    let mut steps = Steps::new();
    let mut filled = false;
    for number in 0..=patches.len().min(*wanted.end()) {
        let patch = number.checked_sub(1).map(|index| &patches[index]);
        if let Some(patch) = patch {
            apply(&chat.folder, patch)?;
            // Other tables are other data.
            filled &= !std::fs::read_to_string(patch)?.contains("a/schema/");
        }
        if !wanted.contains(&number) {
            continue;
        }
        if !filled {
            done(chat.command("ruby").arg("seed.rb"))?;
            filled = true;
        }
        let name = patch.map_or_else(|| "as it is".to_owned(), |patch| name(patch));
        let mut step = Step::named(name);
        for _ in 0..options.runs {
            step.add(&run_once(&chat, options)?, &answered)?;
        }
        println!(
            "{database} {}: {:?}, {:?}",
            step.name, step.scores, step.found
        );
        steps.insert(number, step);
    }
    Ok(steps)
}

fn name(patch: &Path) -> String {
    let name = patch.file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Returns the findings solved by the chat's solutions on a database.
fn answered(database: &str) -> Result<Vec<Answered>, Box<dyn Error>> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/chat/solutions/findings.json");
    let rows: Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
    let text = |row: &Value, key: &str| {
        let found = row[key].as_str().map(str::to_owned);
        found.ok_or_else(|| format!("{}: {row} has no {key}", path.display()))
    };
    let mut answered = Vec::new();
    for row in rows.as_array().into_iter().flatten() {
        let on = row["databases"].as_array();
        if on.is_none_or(|on| on.iter().any(|name| name == database)) {
            answered.push(Answered {
                patch: text(row, "patch")?,
                id: text(row, "finding")?,
                about: text(row, "about")?,
            });
        }
    }
    Ok(answered)
}

fn run_once(chat: &Copy, options: &Options) -> Result<Value, Box<dyn Error>> {
    let words = [
        "run".to_owned(),
        "--duration".to_owned(),
        format!("{}s", options.seconds),
        "--warmup".to_owned(),
        format!("{}s", options.warmup),
    ];
    chat.hakaru(&words, &[])
}

fn read(path: &Path) -> Result<Steps, Box<dyn Error>> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Ok(Steps::new());
    };
    let kept: Value = serde_json::from_str(&text)?;
    let steps = kept["steps"].as_array().into_iter().flatten();
    let step = |step: &Value| {
        let scores = step["scores"].as_array()?;
        let kept = Step {
            name: step["name"].as_str()?.to_owned(),
            scores: scores.iter().filter_map(Value::as_f64).collect(),
            found: serde_json::from_value(step["found"].clone()).unwrap_or_default(),
        };
        Some((usize::try_from(step["step"].as_u64()?).ok()?, kept))
    };
    Ok(steps.filter_map(step).collect())
}

fn document(steps: &Steps) -> Value {
    let steps: Vec<Value> = steps
        .iter()
        .map(|(number, step)| {
            json!({ "step": number, "name": step.name, "scores": step.scores, "found": step.found })
        })
        .collect();
    json!({
        "date": machine::date(),
        "machine": machine::line(&[&["ruby", "-v"], &["puma", "--version"], &["mariadbd", "--version"]]),
        "steps": steps,
    })
}

impl Answered {
    fn name(&self) -> String {
        format!("{} {}", self.id, self.about).trim_end().to_owned()
    }

    fn is_in(&self, run: &Value) -> bool {
        let findings = run["findings"].as_array().into_iter().flatten();
        let mut named = findings.filter(|finding| finding["id"] == self.id.as_str());
        named.any(|finding| finding.to_string().contains(&self.about))
    }
}

impl Step {
    fn named(name: String) -> Step {
        Step {
            name,
            scores: Vec::new(),
            found: BTreeMap::new(),
        }
    }

    /// Takes in a run's result.
    fn add(&mut self, run: &Value, answered: &[Answered]) -> Result<(), Box<dyn Error>> {
        let score = run["score"].as_f64();
        self.scores
            .push(score.ok_or_else(|| format!("no score: {}", run["failures"]))?);
        for finding in answered {
            let found = usize::from(finding.is_in(run));
            *self.found.entry(finding.name()).or_default() += found;
        }
        Ok(())
    }

    /// Whether most runs had the finding.
    fn mostly_has(&self, finding: &str) -> bool {
        self.seen(finding) * 2 > self.scores.len()
    }

    /// Returns the number of runs with a finding.
    fn seen(&self, finding: &str) -> usize {
        self.found.get(finding).copied().unwrap_or(0)
    }

    fn middle(&self) -> f64 {
        stats::median(&self.scores).unwrap_or(0.0)
    }

    /// Returns the spread of runs of the same app, as a share of the median.
    fn spread(&self) -> f64 {
        let least = self.scores.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.scores.iter().copied().fold(0.0, f64::max);
        (most - least) / self.middle().max(f64::MIN_POSITIVE)
    }

    /// Returns whether the score is not lower than in the step before, except for the spread.
    fn is_not_lower(&self, before: &Step) -> bool {
        let spread = self.spread().max(before.spread());
        self.middle() >= before.middle() * (1.0 - spread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(scores: &[f64], found: usize) -> Step {
        Step {
            name: "x".to_owned(),
            scores: scores.to_vec(),
            found: BTreeMap::from([("workers".to_owned(), found)]),
        }
    }

    fn answered() -> [Answered; 1] {
        [Answered {
            patch: "x".to_owned(),
            id: "workers".to_owned(),
            about: String::new(),
        }]
    }

    #[test]
    fn lower_is_judged_beside_the_spread() {
        let before = step(&[100.0, 104.0, 98.0], 0);
        assert!((before.spread() - 0.06).abs() < 1e-9);
        assert!(step(&[95.0, 95.0, 95.0], 0).is_not_lower(&before));
        assert!(!step(&[90.0, 90.0, 90.0], 0).is_not_lower(&before));
    }

    #[test]
    fn what_is_kept_is_read_again_and_judged() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sqlite.json");
        let steps = Steps::from([
            (0, step(&[10.0, 11.0, 10.0], 2)),
            (1, step(&[120.0, 118.0, 119.0], 0)),
        ]);
        std::fs::write(&path, document(&steps).to_string()).expect("it is written");
        let again = read(&path).expect("it is read");
        assert_eq!(again[&1].scores, steps[&1].scores);
        let (text, held) = page::table(&again, &answered());
        assert!(
            held && text.contains("| 119 | 1.7% | 11.9 | yes | workers: 2 → 0 |"),
            "{text}"
        );
    }

    #[test]
    fn little_growth_and_findings_that_stay_are_told() {
        let judged = |before: usize, score: f64, after: usize| {
            let steps = [step(&[10.0; 3], before), step(&[score; 3], after)];
            page::table(&steps.into_iter().enumerate().collect(), &answered())
        };
        assert!(judged(3, 100.0, 0).1);
        assert!(!judged(3, 50.0, 0).1);
        let (text, held) = judged(3, 100.0, 1);
        assert!(!held && text.contains("**workers: 3 → 1**"), "{text}");
        assert!(!judged(1, 100.0, 0).1, "it was not there before");
    }
}
