//! `hakaru try`: the remedy of a finding as variant B.

use std::path::PathBuf;

use comparison::{Comparison, Decision, Tried};
use experiment::lifecycle::{ProjectLock, Purpose};
use experiment::workspace::Schemas;
use recording::Recording;
use schema_db::scratch::Index;
use store::{RunRef, StoredRun, Trial};
use target::CommandLine;
use words::{Text, text};

use crate::cli::{CompareArgs, HowArgs, TryArgs};
use crate::commands::compare::{journal_entry, measure, show, sides};
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output::{self, observer};
use crate::runs;
use crate::settings;
use crate::settings::config;

/// A finding and what to change for it.
struct Wanted {
    run: i64,
    number: u32,
    title: Text,
    change: Change,
    text: Text,
}

/// What makes B of A.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    /// A statement that creates an index.
    Index(String),
    /// Puma's flags, such as `-t 3:3`.
    Flags(String),
    /// Variables, each `NAME=VALUE`, with spaces between.
    Variables(String),
    /// A line for the shell before the app starts, such as `ulimit -n 65536`.
    Before(String),
    /// A patch.
    Patch(PathBuf),
}

/// Tries it, prints the table, and says how the program ends.
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
        Change::Index(create) => Schemas::of_index(&mut sides, create, &context)?,
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
    /// The finding of that number, and what its remedy changes.
    fn of(stored: &StoredRun, args: &TryArgs) -> Result<Wanted, Failure> {
        let recording = &stored.recording;
        let breakdown = breakdown::of(recording);
        let run = stored.entry.number;
        let profile = crate::commands::profile::kept_of_run(run);
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
        let exact = finding.remedy.exact.as_deref().unwrap_or_default();
        let change = match &args.patch {
            Some(patch) => Some(Change::Patch(patch.clone())),
            None => Change::of(exact),
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

    /// What becomes of the change.
    fn end(&self, comparison: &Comparison, schemas: Schemas, keep: bool) -> Tried {
        let proved = comparison.decision() == Decision::Faster;
        let is_index = matches!(self.change, Change::Index(_));
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
    if let Some(exact) = &finding.remedy.exact {
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

impl Change {
    /// Of a remedy's exact text; `None` when it is nothing that can be set.
    fn of(exact: &str) -> Option<Change> {
        let exact = exact.trim();
        if Index::of_statement(exact).is_some() {
            return Some(Change::Index(exact.to_owned()));
        }
        if exact.starts_with("ulimit ") {
            return Some(Change::Before(exact.to_owned()));
        }
        if puma_flags(exact).is_some() {
            return Some(Change::Flags(exact.to_owned()));
        }
        let mut words = exact.split_whitespace().peekable();
        let sets = words.peek().is_some() && words.all(findings::is_variable);
        sets.then(|| Change::Variables(exact.to_owned()))
    }

    fn text(&self) -> Text {
        match self {
            Change::Index(text)
            | Change::Flags(text)
            | Change::Variables(text)
            | Change::Before(text) => text.into(),
            Change::Patch(path) => text!("the patch {path}", path = path.display().to_string()),
        }
    }

    /// For the head of its column.
    fn name(&self) -> String {
        match self {
            Change::Index(sql) => Index::of_statement(sql)
                .map_or_else(String::new, |index| format!("with {}", index.name)),
            Change::Patch(path) => {
                let name = path.file_name().unwrap_or_default();
                format!("with {}", name.to_string_lossy())
            }
            other => format!("with {}", other.text()),
        }
    }

    /// How to make it for good.
    fn by_hand(&self) -> Text {
        match self {
            Change::Flags(flags) => {
                text!(
                    "nothing was changed; to keep it, start Puma with {flags}",
                    flags
                )
            }
            Change::Variables(pair) => {
                text!(
                    "nothing was changed; to keep it, set {pair} in the app's environment",
                    pair
                )
            }
            Change::Before(line) => {
                text!(
                    "nothing was changed; to keep it, run `{line}` where the app is started",
                    line
                )
            }
            Change::Patch(path) => {
                text!(
                    "tried on a copy; to keep it, `git apply {path}`",
                    path = path.display().to_string()
                )
            }
            Change::Index(_) => Text::default(),
        }
    }
}

/// The comparison that tries it: the app and the load of the run, unless others are asked for.
fn as_comparison(
    recording: &Recording,
    change: &Change,
    args: &TryArgs,
) -> Result<CompareArgs, Failure> {
    let ran = &recording.meta.load;
    let asked = &args.how;
    let (config, url) = (asked.config.as_deref(), asked.url.as_ref());
    let typed = settings::typed(config, url, &asked.flows, &[]).over(&recording.meta.typed);
    let how = HowArgs {
        config: typed.config.map(PathBuf::from),
        url: typed.url,
        flows: typed.flows,
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
        Change::Flags(flags) => Some(with_flags(&command, flags).ok_or_else(|| {
            Failure::usage(format!("`{command}` starts no puma that could be given {flags}; put `puma` into the command"))
        })?),
        Change::Before(line) => Some(format!("{line} && {command}")),
        _ => None,
    };
    let mut compared = CompareArgs {
        commands: vec![command.clone(), changed.unwrap_or(command)],
        how,
        ..CompareArgs::default()
    };
    match change {
        Change::Variables(pairs) => {
            let pairs = pairs.split_whitespace().map(str::to_owned);
            compared.env_b.extend(pairs);
        }
        Change::Patch(path) => compared.patch_b = Some(path.clone()),
        _ => {}
    }
    Ok(compared)
}

/// Flags that Puma takes, each with its value where it has one; `None` when the text is anything else.
fn puma_flags(text: &str) -> Option<Vec<Vec<&str>>> {
    let is_number = |value: &&str| value.chars().all(|c| c.is_ascii_digit() || c == ':');
    let mut words = text.split_whitespace();
    let mut flags = Vec::new();
    while let Some(word) = words.next() {
        flags.push(match word {
            "--preload" => vec![word],
            "-t" | "-w" => vec![word, words.next().filter(is_number)?],
            _ => return None,
        });
    }
    (!flags.is_empty()).then_some(flags)
}

/// Puma's command line with these flags in place of those it has; `None` when it names no Puma.
fn with_flags(command: &str, flags: &str) -> Option<String> {
    let wanted = puma_flags(flags)?;
    let mut words: Vec<String> = Vec::new();
    let mut old = command.split_whitespace().peekable();
    let mut found = false;
    while let Some(word) = old.next() {
        let long = match word {
            "--threads" => "-t",
            "--workers" => "-w",
            short => short,
        };
        let replaced = wanted.iter().find(|flag| flag[0] == long);
        if let Some(flag) = replaced.filter(|_| found) {
            for _ in 1..flag.len() {
                old.next();
            }
            continue;
        }
        words.push(word.to_owned());
        let is_puma = word == "puma" || word.ends_with("/puma");
        if is_puma && !found && old.peek().is_none_or(|next| !next.starts_with('=')) {
            found = true;
            words.extend(wanted.concat().into_iter().map(str::to_owned));
        }
    }
    found.then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_set_is_told_from_what_needs_code() {
        let check = |exact: &str, expected: Option<Change>| {
            let remedy = findings::Remedy {
                text: Text::default(),
                exact: Some(exact.to_owned()),
                safety: findings::Safety::Careful,
            };
            // The page of a run names this command for those alone that it can make.
            assert_eq!(remedy.can_be_tried(), expected.is_some(), "{exact}");
            assert_eq!(Change::of(exact), expected, "{exact}");
        };
        let owned = str::to_owned;
        check("-t 3:3", Some(Change::Flags(owned("-t 3:3"))));
        check("-w 2 -t 3:3", Some(Change::Flags(owned("-w 2 -t 3:3"))));
        check(
            "-w 2 --preload",
            Some(Change::Flags(owned("-w 2 --preload"))),
        );
        check("-w", None);
        check(
            "MALLOC_ARENA_MAX=2",
            Some(Change::Variables(owned("MALLOC_ARENA_MAX=2"))),
        );
        let collector = "RUBY_GC_MALLOC_LIMIT=67108864 RUBY_GC_MALLOC_LIMIT_MAX=134217728";
        check(collector, Some(Change::Variables(owned(collector))));
        check("RAILS_LOG_LEVEL=warn and less", None);
        check(
            "ulimit -n 65536",
            Some(Change::Before(owned("ulimit -n 65536"))),
        );
        let index = "CREATE INDEX a ON b (c)";
        check(index, Some(Change::Index(owned(index))));
        check("SELECT * FROM a WHERE b IN (?)", None);
        check("Cache-Control: public, max-age=86400", None);
        check("", None);
    }

    #[test]
    fn flags_take_the_place_of_those_that_are_there() {
        let check = |command: &str, flags: &str, expected: Option<&str>| {
            assert_eq!(with_flags(command, flags).as_deref(), expected, "{command}");
        };
        check(
            "puma -t 5:5 config.ru",
            "-t 3:3",
            Some("puma -t 3:3 config.ru"),
        );
        check("puma config.ru", "-t 3:3", Some("puma -t 3:3 config.ru"));
        check(
            "RACK_ENV=production bundle exec puma --threads 5:5 -w 2",
            "-w 1 -t 2:2",
            Some("RACK_ENV=production bundle exec puma -w 1 -t 2:2"),
        );
        check(
            "puma --preload -w 1 -t 5:5 config.ru",
            "-w 2 --preload",
            Some("puma -w 2 --preload -t 5:5 config.ru"),
        );
        check("rails server -t 3", "-t 3:3", None);
    }
}
