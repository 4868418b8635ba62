//! The chat's solutions, one after the other: what each gives, beside what the same app gives when measured again.
//!
//! Scores are kept by step in a file for each database, so that a part can be measured anew; the page is written from
//! all that is kept.

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
/// What all of them together must give.
const GROWTH_ASKED: f64 = 10.0;

/// Kept of one database: steps by their number, 0 is the app as it is.
type Steps = BTreeMap<usize, Step>;

struct Step {
    name: String,
    scores: Vec<f64>,
}

struct Options {
    runs: usize,
    seconds: f64,
    warmup: f64,
}

/// Measures the steps that are asked for; whether none made it worse beyond the spread, and all gave what is asked.
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
    page(&into)
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
        let scores = (0..options.runs).map(|_| score(&chat, options));
        let scores = scores.collect::<Result<Vec<f64>, _>>()?;
        println!("{database} {name}: {scores:?}");
        steps.insert(number, Step { name, scores });
    }
    Ok(steps)
}

fn name(patch: &Path) -> String {
    let name = patch.file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn score(chat: &Copy, options: &Options) -> Result<f64, Box<dyn Error>> {
    let words = [
        "run".to_owned(),
        "--duration".to_owned(),
        format!("{}s", options.seconds),
        "--warmup".to_owned(),
        format!("{}s", options.warmup),
    ];
    let run = chat.hakaru(&words, &[])?;
    run["score"]
        .as_f64()
        .ok_or_else(|| format!("no score: {}", run["failures"]).into())
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
        };
        Some((usize::try_from(step["step"].as_u64()?).ok()?, kept))
    };
    Ok(steps.filter_map(step).collect())
}

fn document(steps: &Steps) -> Value {
    let steps: Vec<Value> = steps
        .iter()
        .map(|(number, step)| json!({ "step": number, "name": step.name, "scores": step.scores }))
        .collect();
    json!({
        "date": machine::date(),
        "machine": machine::line(&[&["ruby", "-v"], &["puma", "--version"], &["mariadbd", "--version"]]),
        "steps": steps,
    })
}

impl Step {
    fn middle(&self) -> f64 {
        stats::median(&self.scores).unwrap_or(0.0)
    }

    /// How far runs of the same app are apart, as a share of their median.
    fn spread(&self) -> f64 {
        let least = self.scores.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.scores.iter().copied().fold(0.0, f64::max);
        (most - least) / self.middle().max(f64::MIN_POSITIVE)
    }

    /// Whether it is not lower than what was before it, but for the spread.
    fn is_not_lower(&self, before: &Step) -> bool {
        let spread = self.spread().max(before.spread());
        self.middle() >= before.middle() * (1.0 - spread)
    }
}

/// Writes the page from what is kept; whether everything asked holds.
fn page(into: &Path) -> Result<bool, Box<dyn Error>> {
    let mut text = HEAD.to_owned();
    let mut held = true;
    for (database, title) in [("sqlite", "SQLite"), ("mariadb", "MariaDB")] {
        let path = into.join(format!("{database}.json"));
        let steps = read(&path)?;
        if steps.is_empty() {
            text += &format!("\n## {title}\n\nNot measured yet.\n");
            continue;
        }
        let (table, all) = table(&steps);
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        let told = |key: &str| kept[key].as_str().unwrap_or_default();
        text += &format!(
            "\n## {title}\n\n{table}\n{}; {}.\n",
            told("date"),
            told("machine")
        );
        held &= all;
    }
    std::fs::write(into.join("README.md"), &text)?;
    println!("{text}");
    Ok(held)
}

const HEAD: &str = "# What the chat's solutions give

    cargo xtask bench solutions
    cargo xtask bench solutions --databases sqlite --from 4 --to 7      # some steps anew

The [chat](../../apps/chat/README.md) as it is and with one patch more at each step, on all of its data, each step measured
three times: the scores, their median, and how far they lie apart (the A/A spread: greatest less least, by the median). Asked: no
step lower than the one before beyond that spread, and ten times the first score at the end. This page is written by
that command from the scores beside it; it exits with 3 when what is asked does not hold.
";

fn table(steps: &Steps) -> (String, bool) {
    let mut text = "| step | scores | median | spread | times the first | not lower |\n|---|---|---:|---:|---:|---|\n".to_owned();
    let first = steps.values().next().map_or(0.0, Step::middle);
    let mut before: Option<&Step> = None;
    let mut all = true;
    for step in steps.values() {
        let not_lower = before.is_none_or(|before| step.is_not_lower(before));
        all &= not_lower;
        let scores: Vec<String> = step
            .scores
            .iter()
            .map(|score| format!("{score:.0}"))
            .collect();
        text += &format!(
            "| {} | {} | {:.0} | {:.1}% | {:.1} | {} |\n",
            step.name,
            scores.join(", "),
            step.middle(),
            step.spread() * 100.0,
            step.middle() / first,
            if not_lower { "yes" } else { "**no**" },
        );
        before = Some(step);
    }
    let growth = before.map_or(0.0, Step::middle) / first;
    text +=
        &format!("\nThe last is {growth:.1} times the first (asked: {GROWTH_ASKED:.0} times).\n");
    (text, all && growth >= GROWTH_ASKED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(scores: &[f64]) -> Step {
        Step {
            name: "x".to_owned(),
            scores: scores.to_vec(),
        }
    }

    #[test]
    fn lower_is_judged_beside_the_spread() {
        let before = step(&[100.0, 104.0, 98.0]);
        assert!((before.spread() - 0.06).abs() < 1e-9);
        assert!(step(&[95.0, 95.0, 95.0]).is_not_lower(&before));
        assert!(!step(&[90.0, 90.0, 90.0]).is_not_lower(&before));
    }

    #[test]
    fn what_is_kept_is_read_again_and_judged() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sqlite.json");
        let steps = Steps::from([
            (0, step(&[10.0, 11.0, 10.0])),
            (1, step(&[120.0, 118.0, 119.0])),
        ]);
        std::fs::write(&path, document(&steps).to_string()).expect("it is written");
        let again = read(&path).expect("it is read");
        assert_eq!(again[&1].scores, steps[&1].scores);
        let (text, held) = table(&again);
        assert!(
            held && text.contains("| 119 | 1.7% | 11.9 | yes |"),
            "{text}"
        );
        assert!(!table(&Steps::from([(0, step(&[10.0])), (1, step(&[50.0]))])).1);
    }
}
