//! `hakaru bench FILE --git A..B`: finds the commit with a change in speed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use microbench::bench::Bench;
use microbench::bisect::{End, Search, Side, Step};
use microbench::model::Contender;
use words::text;

use super::resolve::{Group, usage};
use super::{Effort, measure};
use crate::flags::BenchArgs;
use console::process;
use ending::{Cause, Ended, Failure};

/// Worktrees of a repository, each made and built once.
struct Worktrees<'a> {
    repository: PathBuf,
    folder: tempfile::TempDir,
    build: Option<&'a str>,
    made: BTreeMap<String, PathBuf>,
}

/// Measures commits until the first differing one is known.
pub(super) fn bisect(
    args: &BenchArgs,
    groups: Vec<Group>,
    range: &str,
    stop: &Arc<AtomicBool>,
) -> Result<Ended, Failure> {
    let (from, to) = range
        .split_once("..")
        .ok_or_else(|| usage("--git takes A..B: an older and a newer commit"))?;
    let group = only(groups)?;
    let mut worktrees = Worktrees::new(args.over_time.build.as_deref())?;
    let commits = worktrees.line(from, to)?;
    let mut search = Search::new(commits.len());
    while let Some(step) = search.next() {
        let indices = search.commits(step);
        let named = indices.iter().map(|index| &commits[*index]);
        let effort = Effort {
            margin: search.margin(),
            times: match step {
                Step::Ends(times) => times,
                Step::Middle(_) | Step::Last(_) => 1,
            },
        };
        let done = measure(args, worktrees.group(&group, named)?, effort, stop)?;
        if process::raised(stop) {
            break;
        }
        let side = search
            .take(step, &done.bench.rows[0].pairs)
            .ok_or_else(|| without_figure(&done.bench))?;
        say_step(&worktrees, (&search, step, side), (from, to), &commits);
    }
    Ok(say_end(&worktrees, &commits, (from, to), &search, stop))
}

fn say_step(
    worktrees: &Worktrees,
    (search, step, side): (&Search, Step, Side),
    (from, to): (&str, &str),
    commits: &[String],
) {
    let commit = |index: usize| worktrees.subject(&commits[index]);
    let ratio = format!("{:.3}", search.ratio());
    let said = match (step, side) {
        (Step::Ends(_), _) if search.margin().is_none() => return,
        (Step::Ends(_), _) => text!(
            "{to} beside {from}: {ratio}x; {steps} steps follow",
            to,
            from,
            ratio,
            steps = search.steps()
        ),
        (Step::Middle(middle), Side::Older) => {
            text!("  {commit}: as the older end", commit = commit(middle))
        }
        (Step::Middle(middle), Side::Newer) => {
            text!("  {commit}: as the newer end", commit = commit(middle))
        }
        (Step::Last(last), Side::Newer) => {
            text!(
                "  {commit}: differs from the one before it",
                commit = commit(last)
            )
        }
        (Step::Last(last), Side::Older) => {
            text!("  {commit}: as the one before it", commit = commit(last))
        }
        (Step::Middle(index) | Step::Last(index), Side::Unclear) => {
            text!("  {commit}: cannot be told yet", commit = commit(index))
        }
    };
    console::notice(said);
}

fn say_end(
    worktrees: &Worktrees,
    commits: &[String],
    (from, to): (&str, &str),
    search: &Search,
    stop: &AtomicBool,
) -> Ended {
    let end = search.end();
    let subject = |index: usize| worktrees.subject(&commits[index]);
    let line = match end {
        End::Alike if process::raised(stop) => {
            text!("interrupted before {from} and {to} were compared", from, to)
        }
        End::Alike => text!(
            "no difference is shown between {from} and {to}; a longer --budget may",
            from,
            to
        ),
        End::Found(first, ratio) => text!(
            "the first commit that differs: {first} ({ratio}x beside the one before it)",
            first = subject(first),
            ratio = format!("{ratio:.3}")
        ),
        End::Within(good, bad) => text!(
            "it lies behind {good} and up to {first}; a longer --budget may tell, unless several commits share it",
            good = subject(good),
            first = subject(bad)
        ),
    };
    console::page(&format!(
        "{}\n",
        line.written_in(console::language::chosen())
    ));
    match end {
        _ if process::raised(stop) => Ended::Interrupted,
        End::Found(..) => Ended::Ok,
        End::Alike | End::Within(..) => Ended::Undecided,
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

fn without_figure(bench: &Bench) -> Failure {
    let cells = &bench.rows[0].cells;
    let missing = cells.iter().filter_map(|cell| cell.missing.as_ref());
    let why: Vec<String> = missing.map(ToString::to_string).collect();
    Failure::new(
        Cause::Failed,
        format!("a commit could not be measured: {}", why.join("; ")),
    )
}

impl<'a> Worktrees<'a> {
    fn new(build: Option<&'a str>) -> Result<Worktrees<'a>, Failure> {
        let folder = tempfile::Builder::new().prefix("hakaru-bisect").tempdir();
        Ok(Worktrees {
            repository: process::current_folder()?,
            folder: folder.map_err(|error| {
                Failure::new(
                    Cause::Failed,
                    format!("no temporary folder: {error}; set TMPDIR"),
                )
            })?,
            build,
            made: BTreeMap::new(),
        })
    }

    /// Returns the commits between two, both included, along first parents, the oldest first.
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

    /// Returns the contender in a worktree of the commit; the worktree is made and built at first
    /// use.
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
            console::notice(text!("building {commit}", commit = self.subject(commit)));
            let built = Command::new("/bin/sh")
                .args(["-c", build])
                .current_dir(&path)
                .stdin(Stdio::null())
                .output();
            let built = built.map_err(|error| Failure::new(Cause::Failed, error))?;
            if !built.status.success() {
                let words = String::from_utf8_lossy(&built.stderr).trim().to_owned();
                return Err(Failure::new(
                    Cause::Failed,
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
        .map_err(|error| Failure::new(Cause::Failed, format!("git cannot be run: {error}")))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(usage(format!("git {}: {words}", arguments.join(" "))));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
