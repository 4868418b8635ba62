//! The machine as a [`Subject`]: runs scripts in Rubies, and programs printing a figure.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::bench::{Cell, Missing, Progress, Subject};
use crate::child;
use crate::command::Commands;
use crate::model::{Contender, Job, Printed, Runner, Script, Work};
use crate::plan::{self, Shape};
use crate::process::{self, Used};
use crate::rubies;
use crate::sample::{Sample, Trial};
use crate::script::{self, HARNESS};

/// Target durations of the last batch of a calibration and of the whole, nanoseconds.
const CALIBRATION_NS: [u64; 2] = [4_000_000, 2_000_000_000];
/// Longest turn of a script evaluated once more for the value.
const VALUE_MAX: Duration = Duration::from_secs(1);

/// Callbacks of who shows and watches.
pub trait Watch {
    /// Says how far the work is.
    fn show(&mut self, progress: Progress);
    /// Returns the duration of a fixed piece of work on the cores since the last call; `None`
    /// without a watch.
    fn pace(&mut self) -> Option<f64>;
}

/// What holds for all processes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What scripts are measured for.
    pub runner: Runner,
    /// Whether the collector runs while scripts are measured.
    pub has_gc: bool,
    /// How long the first process runs equal batches, from which the warm-up is derived.
    pub curve: Duration,
    /// When a process is taken to hang.
    pub limit: Duration,
    /// Settings of commands.
    pub commands: crate::command::Settings,
}

/// Runs cells on the local machine.
pub struct Machine<'a> {
    jobs: &'a [Job],
    contenders: &'a [Contender],
    settings: Settings,
    stop: &'a AtomicBool,
    watch: &'a mut dyn Watch,
    folder: TempDir,
    begin: Instant,
    commands: Commands,
}

impl<'a> Machine<'a> {
    /// Makes a private folder for generated programs.
    pub fn new(
        (jobs, contenders): (&'a [Job], &'a [Contender]),
        settings: Settings,
        stop: &'a AtomicBool,
        watch: &'a mut dyn Watch,
    ) -> io::Result<Machine<'a>> {
        let folder = tempfile::Builder::new().prefix("hakaru-bench").tempdir()?;
        fs::write(folder.path().join("harness.rb"), HARNESS)?;
        Ok(Machine {
            jobs,
            contenders,
            commands: Commands::new(settings.commands.clone()),
            settings,
            stop,
            watch,
            folder,
            begin: Instant::now(),
        })
    }

    /// Runs what belongs behind the last measurement.
    pub fn clean_up(&mut self) -> Vec<String> {
        self.commands.clean_up(self.contenders, self.stop)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(
        &self,
        cell: Cell,
        script: &Script,
        settings: &str,
    ) -> Result<(child::Child, Used), Missing> {
        let contender = &self.contenders[cell.contender];
        let failed = |error: io::Error| Missing::Failed(error.to_string());
        let program =
            script::generate(contender, script, self.settings.runner).map_err(Missing::Failed)?;
        let path = self.path(&format!("job{}-{}.rb", cell.job, cell.contender));
        fs::write(&path, program).map_err(failed)?;
        let out = self.path("out");
        let _ = fs::remove_file(&out);
        let mut errors = scratch(&self.path("errors")).map_err(failed)?;
        let gc = u8::from(self.settings.has_gc);
        let mut command = ruby(contender);
        command
            .arg(format!("-r{}", self.path("harness.rb").display()))
            .arg(&path)
            .env(
                "HAKARU_BENCH",
                format!("out={};gc={gc};{settings}", out.display()),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let used = process::run(&mut command, Some(&errors), self.settings.limit, self.stop)?;
        if !used.status.success() {
            let words = process::last_words(&mut errors);
            let ending = process::ending(used.status);
            return Err(Missing::Failed(if words.is_empty() {
                ending
            } else {
                without_path(&words, &path)
            }));
        }
        let text = fs::read_to_string(&out).unwrap_or_default();
        let child = child::read(&text)
            .ok_or_else(|| Missing::Failed("the script ended the process (exit)".to_owned()))?;
        Ok((child, used))
    }

    fn first_script(&self, cell: Cell, script: &Script) -> Result<Trial, Missing> {
        let shape = plan::first_shape(script, self.settings.runner);
        let [target, limit] = CALIBRATION_NS;
        let settings = format!(
            "turns={};target={target};limit={limit};warm={};warm_limit={};batches={};empty={};look=1;value=0",
            shape.turns,
            shape.warm,
            self.settings.curve.as_nanos(),
            shape.batches,
            u8::from(shape.has_empty)
        );
        let (child, used) = self.script(cell, script, &settings)?;
        let mut trial = Trial::of(&child, used.began_ns);
        if trial.turn < VALUE_MAX.as_secs_f64() {
            // In a process of its own, so that what it does to the data is in no measurement.
            let settings = "turns=1;batches=1;empty=0;look=1;value=1";
            trial.value = self
                .script(cell, script, settings)
                .ok()
                .and_then(|(child, _)| child.value);
        }
        Ok(trial)
    }

    fn measure_script(&self, cell: Cell, script: &Script, shape: Shape) -> Result<Sample, Missing> {
        let settings = format!(
            "turns={};warm={};batches={};empty={}",
            shape.turns,
            shape.warm,
            shape.batches,
            u8::from(shape.has_empty)
        );
        let (child, used) = self.script(cell, script, &settings)?;
        let sample = match self.settings.runner {
            // The loop's cost does not matter for memory.
            Runner::Memory => Sample::of(&child).or_else(|| Some(Sample::default())),
            _ => Sample::of(&child),
        };
        let sample = sample.ok_or(Missing::TooSmall)?;
        let startup = child.ready_ns.saturating_sub(used.began_ns) as f64 / 1e9;
        Ok(Sample {
            startup,
            ..sample.with_used(&used)
        })
    }

    fn printed(&self, cell: Cell, printed: &Printed) -> Result<Sample, Missing> {
        let contender = &self.contenders[cell.contender];
        let failed = |error: io::Error| Missing::Failed(error.to_string());
        let mut errors = scratch(&self.path("errors")).map_err(failed)?;
        let output = self.path("stdout");
        let mut command = if printed.has_ruby {
            ruby(contender)
        } else {
            Command::new(printed.command.first().map_or("", String::as_str))
        };
        let skipped = usize::from(!printed.has_ruby);
        command
            .args(printed.command.iter().skip(skipped))
            .env("PATH", path_with(contender))
            .stdin(Stdio::null())
            .stdout(scratch(&output).map_err(failed)?);
        let base = contender.folder.clone().unwrap_or_default();
        let folder = base.join(&printed.folder);
        if !folder.as_os_str().is_empty() {
            command.current_dir(folder);
        }
        let used = process::run(&mut command, Some(&errors), self.settings.limit, self.stop)?;
        if !used.status.success() {
            let words = process::last_words(&mut errors);
            return Err(Missing::Failed(format!(
                "{}: {words}",
                process::ending(used.status)
            )));
        }
        let figure = self.evaluated(contender, &output, &printed.figure)?;
        let value = figure
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|value| *value > 0.0);
        let value = value.ok_or_else(|| {
            Missing::Failed(format!(
                "its output has no figure above zero: `{}` gives {figure:?}",
                printed.figure.trim()
            ))
        })?;
        let sample = Sample {
            printed: Some(value),
            ..Sample::default()
        };
        Ok(sample.with_used(&used))
    }

    fn first_printed(&self, cell: Cell, printed: &Printed) -> Result<Trial, Missing> {
        let sample = self.printed(cell, printed)?;
        let contender = &self.contenders[cell.contender];
        let mut environment = Vec::new();
        for (name, code) in &printed.environment {
            let told = self.evaluated(contender, &self.path("stdout"), code);
            let told = told.map_err(|missing| match missing {
                Missing::Failed(why) => Missing::Failed(format!("environment {name}: {why}")),
                other => other,
            })?;
            environment.push((name.clone(), told.trim().to_owned()));
        }
        Ok(Trial {
            startup: sample.wall,
            environment,
            ..Trial::default()
        })
    }

    /// What Ruby code makes of a program's output.
    fn evaluated(
        &self,
        contender: &Contender,
        output: &Path,
        code: &str,
    ) -> Result<String, Missing> {
        let program =
            format!("stdout = File.read(ARGV.first)\nFile.write(ARGV.last, (\n{code}\n).to_s)");
        let result = self.path("figure");
        let failed = |error: io::Error| Missing::Failed(error.to_string());
        let mut errors = scratch(&self.path("errors")).map_err(failed)?;
        let mut command = Command::new(&contender.command[0]);
        command
            .arg("-e")
            .arg(program)
            .arg(output)
            .arg(&result)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let used = process::run(&mut command, Some(&errors), self.settings.limit, self.stop)?;
        if !used.status.success() {
            return Err(Missing::Failed(process::last_words(&mut errors)));
        }
        fs::read_to_string(&result).map_err(failed)
    }

    /// The version of a contender's Ruby is asked only where a job demands one.
    fn check_version(&self, cell: Cell) -> Result<(), Missing> {
        let Some(least) = &self.jobs[cell.job].ruby_min else {
            return Ok(());
        };
        let output = self.path("version");
        let empty = scratch(&output).map_err(|error| Missing::Failed(error.to_string()))?;
        drop(empty);
        let version = self.evaluated(&self.contenders[cell.contender], &output, "RUBY_VERSION")?;
        if rubies::numbers(&version) < rubies::numbers(least) {
            return Err(Missing::Skipped(format!(
                "asks for Ruby {least}; this is {version}"
            )));
        }
        Ok(())
    }
}

impl Subject for Machine<'_> {
    fn first(&mut self, cell: Cell) -> Result<Trial, Missing> {
        self.check_version(cell)?;
        let trial = match &self.jobs[cell.job].work {
            Work::Script(script) => self.first_script(cell, script),
            Work::Printed(printed) => self.first_printed(cell, printed),
            Work::Command => self.commands.first(
                &self.contenders[cell.contender],
                self.stop,
                self.settings.limit,
            ),
        };
        self.watch.pace();
        trial
    }

    fn measure(&mut self, cell: Cell, shape: Shape) -> Result<Sample, Missing> {
        let sample = match &self.jobs[cell.job].work {
            Work::Script(script) => self.measure_script(cell, script, shape),
            Work::Printed(printed) => self.printed(cell, printed),
            Work::Command => self.commands.measure(
                &self.contenders[cell.contender],
                self.stop,
                self.settings.limit,
            ),
        };
        let pace = self.watch.pace();
        sample.map(|sample| Sample { pace, ..sample })
    }

    fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    fn show(&mut self, progress: Progress) {
        self.watch.show(progress);
    }
}

fn ruby(contender: &Contender) -> Command {
    let mut command = Command::new(&contender.command[0]);
    command.args(&contender.command[1..]);
    if let Some(folder) = &contender.folder {
        command.current_dir(folder);
    }
    command
}

fn path_with(contender: &Contender) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    match Path::new(&contender.command[0]).parent() {
        Some(folder) => format!("{}:{path}", folder.display()),
        None => path,
    }
}

/// Returns an empty file, to be written by a process and read by the caller.
fn scratch(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
}

/// The generated program's and the harness' names say nothing to who wrote the script.
fn without_path(words: &str, path: &Path) -> String {
    match words.split_once("harness.rb:") {
        Some((_, rest)) => rest
            .split_once("': ")
            .map_or(rest, |(_, message)| message)
            .to_owned(),
        None => words.replace(&format!("{}:", path.display()), "line "),
    }
}
