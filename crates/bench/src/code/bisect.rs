//! Checks whether `hakaru bench --git` finds the slow commit of a generated repository.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use serde_json::{Value, json};

use super::Part;
use crate::options::value;
use crate::program::hakaru;
use crate::steps::Steps;

/// Turns of the loop before the planted commit.
const TURNS: f64 = 5_000.0;
/// Time limit of a search, seconds.
const LIMIT_S: u32 = 600;
/// Usual duration of a search by simulation, with both ends measured once, seconds.
const USUAL_S: f64 = 300.0;
/// Start of the output line naming a commit.
const FOUND: &str = "the first commit that differs: ";

/// What is asked for on the command line.
struct Asked {
    commits: usize,
    percent: f64,
    /// Budget of one step of the search, as typed; empty for the default.
    budget: String,
}

/// Searches `--bisects 5` repositories of `--bisect-commits 64`, each with `--bisect-percent 3`
/// planted in one commit, with `--bisect-budget` a step; passes when each commit is found within
/// ten minutes.
pub(super) fn run(steps: &mut Steps, arguments: &[String]) -> Result<Part, Box<dyn Error>> {
    let count: u64 = value(arguments, "bisects", 5)?;
    let asked = Asked {
        commits: value(arguments, "bisect-commits", 64)?,
        percent: value(arguments, "bisect-percent", 3.0)?,
        budget: value(arguments, "bisect-budget", String::new())?,
    };
    if asked.commits < 2 {
        return Err("--bisect-commits is 2 at least: a line of commits has two ends".into());
    }
    let mut table = format!(
        "{} commits, {} % planted\n\nseed  planted  found  right  seconds\n",
        asked.commits, asked.percent
    );
    let mut right = 0;
    for seed in 1..=count {
        let key = format!(
            "bisect {seed} of {} commits, {} %, budget {:?}",
            asked.commits, asked.percent, asked.budget
        );
        let folder = steps.folder().to_owned();
        let seen = steps.take(&key, USUAL_S, || one(&folder, seed, &asked))?;
        right += u64::from(seen["right"] == true);
        let line = line(seed, &seen);
        println!("{key}: {}", seen["said"].as_str().unwrap_or_default());
        table += &line;
    }
    let _ = writeln!(
        table,
        "\nfound in {right} of {count} within {LIMIT_S} s (asked: all)"
    );
    Ok(Part {
        is_held: right == count,
        table,
    })
}

fn line(seed: u64, seen: &Value) -> String {
    let found = seen["found"]
        .as_u64()
        .map_or("none".to_owned(), |number| number.to_string());
    let right = match seen["right"] == true {
        true => "yes",
        false => "no",
    };
    format!(
        "{seed:>4}  {:>7}  {found:>5}  {right:>5}  {:>7.0}\n",
        seen["planted"].as_u64().unwrap_or(0),
        seen["seconds"].as_f64().unwrap_or(f64::NAN)
    )
}

/// Makes a repository and searches there.
fn one(folder: &Path, seed: u64, asked: &Asked) -> Result<Value, Box<dyn Error>> {
    let repository = folder.join("repository");
    if repository.exists() {
        fs::remove_dir_all(&repository)?;
    }
    let planted = planted(seed, asked.commits);
    make(&repository, asked, planted)?;
    let begin = Instant::now();
    let output = search(&repository, seed, asked)?;
    let seconds = begin.elapsed().as_secs_f64();
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let found = found(&printed);
    fs::remove_dir_all(&repository)?;
    if found.is_none() && printed.is_empty() && seconds < f64::from(LIMIT_S) {
        let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("hakaru bench --git found nothing and said nothing: {error}").into());
    }
    let is_right = found == Some(planted) && seconds <= f64::from(LIMIT_S);
    Ok(json!({
        "planted": planted, "found": found, "right": is_right, "seconds": seconds, "said": printed,
    }))
}

/// Returns the number of the named commit: the subject is `change NUMBER`.
fn found(printed: &str) -> Option<usize> {
    let line = printed.lines().find_map(|line| line.strip_prefix(FOUND))?;
    let (_, rest) = line.split_once("change ")?;
    rest.split(' ').next()?.parse().ok()
}

/// A place behind the first commit, by the seed (splitmix64).
fn planted(seed: u64, commits: usize) -> usize {
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    1 + ((mixed ^ (mixed >> 31)) % (commits as u64 - 1)) as usize
}

fn make(repository: &Path, asked: &Asked, planted: usize) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(repository)?;
    let git = |arguments: &[&str]| git(repository, arguments);
    git(&["init", "--quiet"])?;
    for commit in 0..asked.commits {
        let more = match commit < planted {
            true => 1.0,
            false => 1.0 + asked.percent / 100.0,
        };
        for (name, text) in files(commit, (TURNS * more).round() as u32) {
            fs::write(repository.join(name), text)?;
        }
        git(&["add", "."])?;
        let subject = format!("change {commit}");
        git(&["commit", "--quiet", "--message", &subject])?;
    }
    Ok(())
}

/// What a commit holds: beside the turns of the loop something harmless changes, in the same file
/// or in another.
fn files(commit: usize, turns: u32) -> [(&'static str, String); 3] {
    let at = |which| commit / 3 + usize::from(commit % 3 > which);
    let unused: String = (0..at(0))
        .map(|number| format!("  def self.unused_{number} = {number}\n"))
        .collect();
    let work = format!(
        "# The work, revision {}.\nmodule Work\n{unused}  def self.run\n    i = 0\n    i += 1 while i < {turns}\n    i\n  end\nend\n",
        at(1)
    );
    [
        ("work.rb", work),
        ("README", format!("A made repository, note {commit}.\n")),
        ("settings.rb", format!("SETTING = {}\n", at(2))),
    ]
}

fn git(folder: &Path, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let settings = [
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@example.com",
        "-c",
        "commit.gpgsign=false",
    ];
    let output = Command::new("git")
        .args(settings)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("git {}: {error}", arguments.join(" ")).into());
    }
    Ok(())
}

/// Runs a search; when the time is up, ends the search like Ctrl-C, so the worktrees are removed.
fn search(repository: &Path, seed: u64, asked: &Asked) -> Result<Output, Box<dyn Error>> {
    let mut command = Command::new("timeout");
    command
        .args(["--signal=INT", &LIMIT_S.to_string()])
        .arg(hakaru()?)
        .args([
            "bench",
            "--prelude",
            "require './work'",
            "--script",
            "Work.run",
        ])
        .args(["--seed", &seed.to_string()])
        .args(["--git", &format!("HEAD~{}..HEAD", asked.commits - 1)]);
    if !asked.budget.is_empty() {
        command.args(["--budget", &asked.budget]);
    }
    Ok(command
        .env("LC_ALL", "C")
        .current_dir(repository)
        .output()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_random_behind_the_first_commit() {
        let places: Vec<usize> = (0..1000).map(|seed| planted(seed, 64)).collect();
        assert!(places.iter().all(|place| (1..64).contains(place)));
        let different: std::collections::HashSet<_> = places.iter().collect();
        assert_eq!(different.len(), 63);
        assert_eq!(planted(7, 2), 1);
    }

    #[test]
    fn every_commit_changes_something() {
        for commit in 1..64 {
            let [before, now] = [commit - 1, commit].map(|commit| files(commit, 5_000));
            let changed = before.iter().zip(&now).filter(|(a, b)| a != b);
            assert_eq!(changed.count(), 2, "{commit}: the note and one more");
        }
    }

    #[test]
    fn the_named_commit_is_read() {
        let printed = format!("{FOUND}0a1b2c3 change 37 (1.031x beside the one before it)");
        assert_eq!(found(&printed), Some(37));
        assert_eq!(found("it lies behind 0a1b2c3 change 3 and up to"), None);
    }
}
