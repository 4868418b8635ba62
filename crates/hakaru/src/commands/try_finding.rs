//! `hakaru try`: the remedy of a finding as variant B.

use std::path::PathBuf;

use app_process::CommandLine;
use comparison::{Comparison, Tried};
use experiment::compare::Schemas;
use experiment::lifecycle::{ProjectLock, Purpose};
use experiment::trial::{Change, Instead};
use recording::Recording;
use store::{RunRef, StoredRun, Trial};
use words::{Text, text};

use crate::cli::{AppArgs, CompareArgs, ConfigArgs, HowArgs, RateArgs, TryArgs};
use crate::commands::compare::{journal_entry, measure, show, sides};
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output::{self, observer};
use crate::runs;
use crate::settings;
use crate::settings::config;

/// A finding and the change to try.
struct Wanted {
    run: i64,
    number: u32,
    title: Text,
    change: Change,
    text: Text,
}

/// Tries the finding, prints the table, and returns the exit code.
pub(crate) fn try_finding(args: &TryArgs) -> Result<Exit, Failure> {
    let run: RunRef = args.run.parse().map_err(Failure::usage)?;
    let stored = runs::open()?
        .load(run)
        .map_err(|error| Failure::new(Exit::Failed, error))?;
    let wanted = Wanted::of(&stored, args)?;
    output::notice(text!(
        "finding {number} of run {run}: {title}",
        number = wanted.number,
        run = wanted.run,
        title = wanted.title
    ));
    output::notice(text!("trying: {change}", change = wanted.text));
    let context = observer::of_series()?;
    let typed = as_comparison(&stored.recording, &wanted.change, args)?;
    let (mut sides, config) = sides::of(&typed)?;
    sides.b.name = wanted.change.name();
    sides.b.library = wanted.change.library();
    wanted.change.refuse_other_database(&sides.b.settings)?;
    sides::guard(&sides)?;
    let lock = ProjectLock::claim(&sides.a.settings, Purpose::Comparison, &context)?;
    let mut sides = sides.make(&sides::variants(&typed, &config)?, &context)?;
    sides::guard(&sides)?;
    let mut schemas = wanted.change.schemas(&mut sides, &context)?;
    let (mut comparison, exit) = measure(&sides, &typed.how, &config, &mut schemas, &context)?;
    comparison.tried = Some(wanted.end(&comparison, schemas, args.keep));
    drop(sides);
    let trial = Trial {
        run: Some(wanted.run),
        finding: format!("{}: {}", wanted.number, wanted.title),
        remedy: wanted.text.to_string(),
        kept: comparison.tried.as_ref().is_some_and(|tried| tried.is_kept),
        ..journal_entry(&comparison)
    };
    let is_kept = lock.keep(&trial, &context);
    show(&comparison, &args.how)?;
    Ok(exit.of_kept(is_kept))
}

impl Wanted {
    /// Returns the finding with the number, and the change by the finding's remedy.
    fn of(stored: &StoredRun, args: &TryArgs) -> Result<Wanted, Failure> {
        let recording = &stored.recording;
        let breakdown = breakdown::of(recording);
        let run = stored.entry.number;
        let profile = profile_commands::kept_of_run(run);
        let findings = findings::all(findings::Facts {
            recording,
            breakdown: &breakdown,
            profile: profile.as_ref(),
        });
        let view = report::View {
            number: Some(run),
            recording,
            breakdown: &breakdown,
            findings: &findings,
            revision: None,
        };
        let numbered = report::facts::fixes(&view);
        let count = numbered.count();
        let finding = report::facts::fixes(&view).find(|(number, _)| *number == args.finding);
        let (number, finding) = finding.ok_or_else(|| {
            Failure::usage(format!(
                "run {run} has {count} findings, and none of number {}; `hakaru report {run}` shows them",
                args.finding
            ))
        })?;
        let instead = Instead {
            patch: args.patch.clone(),
            jemalloc: args.jemalloc,
        };
        let change = Change::wanted(instead, run, number, finding)?;
        Ok(Wanted {
            run,
            number,
            title: finding.title.clone(),
            text: change.text(),
            change,
        })
    }

    /// Keeps or reverts the change by the comparison's decision; returns the record of the trial.
    fn end(&self, comparison: &Comparison, schemas: Schemas, keep: bool) -> Tried {
        let (is_kept, afterwards) = self.change.end(comparison, schemas, keep);
        Tried {
            run: self.run,
            number: self.number,
            title: self.title.clone(),
            remedy: self.text.clone(),
            is_kept,
            afterwards,
        }
    }
}

/// The comparison for the trial: the app and the load of the run, unless others are given.
fn as_comparison(
    recording: &Recording,
    change: &Change,
    args: &TryArgs,
) -> Result<CompareArgs, Failure> {
    let ran = &recording.meta.load;
    let asked = &args.how;
    let (config, url) = (asked.config.file.as_deref(), asked.app.url.as_ref());
    let typed = settings::typed(config, url, &asked.app.flows, &[]).over(&recording.meta.typed);
    let how = HowArgs {
        config: ConfigArgs {
            file: typed.config.map(PathBuf::from),
        },
        app: AppArgs {
            url: typed.url,
            flows: typed.flows,
        },
        connections: asked.connections.or(Some(ran.connections)),
        open: RateArgs {
            rate: asked.open.rate.or(ran.rate),
        },
        ..asked.clone()
    };
    let folder = context::current_folder()?;
    let config = config::load(how.config.file.as_deref(), &folder)?.config;
    let env = config.target.env;
    let command = match typed.command.is_empty() {
        true => config.target.command,
        false => Some(CommandLine::Argv(typed.command).to_string()),
    };
    let command = command.unwrap_or_else(|| recording.meta.target.command.clone());
    let command = command.trim().to_owned();
    if command.is_empty() {
        return Err(Failure::usage(
            "the app of that run was not started by hakaru; put its command into hakaru.toml",
        ));
    }
    let changed = change.command(&command)?;
    let known = |name: &str| env.get(name).cloned().or_else(|| std::env::var(name).ok());
    Ok(CompareArgs {
        commands: vec![command, changed],
        env_b: change.variables(&known)?,
        patch_b: change.patch(),
        how,
        ..CompareArgs::default()
    })
}
