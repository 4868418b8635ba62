//! `hakaru try`: the remedy of a finding as variant B.

mod change;

use std::path::PathBuf;

use app_process::CommandLine;
use comparison::{Comparison, Decision, Tried};
use experiment::lifecycle::{ProjectLock, Purpose};
use experiment::puma;
use experiment::workspace::Schemas;
use findings::Exact;
use recording::Recording;
use store::{RunRef, StoredRun, Trial};
use words::{Text, text};

use crate::cli::{AppArgs, CompareArgs, HowArgs, TryArgs};
use crate::commands::compare::{journal_entry, measure, show, sides};
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output::{self, observer};
use crate::runs;
use crate::settings;
use crate::settings::config;
use change::Change;

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
    sides::guard(&sides)?;
    let lock = ProjectLock::claim(&sides.a.settings, Purpose::Comparison, &context)?;
    let mut sides = sides.make(&sides::variants(&typed, &config)?, &context)?;
    sides::guard(&sides)?;
    let mut schemas = match &wanted.change {
        Change::Remedy(Exact::Index(create)) => Schemas::of_index(&mut sides, create, &context)?,
        _ => Schemas::none(),
    };
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
    lock.keep(&trial, &context);
    show(&comparison, &args.how)?;
    Ok(exit)
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
        let change = match &args.patch {
            Some(patch) => Some(Change::Patch(patch.clone())),
            None => Change::of(&finding.remedy),
        };
        let change = change.ok_or_else(|| needs_code(run, number, finding))?;
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
        let proved = comparison.decision() == Decision::Faster;
        let is_index = matches!(self.change, Change::Remedy(Exact::Index(_)));
        let (is_kept, afterwards) = match (is_index, keep, proved) {
            (true, true, true) => match schemas.keep() {
                Ok(()) => (true, text!("left in place, as --keep asks")),
                Err(why) => (false, text!("it could not be left in place: {why}", why)),
            },
            (true, true, false) => (false, text!("taken back, since it did not prove faster")),
            (true, false, _) if schemas.is_in_place() => {
                (false, text!("taken back; --keep leaves it"))
            }
            (true, false, _) => (
                false,
                text!(
                    "tried on a copy; the app's database is as it was; --keep makes the change there"
                ),
            ),
            (false, ..) => (false, self.change.by_hand()),
        };
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

fn needs_code(run: i64, number: u32, finding: &findings::Finding) -> Failure {
    let mut message = format!(
        "the remedy of finding {number} of run {run} is a change that hakaru cannot make: {}",
        finding.remedy.text
    );
    if let Some(exact) = finding.remedy.exact_text() {
        message += &format!(" ({exact})");
    }
    Failure::usage(match finding.remedy.safety {
        findings::Safety::Code => format!(
            "{message}; make it, then `git diff > fix.diff`, take it back, and `hakaru try {number} --patch fix.diff`"
        ),
        _ => format!(
            "{message}; make it by hand, `hakaru run` again, and `hakaru log` shows both beside the noise of this host"
        ),
    })
}

/// The comparison for the trial: the app and the load of the run, unless others are given.
fn as_comparison(
    recording: &Recording,
    change: &Change,
    args: &TryArgs,
) -> Result<CompareArgs, Failure> {
    let ran = &recording.meta.load;
    let asked = &args.how;
    let (config, url) = (asked.config.as_deref(), asked.app.url.as_ref());
    let typed = settings::typed(config, url, &asked.app.flows, &[]).over(&recording.meta.typed);
    let how = HowArgs {
        config: typed.config.map(PathBuf::from),
        app: AppArgs {
            url: typed.url,
            flows: typed.flows,
        },
        connections: asked.connections.or(Some(ran.connections)),
        rate: asked.rate.or(ran.rate),
        ..asked.clone()
    };
    let folder = context::current_folder()?;
    let config = config::load(how.config.as_deref(), &folder)?.config;
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
    let changed = match change {
        Change::Remedy(exact @ Exact::Puma(flags)) => {
            let changed = puma::with_flags(&command, &flags.words());
            Some(changed.ok_or_else(|| {
                Failure::usage(format!(
                    "`{command}` starts no puma that could be given {exact}; put `puma` into the command"
                ))
            })?)
        }
        Change::Remedy(line @ Exact::Ulimit(_)) => Some(format!("{line} && {command}")),
        _ => None,
    };
    let mut compared = CompareArgs {
        commands: vec![command.clone(), changed.unwrap_or(command)],
        how,
        ..CompareArgs::default()
    };
    match change {
        Change::Remedy(Exact::Variables(pairs)) => {
            let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
            compared.env_b.extend(pairs);
        }
        // Each session of libpq asks for it; the server stays as it is.
        Change::Remedy(Exact::PostgresSetting { name, value }) => {
            compared.env_b.push(format!("PGOPTIONS=-c {name}={value}"));
        }
        Change::Patch(path) => compared.patch_b = Some(path.clone()),
        _ => {}
    }
    Ok(compared)
}
