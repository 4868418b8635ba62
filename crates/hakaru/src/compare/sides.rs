//! The two sides: from what was typed to apps that can be started.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use target::CommandLine;

use super::copies::{self, Copied};
use crate::cli::{CompareArgs, HowArgs, RunArgs};
use crate::exit::{Exit, Failure};
use crate::segment::Subject;
use crate::settings::Settings;
use crate::{config, guard};

/// Which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// What is compared with.
    A,
    /// What is compared.
    B,
}

/// One side, ready to be started.
pub(crate) struct Side {
    pub(crate) label: Label,
    /// What tells it from the other.
    pub(crate) name: String,
    pub(crate) settings: Settings,
    /// Where its app lies, when that is not the project; removed when this is dropped.
    pub(crate) copied: Option<Copied>,
}

/// Both, and what they share.
pub(crate) struct Sides {
    pub(crate) a: Side,
    pub(crate) b: Side,
    /// Whether both are the same on purpose.
    pub(crate) is_noise: bool,
    /// Whether both stay up and only the load moves.
    pub(crate) is_live: bool,
    pub(crate) config: config::Compare,
}

/// What is typed for one side.
#[derive(Clone, Copy, Default)]
pub(crate) struct Typed<'a> {
    pub(crate) command: Option<&'a str>,
    pub(crate) url: Option<&'a str>,
    pub(crate) env: &'a [String],
}

impl Label {
    /// As an index and a letter.
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Label::A => "A",
            Label::B => "B",
        })
    }
}

pub(crate) fn usage(message: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Usage, message)
}

impl Sides {
    /// Resolves both, of two variants; nothing outside the process is touched.
    pub(crate) fn resolve(args: &CompareArgs) -> Result<Sides, Failure> {
        check(args)?;
        Sides::of(args)
    }

    /// Resolves both, also when what was typed makes no difference.
    pub(crate) fn of(args: &CompareArgs) -> Result<Sides, Failure> {
        let folder = current_folder()?;
        let command = |index: usize| args.commands.get(index).map(String::as_str);
        let a_typed = Typed {
            command: command(0),
            url: args.url_a.as_deref(),
            env: &args.env_a,
        };
        let mut b_typed = Typed {
            command: command(1),
            url: args.url_b.as_deref(),
            env: &args.env_b,
        };
        if args.noise {
            b_typed = a_typed;
        } else if b_typed.command.is_none() && args.url_b.is_none() {
            b_typed.command = a_typed.command;
        }
        let a = settings(&args.how, &folder, a_typed)?;
        let b = settings(&args.how, &folder, b_typed)?;
        let config = config::load(args.how.config.as_deref(), &folder)?
            .config
            .compare;
        let names = names(args, [&a, &b]);
        let [a_name, b_name] = names;
        let side = |label, name, settings| Side {
            label,
            name,
            settings,
            copied: None,
        };
        Ok(Sides {
            a: side(Label::A, a_name, a),
            b: side(Label::B, b_name, b),
            is_noise: args.noise,
            is_live: args.url_a.is_some(),
            config,
        })
    }

    /// Stops unless both apps and their stores are on this machine or named.
    pub(crate) fn guard(&self) -> Result<(), Failure> {
        guard::check(&self.a.settings)?;
        guard::check(&self.b.settings)
    }

    /// Makes worktrees and copies.
    pub(crate) fn make(mut self, args: &CompareArgs, stop: &AtomicBool) -> Result<Sides, Failure> {
        let build = args.build.clone().or_else(|| self.config.build.clone());
        let a = args.a.as_deref();
        let b = if args.noise { a } else { args.b.as_deref() };
        for (side, reference) in [(&mut self.a, a), (&mut self.b, b)] {
            if let Some(reference) = reference.and_then(|text| text.strip_prefix("git:")) {
                side.copied = Some(copies::worktree(
                    &mut side.settings,
                    reference,
                    build.as_deref(),
                    stop,
                )?);
            }
        }
        if let Some(patch) = &args.patch_b {
            let patch = current_folder()?.join(patch);
            self.b.patch(&patch)?;
        }
        Ok(self)
    }

    /// One of them.
    pub(crate) fn side(&self, label: Label) -> &Side {
        match label {
            Label::A => &self.a,
            Label::B => &self.b,
        }
    }
}

impl Side {
    /// As it is measured.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            settings: &self.settings,
            name: format!("{} ({})", self.label, self.name),
            log: format!("compare-{}.log", self.label).to_lowercase(),
            places: None,
        }
    }

    /// Applies a patch to a copy of its folder; to its worktree, when it has one already.
    pub(crate) fn patch(&mut self, patch: &Path) -> Result<(), Failure> {
        if self.copied.is_none() {
            self.copied = Some(copies::folder(&mut self.settings)?);
        }
        let start = self.settings.start.as_ref();
        let directory = start.map(|spec| spec.directory.clone()).unwrap_or_default();
        copies::apply(&directory, patch)
    }
}

/// The folder that the program was called in.
pub(crate) fn current_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        Failure::new(
            Exit::Failed,
            format!("the current folder cannot be read: {error}"),
        )
    })
}

/// Whether what was typed makes two variants.
fn check(args: &CompareArgs) -> Result<(), Failure> {
    for reference in [&args.a, &args.b].into_iter().flatten() {
        if !reference.starts_with("git:") || reference.len() == 4 {
            return Err(usage(format!(
                "`{reference}` names no variant; write git:REF, such as git:main"
            )));
        }
    }
    let of_b = args.commands.len() == 2
        || args.b.is_some()
        || !args.env_b.is_empty()
        || args.patch_b.is_some()
        || args.schema_b.is_some();
    let differ = of_b || args.url_b.is_some() || args.a.is_some() || !args.env_a.is_empty();
    match (args.noise, of_b || args.url_b.is_some(), differ) {
        (true, true, _) => Err(usage(
            "--noise compares A with itself; leave out what B would be",
        )),
        (false, _, false) => Err(usage(
            "A and B are the same; say what B is: a second command, --b git:REF, --env-b NAME=VALUE, --patch-b FILE, \
             --schema-b FILE, --url-b URL, or --noise to see what this host can tell apart",
        )),
        _ => Ok(()),
    }
}

/// The settings of a side: the config file, with what was typed over it. Never with the agent: it is the app as it is that
/// is compared.
pub(crate) fn settings(
    how: &HowArgs,
    folder: &Path,
    typed: Typed<'_>,
) -> Result<Settings, Failure> {
    let run = RunArgs {
        config: how.config.clone(),
        connections: how.connections,
        rate: how.rate,
        flows: how.flows.clone(),
        seed: how.seed,
        url: typed.url.map(str::to_owned).or_else(|| how.url.clone()),
        attach: typed.url.is_some() && typed.command.is_none(),
        no_agent: true,
        command: typed.command.map(str::to_owned).into_iter().collect(),
        ..RunArgs::default()
    };
    let mut settings = Settings::resolve(&run, config::load(how.config.as_deref(), folder)?)?;
    if let Some(start) = &mut settings.start {
        if let Some(line) = typed.command {
            start.command = CommandLine::Shell(line.to_owned());
        }
        for pair in typed.env {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| usage(format!("`{pair}` sets no variable; write NAME=VALUE")))?;
            set(&mut start.env, name, value);
        }
    }
    Ok(settings)
}

/// Sets a variable in place of what it held.
pub(crate) fn set(env: &mut Vec<(String, String)>, name: &str, value: &str) {
    env.retain(|(known, _)| known != name);
    env.push((name.to_owned(), value.to_owned()));
}

/// What tells them apart, as short as it can be.
fn names(args: &CompareArgs, settings: [&Settings; 2]) -> [String; 2] {
    let told = settings.map(|settings| match &settings.start {
        Some(start) => start.command.to_string(),
        None => settings.url.clone(),
    });
    if args.noise {
        return [told[0].clone(), "the same again".to_owned()];
    }
    let commands_differ = told[0] != told[1];
    let file = |path: &Option<PathBuf>| {
        let name = path.as_ref()?.file_name()?;
        Some(format!("with {}", name.to_string_lossy()))
    };
    let parts = [
        (&told[0], args.a.clone(), &args.env_a, None, None),
        (
            &told[1],
            args.b.clone(),
            &args.env_b,
            file(&args.patch_b),
            file(&args.schema_b),
        ),
    ];
    parts.map(|(command, reference, env, patch, schema)| {
        let mut words: Vec<String> = Vec::new();
        words.extend(reference);
        words.extend(env.iter().cloned());
        words.extend(patch);
        words.extend(schema);
        if commands_differ {
            words.push(command.clone());
        }
        match words.is_empty() {
            true => "as it is".to_owned(),
            false => words.join(" "),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(args: CompareArgs, part: &str) {
        let failure = check(&args).expect_err("refused");
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.contains(part), "{}", failure.message);
    }

    #[test]
    fn what_makes_no_two_variants_is_refused() {
        check_refused(CompareArgs::default(), "A and B are the same");
        let noise_of_two = CompareArgs {
            noise: true,
            env_b: vec!["A=1".to_owned()],
            ..CompareArgs::default()
        };
        check_refused(noise_of_two, "--noise");
        let no_reference = CompareArgs {
            b: Some("main".to_owned()),
            ..CompareArgs::default()
        };
        check_refused(no_reference, "git:REF");
    }

    #[test]
    fn a_variable_replaces_what_it_held() {
        let mut env = vec![("A".to_owned(), "1".to_owned())];
        set(&mut env, "A", "2");
        assert_eq!(env, [("A".to_owned(), "2".to_owned())]);
    }
}
