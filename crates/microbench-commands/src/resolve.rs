//! From flags to jobs and contenders. Files are read here; no process has been started yet.

use std::path::Path;

use microbench::executable::{self, Typed};
use microbench::model::{Around, Contender, Context, Job, Runner, Script, Suite, Work};
use microbench::parameters::{self, Parameter};
use microbench::record::Recorded;
use microbench::rubies::{self, Manager};
use microbench::workloads;
use microbench::yaml;
use regex::Regex;

use crate::flags::{BenchArgs, CommandArgs};
use ending::{Cause, Failure};

/// Jobs measured together.
pub(super) struct Group {
    pub(super) runner: Runner,
    pub(super) jobs: Vec<Job>,
    pub(super) contenders: Vec<Contender>,
    /// Whether jobs say something beside each other.
    pub(super) is_comparable: bool,
}

/// Everything to be measured, and earlier figures.
pub(super) struct Resolved {
    pub(super) groups: Vec<Group>,
    pub(super) recorded: Vec<Recorded>,
}

pub(super) fn usage(message: impl std::fmt::Display) -> Failure {
    Failure::new(Cause::Usage, message)
}

/// Reads files and looks for the Rubies.
pub(super) fn resolve(args: &BenchArgs) -> Result<Resolved, Failure> {
    let runner = match &args.runner {
        Some(name) => Runner::of(name).ok_or_else(|| {
            usage(format!(
                "no runner is called `{name}`; there are {}",
                Runner::ALL.map(Runner::name).join(", ")
            ))
        })?,
        None => Runner::Ips,
    };
    if !args.command.is_empty() {
        let group = commands(&args.command, &args.commands)?;
        return Ok(Resolved {
            groups: vec![group],
            recorded: Vec::new(),
        });
    }
    let suites = suites(args)?;
    let is_comparable = !args.files.iter().any(|file| is_workloads(file));
    if suites.is_empty() {
        return Err(usage(
            "nothing to measure: give a YAML file, --script CODE, or commands behind `--`",
        ));
    }
    let recorded = suites
        .iter()
        .flat_map(|suite| suite.recorded.clone())
        .collect();
    let prelude = prelude(args);
    let rubies = rubies(args)?;
    let mut groups: Vec<(Group, Vec<Context>)> = Vec::new();
    for suite in suites {
        let runner = suite.runner.unwrap_or(runner);
        let jobs: Vec<Job> = filtered(suite.jobs, &args.filter)?;
        let known = groups.iter_mut().find(|(group, contexts)| {
            group.runner == runner
                && *contexts == suite.contexts
                && printed(&group.jobs) == printed(&jobs)
        });
        match known {
            Some((group, _)) => group.jobs.extend(jobs),
            None => {
                let contenders = in_contexts(&rubies, &suite.contexts, &prelude);
                groups.push((
                    Group {
                        runner,
                        jobs,
                        contenders,
                        is_comparable,
                    },
                    suite.contexts,
                ));
            }
        }
    }
    let groups: Vec<Group> = groups
        .into_iter()
        .map(|(group, _)| group)
        .filter(|group| !group.jobs.is_empty())
        .collect();
    Ok(Resolved { groups, recorded })
}

/// What the command line names, read.
fn suites(args: &BenchArgs) -> Result<Vec<Suite>, Failure> {
    let mut suites = Vec::new();
    for file in &args.files {
        suites.push(match is_workloads(file) {
            true => suite_of(workloads::jobs()),
            false => suite(file)?,
        });
    }
    if let Some(folder) = &args.optcarrot {
        suites.push(suite_of(vec![workloads::optcarrot(folder)]));
    }
    if !args.scripts.is_empty() {
        suites.push(of_scripts(&args.scripts));
    }
    Ok(suites)
}

/// Returns whether `file` means the workloads; a file of the same name has precedence.
pub(super) fn is_workloads(file: &str) -> bool {
    file == "workloads" && !Path::new(file).exists()
}

/// A YAML file, a Ruby file, or code.
fn suite(file: &str) -> Result<Suite, Failure> {
    let path = Path::new(file);
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    let read = || {
        std::fs::read_to_string(path).map_err(|error| usage(format!("cannot read {file}: {error}")))
    };
    match extension {
        "yml" | "yaml" => yaml::read(path, &read()?).map_err(usage),
        "rb" => {
            read()?;
            let full =
                std::path::absolute(path).map_err(|error| usage(format!("{file}: {error}")))?;
            Ok(of_ruby_file(file, &full))
        }
        _ if path.is_file() => yaml::read(path, &read()?).map_err(usage),
        _ => Ok(of_scripts(&[file.to_owned()])),
    }
}

/// Returns whether the jobs print figures, which have no common mean.
fn printed(jobs: &[Job]) -> bool {
    jobs.iter().any(|job| matches!(job.work, Work::Printed(_)))
}

fn of_scripts(scripts: &[String]) -> Suite {
    let job = |code: &String| Job {
        name: code.clone(),
        work: Work::Script(Script {
            body: code.clone(),
            ..Script::default()
        }),
        ruby_min: None,
    };
    suite_of(scripts.iter().map(job).collect())
}

fn suite_of(jobs: Vec<Job>) -> Suite {
    Suite {
        runner: None,
        jobs,
        contexts: Vec::new(),
        recorded: Vec::new(),
    }
}

/// The whole file is one turn. It is evaluated under its own name, so that `__FILE__ == $0` holds
/// and relative requires work.
fn of_ruby_file(name: &str, path: &Path) -> Suite {
    let quoted = path
        .display()
        .to_string()
        .replace('\\', "\\\\")
        .replace('\'', "\\'");
    suite_of(vec![Job {
        name: name.to_owned(),
        work: Work::Script(Script {
            prelude: format!("$0 = '{quoted}'\n"),
            body: format!("eval(File.read('{quoted}'), TOPLEVEL_BINDING, '{quoted}')"),
            loop_count: Some(1),
            ..Script::default()
        }),
        ruby_min: None,
    }])
}

fn prelude(args: &BenchArgs) -> String {
    let mut prelude: String = args
        .require
        .iter()
        .map(|name| format!("require '{name}'\n"))
        .collect();
    if let Some(code) = &args.prelude {
        prelude += code;
        prelude.push('\n');
    }
    prelude
}

fn filtered(jobs: Vec<Job>, filters: &[String]) -> Result<Vec<Job>, Failure> {
    let compiled: Result<Vec<Regex>, _> = filters.iter().map(|filter| Regex::new(filter)).collect();
    let compiled = compiled.map_err(|error| usage(format!("--filter: {error}")))?;
    let fits = |job: &Job| compiled.iter().all(|filter| filter.is_match(&job.name));
    let kept: Vec<Job> = jobs.iter().filter(|job| fits(job)).cloned().collect();
    if kept.is_empty() && !jobs.is_empty() {
        let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        return Err(usage(format!(
            "no job matches --filter; there are {}",
            names.join(", ")
        )));
    }
    Ok(kept)
}

/// Every Ruby in every context.
fn in_contexts(rubies: &[Contender], contexts: &[Context], prelude: &str) -> Vec<Contender> {
    let in_one = |context: &Context| {
        let each = rubies.iter().map(|ruby| Contender {
            name: match (context.name.is_empty(), rubies.len()) {
                (true, _) => ruby.name.clone(),
                (false, 1) => context.name.clone(),
                (false, _) => format!("{} ({})", context.name, ruby.name),
            },
            prelude: format!("{}{prelude}", context.prelude),
            ..ruby.clone()
        });
        each.collect::<Vec<_>>()
    };
    let none = [Context::default()];
    let contexts = if contexts.is_empty() {
        &none[..]
    } else {
        contexts
    };
    let mut all: Vec<Contender> = contexts.iter().flat_map(in_one).collect();
    let mut names: Vec<String> = all.iter().map(|one| one.name.clone()).collect();
    executable::made_unique(&mut names);
    for (contender, name) in all.iter_mut().zip(names) {
        contender.name = name;
    }
    all
}

/// The Rubies as contenders; the one in PATH when none is named.
pub(super) fn rubies(args: &BenchArgs) -> Result<Vec<Contender>, Failure> {
    let variable = |name: &str| std::env::var(name).ok();
    let mut found = Vec::new();
    for text in &args.executables {
        for typed in executable::read(text).map_err(usage)? {
            let path = rubies::find(&typed, &variable).map_err(usage)?;
            found.push(contender(&typed, &path, args.bundler));
        }
    }
    let managed = [
        (Manager::Rbenv, &args.rbenv),
        (Manager::Rvm, &args.rvm),
        (Manager::Chruby, &args.chruby),
        (Manager::Mise, &args.mise),
        (Manager::Asdf, &args.asdf),
    ];
    for (manager, texts) in managed {
        for text in texts {
            for typed in executable::read(text).map_err(usage)? {
                let path =
                    rubies::version(&typed.program, &[manager], &variable).ok_or_else(|| {
                        usage(format!(
                            "{} has no Ruby {}; `{} versions` lists them",
                            manager.name(),
                            typed.program,
                            manager.name()
                        ))
                    })?;
                found.push(contender(&typed, &path, args.bundler));
            }
        }
    }
    if found.is_empty() {
        let typed = Typed {
            name: "ruby".to_owned(),
            program: "ruby".to_owned(),
            arguments: Vec::new(),
        };
        let path = rubies::find(&typed, &variable).map_err(usage)?;
        found.push(contender(&typed, &path, args.bundler));
    }
    Ok(found)
}

fn contender(typed: &Typed, path: &Path, has_bundler: bool) -> Contender {
    let mut command = vec![path.display().to_string()];
    command.extend(typed.arguments.iter().cloned());
    if has_bundler {
        command.push("-rbundler/setup".to_owned());
    }
    Contender {
        command,
        ..Contender::ruby(&typed.name, &[])
    }
}

fn commands(lines: &[String], args: &CommandArgs) -> Result<Group, Failure> {
    let mut parameters = Vec::new();
    for pair in args.parameter_list.chunks(2) {
        parameters.push(Parameter::list(&pair[0], &pair[1]));
    }
    for triple in args.parameter_scan.chunks(3) {
        let scan = Parameter::scan(&triple[0], &triple[1], &triple[2], args.parameter_step_size);
        parameters.push(scan.map_err(usage)?);
    }
    let each = |given: &[String], index: usize, what: &str| match given {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        many if many.len() == lines.len() => Ok(Some(many[index].clone())),
        many => Err(usage(format!(
            "--{what} is given {} times for {} commands; give it once, or once for each",
            many.len(),
            lines.len()
        ))),
    };
    let mut contenders = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let prepare = each(&args.prepare, index, "prepare")?;
        let conclude = each(&args.conclude, index, "conclude")?;
        for values in parameters::combinations(&parameters) {
            let filled =
                |text: &Option<String>| text.as_ref().map(|text| parameters::fill(text, &values));
            let line = parameters::fill(line, &values);
            let name = args
                .command_name
                .get(index)
                .map_or_else(|| line.clone(), |name| parameters::fill(name, &values));
            contenders.push(Contender {
                around: Around {
                    setup: filled(&args.setup),
                    prepare: filled(&prepare),
                    conclude: filled(&conclude),
                    cleanup: filled(&args.cleanup),
                },
                ..Contender::ruby(&name, &[&line])
            });
        }
    }
    let mut names: Vec<String> = contenders.iter().map(|one| one.name.clone()).collect();
    executable::made_unique(&mut names);
    for (contender, name) in contenders.iter_mut().zip(names) {
        contender.name = name;
    }
    let job = Job {
        name: "commands".to_owned(),
        work: Work::Command,
        ruby_min: None,
    };
    Ok(Group {
        runner: Runner::Time,
        jobs: vec![job],
        contenders,
        is_comparable: true,
    })
}
