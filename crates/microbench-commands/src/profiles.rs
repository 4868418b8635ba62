//! `--profile`: a profile of the two fastest contenders of each job, and the difference.
//!
//! Both are taken by `hakaru profile` itself, in processes of their own that run the generated
//! script's loop; so they are kept like any other profile, and `hakaru profile diff` shows them
//! again.

use std::path::Path;
use std::process::{Command, Stdio};

use microbench::bench::Measured;
use microbench::model::{Contender, Script, Work};
use report::bench::Flames;
use words::text;

use super::Done;
use crate::flags::BenchArgs;
use console::html;
use ending::{Cause, Failure};

/// Seconds of a script's run under the profiler.
const SECONDS: f64 = 2.0;

/// Takes both profiles of each job and prints the difference; returns the flame graphs for a page.
pub(super) fn take(done: &Done, args: &BenchArgs) -> Result<Vec<Flames>, Failure> {
    // One folder for all: frames of both profiles are told by their file.
    let folder = tempfile::tempdir().map_err(|error| Failure::new(Cause::Failed, error))?;
    let mut flames = Vec::new();
    for (index, row) in done.bench.rows.iter().enumerate() {
        let mut ranked: Vec<&Measured> = row
            .cells
            .iter()
            .filter(|cell| !cell.samples.is_empty() && cell.missing.is_none())
            .collect();
        let seconds = |cell: &Measured| {
            cell.samples
                .iter()
                .map(|sample| sample.seconds(row.clock))
                .sum::<f64>()
                / cell.samples.len() as f64
        };
        ranked.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        let [first, second, ..] = ranked[..] else {
            continue;
        };
        let mut numbers = Vec::new();
        for cell in [second, first] {
            let Work::Script(script) = &done.group.jobs[cell.cell.job].work else {
                return Err(super::resolve::usage(
                    "--profile profiles Ruby scripts only",
                ));
            };
            let contender = &done.group.contenders[cell.cell.contender];
            let turns = (SECONDS / seconds(cell)).clamp(1.0, 1e12) as u64;
            numbers.push(profile((contender, folder.path()), script, turns)?);
        }
        console::notice(text!(
            "profile of {slower}, then of {faster}; `hakaru profile diff {numbers} --html FILE` draws both",
            slower = done.name(second),
            faster = done.name(first),
            numbers = numbers.join(" ")
        ));
        let page = folder.path().join("difference.html");
        let printed = diff(&numbers, args.html.is_some().then_some(page.as_path()))?;
        // Standard output may hold a document that something else reads.
        if args.json || args.html.as_deref().is_some_and(html::is_stdout) {
            console::notice(printed);
        } else {
            console::page(&printed);
        }
        if args.html.is_some() {
            let failed = |error: std::io::Error| Failure::new(Cause::Failed, error);
            flames.push(Flames {
                row: index,
                head: text!(
                    "where the time goes: {slower}, then {faster}",
                    slower = done.name(second),
                    faster = done.name(first)
                ),
                page: std::fs::read_to_string(&page).map_err(failed)?,
            });
        }
    }
    Ok(flames)
}

/// What got wider and what narrower, in words; and as a page into a file.
fn diff(numbers: &[String], page: Option<&Path>) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::new(Cause::Failed, error);
    let hakaru = std::env::current_exe().map_err(failed)?;
    let run = |more: &[&std::ffi::OsStr]| {
        let mut command = Command::new(&hakaru);
        command.args(["profile", "diff"]).args(numbers).args(more);
        let code = console::language::chosen().code();
        command.args(["--lang", code]).output().map_err(failed)
    };
    if let Some(page) = page {
        let written = run(&["--html".as_ref(), page.as_os_str()])?;
        if !written.status.success() {
            let words = String::from_utf8_lossy(&written.stderr).trim().to_owned();
            return Err(Failure::new(
                Cause::Failed,
                format!("the two profiles cannot be drawn: {words}"),
            ));
        }
    }
    Ok(String::from_utf8_lossy(&run(&[])?.stdout).into_owned())
}

/// Takes a profile and returns the profile's number.
fn profile(
    (contender, folder): (&Contender, &Path),
    script: &Script,
    turns: u64,
) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::new(Cause::Failed, error);
    let path = folder.join("script.rb");
    let program = format!(
        "{}{}\n{turns}.times do\n{}\nend\n{}",
        contender.prelude, script.prelude, script.body, script.teardown
    );
    std::fs::write(&path, program).map_err(failed)?;
    let hakaru = std::env::current_exe().map_err(failed)?;
    let output = Command::new(hakaru)
        .args(["profile", "--json", "--"])
        .args(&contender.command)
        .arg(&path)
        .stdin(Stdio::null())
        .output()
        .map_err(failed)?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::new(
            Cause::Failed,
            format!("{} cannot be profiled: {words}", contender.name),
        ));
    }
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        Failure::new(
            Cause::Failed,
            format!("the profile cannot be read: {error}"),
        )
    })?;
    Ok(document["profile"].to_string())
}
