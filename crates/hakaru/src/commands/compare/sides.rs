//! The two sides of a comparison, from what was typed.

use std::path::Path;

use app_process::CommandLine;
use comparison::names::Asked;
use experiment::compare::{Label, Side, Sides, Variants};
use experiment::{Settings, set_variable};

use crate::cli::{AppArgs, CompareArgs, HowArgs, RunArgs};
use crate::consent;
use crate::context;
use crate::exit::Failure;
use crate::settings::config;

/// Settings typed for one side.
#[derive(Clone, Copy, Default)]
struct Typed<'a> {
    command: Option<&'a str>,
    url: Option<&'a str>,
    env: &'a [String],
}

/// Resolves both, of two variants; nothing outside the process is touched.
pub(crate) fn resolve(args: &CompareArgs) -> Result<(Sides, config::Compare), Failure> {
    check(args)?;
    of(args)
}

/// Resolves both, also when what was typed makes no difference.
pub(crate) fn of(args: &CompareArgs) -> Result<(Sides, config::Compare), Failure> {
    let folder = context::current_folder()?;
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
    let config = config::load(args.how.config.file.as_deref(), &folder)?
        .config
        .compare;
    let [a_name, b_name] = names(args, [&a, &b]);
    let sides = Sides {
        a: Side::new(Label::A, a_name, a),
        b: Side::new(Label::B, b_name, b),
        is_noise: args.noise,
        is_live: args.url_a.is_some(),
    };
    Ok((sides, config))
}

/// Fails unless both apps and the apps' stores are on the local machine or allowed by name.
pub(crate) fn guard(sides: &Sides) -> Result<(), Failure> {
    consent::check(&sides.a.settings)?;
    consent::check(&sides.b.settings)
}

/// Returns the requested worktrees and copies.
pub(crate) fn variants(args: &CompareArgs, config: &config::Compare) -> Result<Variants, Failure> {
    let a = args.a.as_deref();
    let b = if args.noise { a } else { args.b.as_deref() };
    let revision = |text: Option<&str>| Some(text?.strip_prefix("git:")?.to_owned());
    let folder = context::current_folder()?;
    Ok(Variants {
        revision_a: revision(a),
        revision_b: revision(b),
        build: args.build.clone().or_else(|| config.build.clone()),
        patch_b: args.patch_b.as_ref().map(|patch| folder.join(patch)),
    })
}

/// Whether what was typed makes two variants.
fn check(args: &CompareArgs) -> Result<(), Failure> {
    for reference in [&args.a, &args.b].into_iter().flatten() {
        if !reference.starts_with("git:") || reference.len() == 4 {
            return Err(Failure::usage(format!(
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
        (true, true, _) => Err(Failure::usage(
            "--noise compares A with itself; leave out what B would be",
        )),
        (false, _, false) => Err(Failure::usage(
            "A and B are the same; say what B is: a second command, --b git:REF, --env-b NAME=VALUE, --patch-b FILE, \
             --schema-b FILE, --url-b URL, or --noise to see what this host can tell apart",
        )),
        _ => Ok(()),
    }
}

/// Settings of a side: the config file, overridden by the command line. Never with the agent: the
/// app is compared as is.
fn settings(how: &HowArgs, folder: &Path, typed: Typed<'_>) -> Result<Settings, Failure> {
    let run = RunArgs {
        config: how.config.clone(),
        connections: how.connections,
        open: how.open,
        seed: how.seed,
        app: AppArgs {
            url: typed.url.map(str::to_owned).or_else(|| how.app.url.clone()),
            flows: how.app.flows.clone(),
        },
        attach: typed.url.is_some() && typed.command.is_none(),
        no_agent: true,
        command: typed.command.map(str::to_owned).into_iter().collect(),
        ..RunArgs::default()
    };
    let mut settings =
        crate::settings::resolve(&run, config::load(how.config.file.as_deref(), folder)?)?;
    if let Some(start) = &mut settings.start {
        if let Some(line) = typed.command {
            start.command = CommandLine::Shell(line.to_owned());
        }
        for pair in typed.env {
            let (name, value) = pair.split_once('=').ok_or_else(|| {
                Failure::usage(format!("`{pair}` sets no variable; write NAME=VALUE"))
            })?;
            set_variable(&mut start.env, name, value);
        }
    } else if let Some(pair) = typed.env.first() {
        return Err(Failure::usage(format!(
            "`{}` cannot be set for an app that is already running; give the command that starts it",
            pair.split('=').next().unwrap_or_default()
        )));
    }
    Ok(settings)
}

/// The shortest distinct names of both sides.
fn names(args: &CompareArgs, settings: [&Settings; 2]) -> [String; 2] {
    let app = |settings: &Settings| match &settings.start {
        Some(start) => start.command.to_string(),
        None => settings.url.clone(),
    };
    let files = [&args.patch_b, &args.schema_b].into_iter().flatten();
    let files = files.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let a = Asked {
        app: app(settings[0]),
        revision: args.a.clone(),
        variables: args.env_a.clone(),
        files: Vec::new(),
    };
    let b = Asked {
        app: app(settings[1]),
        revision: args.b.clone(),
        variables: args.env_b.clone(),
        files: files.collect(),
    };
    comparison::names::names([a, b], args.noise)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(args: CompareArgs, part: &str) {
        let failure = check(&args).expect_err("refused");
        assert_eq!(failure.exit, crate::exit::Exit::Usage);
        assert!(failure.message.contains(part), "{}", failure.message);
    }

    #[test]
    fn a_variable_of_an_app_that_runs_already_is_refused() {
        let args = CompareArgs {
            url_a: Some("http://127.0.0.1:1/".to_owned()),
            url_b: Some("http://127.0.0.1:2/".to_owned()),
            env_b: vec!["RUBYOPT=--yjit".to_owned()],
            ..CompareArgs::default()
        };
        let failure = of(&args).err().expect("refused");
        assert_eq!(failure.exit, crate::exit::Exit::Usage);
        assert!(
            failure.message.contains("`RUBYOPT` cannot be set"),
            "{}",
            failure.message
        );
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
}
