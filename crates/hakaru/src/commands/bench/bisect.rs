//! `hakaru bench FILE --git A..B`: which commit made it slower or faster?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use microbench::bench::Bench;
use microbench::bisect::{self, Bisect, Side};
use microbench::model::Contender;
use stats::comparison::Verdict;
use words::text;

use super::measure;
use super::resolve::{Group, usage};
use crate::cli::BenchArgs;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output;

/// Worktrees of a repository, each made and built once.
struct Worktrees<'a> {
    repository: PathBuf,
    folder: tempfile::TempDir,
    build: Option<&'a str>,
    made: BTreeMap<String, PathBuf>,
}

/// Halves the commits until the first one that differs is known.
pub(super) fn bisect(
    args: &BenchArgs,
    groups: Vec<Group>,
    range: &str,
    stop: &Arc<AtomicBool>,
) -> Result<Exit, Failure> {
    let (from, to) = range
        .split_once("..")
        .ok_or_else(|| usage("--git takes A..B: an older and a newer commit"))?;
    let group = only(groups)?;
    let mut worktrees = Worktrees::new(args.over_time.build.as_deref())?;
    let commits = worktrees.line(from, to)?;
    let last = commits.len() - 1;
    let measured = |worktrees: &mut Worktrees, indices: &[usize], margin| {
        let named = indices.iter().map(|index| &commits[*index]);
        let group = worktrees.group(&group, named)?;
        measure(args, group, margin, stop)
    };
    let ends = measured(&mut worktrees, &[0, last], None)?;
    let (verdict, ratio) = pair(&ends.bench, 0, 1)?;
    if !matches!(verdict, Verdict::Lower | Verdict::Higher) {
        output::page(&format!(
            "{}\n",
            text!(
                "no difference is shown between {from} and {to}; a longer --budget may",
                from,
                to
            )
            .written_in(crate::language::chosen())
        ));
        return Ok(Exit::Undecided);
    }
    let mut search = Bisect::new(commits.len());
    output::notice(text!(
        "{to} beside {from}: {ratio}x; {steps} steps follow",
        to,
        from,
        ratio = format!("{ratio:.3}"),
        steps = search.steps()
    ));
    while let Some(middle) = search.middle() {
        let done = measured(
            &mut worktrees,
            &[0, middle, last],
            Some(bisect::margin(ratio)),
        )?;
        if context::raised(stop) {
            break;
        }
        let side = bisect::side(pair(&done.bench, 0, 1)?, pair(&done.bench, 1, 2)?);
        let commit = worktrees.subject(&commits[middle]);
        output::notice(match side {
            Side::Good => text!("  {commit}: as the older end", commit),
            Side::Bad => text!("  {commit}: as the newer end", commit),
            Side::Unclear => text!("  {commit}: cannot be told; a longer --budget may", commit),
        });
        if !search.take(middle, side) {
            break;
        }
    }
    Ok(say_found(&worktrees, &commits, &search, stop))
}

fn say_found(
    worktrees: &Worktrees,
    commits: &[String],
    search: &Bisect,
    stop: &AtomicBool,
) -> Exit {
    let (good, bad) = search.found();
    let first = worktrees.subject(&commits[bad]);
    let line = if bad == good + 1 {
        text!("the first commit that differs: {first}", first)
    } else {
        text!(
            "it lies behind {good} and up to {first}",
            good = worktrees.subject(&commits[good]),
            first
        )
    };
    output::page(&format!("{}\n", line.written_in(crate::language::chosen())));
    match (bad == good + 1, context::raised(stop)) {
        (_, true) => Exit::Interrupted,
        (true, _) => Exit::Ok,
        (false, _) => Exit::Undecided,
    }
}

fn only(mut groups: Vec<Group>) -> Result<Group, Failure> {
    match (groups.pop(), groups.is_empty()) {
        (Some(group), true) if group.jobs.len() == 1 && group.contenders.len() == 1 => Ok(group),
        _ => Err(usage(
            "--git follows one job by one Ruby or command; --filter chooses a job",
        )),
    }
}

/// b/a of two contenders of the only row; an error when one of them failed.
fn pair(bench: &Bench, a: usize, b: usize) -> Result<(Verdict, f64), Failure> {
    let row = &bench.rows[0];
    let known = row.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b));
    let known = known.and_then(|pair| Some((pair.verdict, pair.ratio?)));
    known.ok_or_else(|| {
        let missing = row.cells.iter().filter_map(|cell| cell.missing.as_ref());
        let why: Vec<String> = missing.map(ToString::to_string).collect();
        Failure::new(
            Exit::Failed,
            format!("a commit could not be measured: {}", why.join("; ")),
        )
    })
}

impl<'a> Worktrees<'a> {
    fn new(build: Option<&'a str>) -> Result<Worktrees<'a>, Failure> {
        let folder = tempfile::Builder::new().prefix("hakaru-bisect").tempdir();
        Ok(Worktrees {
            repository: context::current_folder()?,
            folder: folder.map_err(|error| {
                Failure::new(
                    Exit::Failed,
                    format!("no temporary folder: {error}; set TMPDIR"),
                )
            })?,
            build,
            made: BTreeMap::new(),
        })
    }

    /// The commits from one to the other, both of which belong to them, along first parents, the
    /// oldest first.
    fn line(&self, from: &str, to: &str) -> Result<Vec<String>, Failure> {
        let git = |arguments: &[&str]| git(&self.repository, arguments);
        let first = git(&["rev-parse", "--verify", &format!("{from}^{{commit}}")])?;
        let rest = git(&[
            "rev-list",
            "--first-parent",
            "--reverse",
            &format!("{from}..{to}"),
        ])?;
        let mut commits = vec![first];
        commits.extend(rest.lines().map(str::to_owned));
        if commits.len() < 2 {
            return Err(usage(format!(
                "there is no commit behind {from} up to {to}"
            )));
        }
        Ok(commits)
    }

    fn subject(&self, commit: &str) -> String {
        git(&self.repository, &["log", "-1", "--format=%h %s", commit])
            .unwrap_or_else(|_| commit.to_owned())
    }

    /// The contender in a worktree of the commit, which is made and built when it is first asked
    /// for.
    fn contender(&mut self, contender: &Contender, commit: &str) -> Result<Contender, Failure> {
        let path = match self.made.get(commit) {
            Some(path) => path.clone(),
            None => self.make(commit)?,
        };
        let mut command = contender.command.clone();
        // A program of the repository is the worktree's own.
        if let Some(inside) = Path::new(&command[0])
            .strip_prefix(&self.repository)
            .ok()
            .map(|inside| path.join(inside))
        {
            command[0] = inside.display().to_string();
        }
        Ok(Contender {
            name: commit.chars().take(9).collect(),
            command,
            folder: Some(path),
            ..contender.clone()
        })
    }

    /// The job by the contender in each of the commits.
    fn group<'c>(
        &mut self,
        group: &Group,
        commits: impl Iterator<Item = &'c String>,
    ) -> Result<Group, Failure> {
        let contenders = commits.map(|commit| self.contender(&group.contenders[0], commit));
        Ok(Group {
            contenders: contenders.collect::<Result<_, _>>()?,
            jobs: group.jobs.clone(),
            ..*group
        })
    }

    fn make(&mut self, commit: &str) -> Result<PathBuf, Failure> {
        let path = self.folder.path().join(commit);
        git(
            &self.repository,
            &[
                "worktree",
                "add",
                "--detach",
                "--quiet",
                &path.display().to_string(),
                commit,
            ],
        )?;
        self.made.insert(commit.to_owned(), path.clone());
        if let Some(build) = self.build {
            output::notice(text!("building {commit}", commit = self.subject(commit)));
            let built = Command::new("/bin/sh")
                .args(["-c", build])
                .current_dir(&path)
                .stdin(Stdio::null())
                .output();
            let built = built.map_err(|error| Failure::new(Exit::Failed, error))?;
            if !built.status.success() {
                let words = String::from_utf8_lossy(&built.stderr).trim().to_owned();
                return Err(Failure::new(
                    Exit::Failed,
                    format!("--build `{build}` failed in a worktree of {commit}: {words}"),
                ));
            }
        }
        Ok(path)
    }
}

impl Drop for Worktrees<'_> {
    fn drop(&mut self) {
        for path in self.made.values() {
            // What git does not remove, `git worktree prune` forgets once the folder is gone.
            let _ = git(
                &self.repository,
                &["worktree", "remove", "--force", &path.display().to_string()],
            );
        }
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    let output = output
        .map_err(|error| Failure::new(Exit::Failed, format!("git cannot be run: {error}")))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(usage(format!("git {}: {words}", arguments.join(" "))));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
