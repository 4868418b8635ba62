//! `hakaru run`, then `hakaru try` on the unsolved chat with all data: the index on `message` asked
//! for by a finding is proved, and the chat's database is as before.
//!
//! What tests show with little data and no verdict (`crates/hakaru/tests/trials.rs`) is brought to
//! a verdict here. Both are steps that are kept ([`Steps`]).

use std::error::Error;

use schema_db::scratch;
use serde_json::{Value, json};

use crate::options::{list, value};
use crate::program::Project;
use crate::steps::Steps;

/// What the finding's remedy creates.
const INDEX: &str = "message_channel_id_id";
const TABLES: [&str; 6] = ["users", "image", "channel", "message", "haveread", "seeded"];
/// Seconds to fill the database with all data, to run, and to end.
const RUN: f64 = 90.0;

/// Runs the benchmark; returns whether the index proved faster everywhere and nothing else was
/// changed.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let mut steps = Steps::open("try", arguments)?;
    let databases: Vec<String> = list(arguments, "on", "sqlite,mariadb")?;
    let budget_s: u32 = value(arguments, "budget", 300)?;
    let mut held = true;
    for database in &databases {
        let project = Project::new(&format!("chat-{database}"), steps.folder())?;
        let run = steps.take(&format!("{database} run"), RUN, || found(&project))?;
        let key = format!("{database} tried within {budget_s} s");
        let tried = steps.take(&key, f64::from(budget_s), || {
            tried(&project, &run, budget_s)
        })?;
        held &= say(database, &tried);
    }
    Ok(held)
}

/// Returns the number of a run and of the index finding.
fn found(project: &Project) -> Result<Value, Box<dyn Error>> {
    let run = project.hakaru("run", &["--duration", "20s"])?;
    let findings = run["findings"].as_array().ok_or("a run without findings")?;
    let wanted = findings.iter().find(|finding| {
        let exact = finding["remedy"]["exact"].as_str().unwrap_or_default();
        exact.contains(INDEX)
    });
    let wanted = wanted.ok_or_else(|| format!("no finding asks for {INDEX}: {findings:?}"))?;
    Ok(json!({"run": run["number"], "finding": wanted["number"]}))
}

fn tried(project: &Project, run: &Value, budget_s: u32) -> Result<Value, Box<dyn Error>> {
    let before = state(&project.database())?;
    let finding = run["finding"].to_string();
    let run = run["run"].to_string();
    let budget = format!("{budget_s}s");
    let flags = [finding.as_str(), "--run", &run, "--budget", &budget];
    let tried = project.hakaru("try", &flags)?;
    let rows: Vec<Value> = (tried["rows"].as_array().into_iter().flatten())
        .map(|row| json!({"metric": row["metric"], "ratio": row["ratio"], "low": row["low"], "high": row["high"]}))
        .collect();
    Ok(json!({
        "decision": tried["decision"],
        "verdict": tried["verdict"],
        "measuring_s": tried["measuring_s"],
        "rows": rows,
        "left_as_it_was": state(&project.database())? == before,
    }))
}

/// Returns the schema as exported from the server, and the number of rows of each table.
fn state(address: &str) -> Result<(String, Vec<String>), Box<dyn Error>> {
    let mut database = scratch::open(address).map_err(|error| error.message)?;
    let schema = database.export().map_err(|error| error.message)?;
    let mut rows = Vec::new();
    for table in TABLES {
        let counted = database.query(&format!("SELECT count(*) FROM {table}"));
        rows.push(format!(
            "{table} {:?}",
            counted.map_err(|error| error.message)?
        ));
    }
    Ok((schema, rows))
}

fn say(database: &str, tried: &Value) -> bool {
    let is_unchanged = tried["left_as_it_was"] == true;
    println!(
        "{database}: {} ({:.0} s; the database is {})",
        tried["verdict"].as_str().unwrap_or("no verdict"),
        tried["measuring_s"].as_f64().unwrap_or(f64::NAN),
        if is_unchanged { "as it was" } else { "CHANGED" }
    );
    for row in tried["rows"].as_array().into_iter().flatten() {
        // Too few blocks give no interval.
        let [ratio, low, high] = ["ratio", "low", "high"].map(|key| {
            let value = row[key].as_f64();
            value.map_or("?".to_owned(), |value| format!("{value:.2}"))
        });
        let metric = row["metric"].as_str().unwrap_or_default();
        println!("  {metric:<5} {ratio}x ({low}–{high})");
    }
    is_unchanged && tried["decision"] == "faster"
}
