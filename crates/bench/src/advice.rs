//! The advice against the truth: apps with planted causes and fixes, the claims on the page of a
//! run, and interleaved comparisons of the fixes.
//!
//! Two kinds of steps, each kept ([`Steps`]): the *claims* of one program (`--as NAME` keeps
//! programs apart, `--hakaru PATH` names another than the one built now), and the *truth*, one
//! comparison a patch, which no rule changes. The page is written from all that is kept. `--what
//! claims`, `--what truth` and `--app NAME` do a part of it. The recordings behind claims are kept
//! beside the steps: `--what again` derives the claims from them once more, without any load, to
//! compare rules on the same recordings.

mod cause;
mod judge;
mod page;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::copy::Copy;
use crate::options::value;
use crate::program::done;
use crate::steps::Steps;
use cause::App;

/// Where the apps are, below the repository's `apps`.
const APPS: &str = "causes";
/// Blocks of a comparison: with fewer than 6 nothing may be claimed.
const BLOCKS: u32 = 8;
/// Length of one measurement in seconds.
const SEGMENT_S: f64 = 1.5;
/// Recordings by app, below the folder of the steps, and the file in an app's folder.
const RUNS: &str = "runs";
const RECORDING: &str = ".hakaru/hakaru.db";
/// What a comparison takes at most; Rails boots for two seconds, four times a block.
const TRUTH_S: f64 = 320.0;
/// Duration of a run with a boot, in seconds.
const CLAIMS_S: f64 = 45.0;

/// Measures what is asked for, writes the page; whether all bounds of the first program's claims
/// hold.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let what: String = value(arguments, "what", "all".to_owned())?;
    let only: String = value(arguments, "app", String::new())?;
    let label: String = value(arguments, "as", "now".to_owned())?;
    let seconds: f64 = value(arguments, "seconds", 20.0)?;
    let into = PathBuf::from(value(arguments, "into", default_folder())?);
    let program: String = value(arguments, "hakaru", String::new())?;
    let apps = cause::all(&apps_folder())?;
    let chosen = apps
        .iter()
        .filter(|app| only.is_empty() || app.name == only);
    let mut steps = Steps::open("advice", arguments)?;
    let mut kept = page::Kept::read(&into)?;
    for app in chosen {
        if what != "truth" {
            let key = format!("claims {label} {} {seconds}", app.name);
            let run = steps.folder().join(RUNS).join(&app.name);
            let claims = match what.as_str() {
                "again" => claims_again(app, &program, &run)?,
                _ => steps.take(&key, CLAIMS_S, || claims(app, &program, seconds, &run))?,
            };
            println!("{}: {}", app.name, page::brief(&claims));
            kept.claims(&label, &app.name, claims);
        }
        let causes = app.causes.iter();
        let causes = causes.filter(|_| !matches!(what.as_str(), "claims" | "again"));
        for cause in causes {
            let key = format!("truth {} {}", app.name, cause.patch);
            let truth = steps.take(&key, TRUTH_S, || truth(app, &cause.patch))?;
            println!("{} with {}: {truth}", app.name, cause.patch);
            kept.truth(&app.name, &cause.patch, truth);
        }
        kept.write(&into)?;
    }
    page::write(&into, &apps, &kept)
}

fn apps_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../apps")
        .join(APPS)
}

fn default_folder() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("benchmarks/advice").display().to_string()
}

/// Returns a copy of the app with a separate port and repository, so patches apply.
fn copy_of(app: &App) -> Result<Copy, Box<dyn Error>> {
    let copy = Copy::of(&format!("{APPS}/{}", app.name))?;
    copy.move_port(&["hakaru.toml"])?;
    done(copy.command("git").args(["init", "--quiet", "."]))?;
    Ok(copy)
}

/// What a run says, shortened to what is judged; stores the run's recording in the folder `kept`.
fn claims(app: &App, program: &str, seconds: f64, kept: &Path) -> Result<Value, Box<dyn Error>> {
    let mut copy = copy_of(app)?;
    if !program.is_empty() {
        copy.use_program(program);
    }
    if let Some(url) = database(app, "run")? {
        copy.set("DATABASE_URL", url);
    }
    let words = [
        "run".to_owned(),
        "--duration".to_owned(),
        format!("{seconds}s"),
    ];
    let run = copy.hakaru(&words, &[])?;
    let failed = run["errors"].as_u64().unwrap_or(0) + run["checks_failed"].as_u64().unwrap_or(0);
    if failed > 0 {
        return Err(format!(
            "{}: {failed} requests failed: {}",
            app.name, run["failures"]
        )
        .into());
    }
    fs::create_dir_all(kept)?;
    fs::copy(copy.folder.join(RECORDING), kept.join("hakaru.db"))?;
    Ok(judged(&run))
}

/// Returns the claims derived by the program from a stored recording.
fn claims_again(app: &App, program: &str, kept: &Path) -> Result<Value, Box<dyn Error>> {
    let mut copy = copy_of(app)?;
    if !program.is_empty() {
        copy.use_program(program);
    }
    let recording = copy.folder.join(RECORDING);
    fs::create_dir_all(recording.parent().unwrap_or(&copy.folder))?;
    fs::copy(kept.join("hakaru.db"), &recording).map_err(|error| {
        format!(
            "{}: no recording in {} ({error}); run it with --what claims --fresh yes first",
            app.name,
            kept.display()
        )
    })?;
    Ok(judged(
        &copy.hakaru(&["report".to_owned(), "LAST".to_owned()], &[])?,
    ))
}

/// Returns the judged parts of a run's page.
fn judged(run: &Value) -> Value {
    let findings = run["findings"].as_array().into_iter().flatten();
    let fixes = findings.filter(|finding| finding["number"].is_i64());
    json!({
        "rps": run["rps"],
        "p95_ms": run["latency_ms"]["p95"],
        "findings": fixes.cloned().collect::<Vec<Value>>(),
    })
}

/// Returns the row of the app's metric from a comparison of the app with and without a patch.
fn truth(app: &App, patch: &str) -> Result<Value, Box<dyn Error>> {
    let copy = copy_of(app)?;
    // Said early and in git's words.
    let patch_path = copy.folder.join(patch);
    done(
        copy.command("git")
            .args(["apply", "--check"])
            .arg(&patch_path),
    )?;
    let mut words = vec![
        "compare".to_owned(),
        "--patch-b".to_owned(),
        patch.to_owned(),
    ];
    words.extend(["--blocks".to_owned(), BLOCKS.to_string()]);
    words.extend(["--segment".to_owned(), format!("{SEGMENT_S}s")]);
    words.extend(["--budget".to_owned(), format!("{TRUTH_S}s")]);
    for side in ["a", "b"] {
        // Each side has a database of its own: a patch may bring an index.
        if let Some(url) = database(app, &format!("{side}_{}", patch.trim_end_matches(".patch")))? {
            words.extend([format!("--env-{side}"), format!("DATABASE_URL={url}")]);
        }
    }
    let compared = copy.hakaru(&words, &[])?;
    judge::rows(&compared)
        .ok_or_else(|| format!("{} with {patch}: {}", app.name, compared["verdict"]).into())
}

/// Creates an empty database on the app's server; `None` for an app with a database file.
fn database(app: &App, side: &str) -> Result<Option<String>, Box<dyn Error>> {
    let variable = match app.database.as_str() {
        "mariadb" => "HAKARU_BENCH_MARIADB_URL",
        "postgres" => "HAKARU_BENCH_POSTGRES_URL",
        _ => return Ok(None),
    };
    let server = std::env::var(variable)
        .map_err(|_| format!("{variable} is not set; run it as `cargo xtask bench`"))?;
    let name = format!("{}_{}", app.name, side).replace('-', "_");
    let script = "db = Sequel.connect(ARGV[0]); db.run(\"DROP DATABASE IF EXISTS #{ARGV[1]}\"); db.run(\"CREATE DATABASE #{ARGV[1]}\")";
    done(Command::new("ruby").args(["-rsequel", "-e", script, &server, &name]))?;
    let base = server
        .rsplit_once('/')
        .map_or(server.as_str(), |(base, _)| base);
    Ok(Some(format!("{base}/{name}")))
}

/// Whether all patches of an app apply; for the tests.
#[cfg(test)]
fn patches_apply(app: &App) -> Result<(), Box<dyn Error>> {
    for cause in &app.causes {
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join("app");
        done(Command::new("cp").arg("-r").arg(&app.folder).arg(&copy))?;
        done(
            Command::new("git")
                .args(["init", "--quiet", "."])
                .current_dir(&copy),
        )?;
        crate::program::apply(&copy, &app.folder.join(&cause.patch))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_are_alike_and_hold_all_kinds_of_apps() {
        let apps = cause::all(&apps_folder()).expect("apps");
        let count = |is: fn(&App) -> bool| apps.iter().filter(|app| is(app)).count();
        assert!(count(|app| app.half == "first") >= 18);
        assert!(count(|app| app.half == "second") >= 18);
        assert!(count(|app| app.is_healthy) >= 4);
        assert!(count(|app| app.causes.len() > 1) >= 6);
        for database in ["sqlite", "postgres", "mariadb"] {
            assert!(apps.iter().any(|app| app.database == database));
        }
    }

    #[test]
    fn every_app_is_whole_and_its_patches_apply() {
        let apps = cause::all(&apps_folder()).expect("apps");
        assert!(apps.len() >= 38, "{}", apps.len());
        for app in &apps {
            patches_apply(app).unwrap_or_else(|why| panic!("{}: {why}", app.name));
            assert_eq!(app.causes.is_empty(), app.is_healthy, "{}", app.name);
            for file in ["config.ru", "hakaru.toml", "flows/first.hurl"] {
                assert!(
                    app.folder.join(file).is_file(),
                    "{} has no {file}",
                    app.name
                );
            }
        }
    }
}
