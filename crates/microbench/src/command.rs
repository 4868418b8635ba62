//! Commands as contenders: any program, run directly or by a shell, with preparation and cleanup.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::bench::Missing;
use crate::model::Contender;
use crate::process::{self, Used};
use crate::sample::{Sample, Trial};
use crate::shell_words;

/// Characters with a meaning only in a shell.
const SHELL: &str = "|&;<>()$`*?[]#~{}\n!=";

/// How commands are run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The shell: `None` for the default one where a command needs one, an empty text for none at
    /// all.
    pub shell: Option<String>,
    /// Runs before the first counted one.
    pub warmup: u32,
    /// Whether other exit codes than 0 are all right.
    pub ignores_failure: bool,
    /// Whether commands get the terminal's input and output.
    pub shows_output: bool,
}

/// Runs commands, and knows what a shell costs.
#[derive(Debug)]
pub struct Commands {
    settings: Settings,
    /// Wall and CPU seconds of the shell with nothing to do.
    shells: [Vec<f64>; 2],
    begun: Vec<String>,
}

impl Commands {
    /// Nothing has run yet.
    pub fn new(settings: Settings) -> Commands {
        Commands {
            settings,
            shells: [Vec::new(), Vec::new()],
            begun: Vec::new(),
        }
    }

    /// Runs a command's `setup`, then the command for each warm-up run; at least once, to estimate
    /// the run time.
    pub fn first(
        &mut self,
        contender: &Contender,
        stop: &AtomicBool,
        limit: Duration,
    ) -> Result<Trial, Missing> {
        self.begun.push(contender.name.clone());
        self.aside(contender.around.setup.as_deref(), "setup", stop, limit)?;
        let mut last = None;
        for _ in 0..self.settings.warmup.max(1) {
            last = Some(self.measure(contender, stop, limit)?);
        }
        Ok(Trial {
            startup: last.map_or(0.0, |sample| sample.wall),
            ..Trial::default()
        })
    }

    /// Runs a command once, with `prepare` before and `conclude` behind.
    pub fn measure(
        &mut self,
        contender: &Contender,
        stop: &AtomicBool,
        limit: Duration,
    ) -> Result<Sample, Missing> {
        self.aside(contender.around.prepare.as_deref(), "prepare", stop, limit)?;
        let line = contender.command.first().map_or("", String::as_str);
        let shell = self.shell_for(line);
        let used = self.run(
            line,
            (shell.as_deref(), contender.folder.as_deref()),
            stop,
            limit,
        )?;
        if !used.status.success() && !self.settings.ignores_failure {
            let ending = process::ending(used.status);
            return Err(Missing::Failed(format!(
                "{ending}; --ignore-failure takes it all the same"
            )));
        }
        let mut sample = Sample::default().with_used(&used);
        if let Some(shell) = shell {
            self.take_off(&mut sample, &shell, stop, limit)?;
        }
        self.aside(
            contender.around.conclude.as_deref(),
            "conclude",
            stop,
            limit,
        )?;
        Ok(sample)
    }

    /// Runs each command's `cleanup`; returns what could not be.
    pub fn clean_up(&mut self, contenders: &[Contender], stop: &AtomicBool) -> Vec<String> {
        let begun = std::mem::take(&mut self.begun);
        let of = contenders
            .iter()
            .filter(|contender| begun.contains(&contender.name));
        // Also after Ctrl-C: what was set up is taken down.
        let go_on = AtomicBool::new(false);
        let _ = stop;
        let each = of.filter_map(|contender| {
            let cleanup = contender.around.cleanup.as_deref();
            self.aside(cleanup, "cleanup", &go_on, Duration::from_secs(60))
                .err()
        });
        each.map(|missing| format!("{missing:?}")).collect()
    }

    fn shell_for(&self, line: &str) -> Option<String> {
        match self.settings.shell.as_deref() {
            Some("") => None,
            Some(shell) => Some(shell.to_owned()),
            None => line
                .contains(|letter| SHELL.contains(letter))
                .then(|| "/bin/sh".to_owned()),
        }
    }

    fn run(
        &self,
        line: &str,
        (shell, folder): (Option<&str>, Option<&Path>),
        stop: &AtomicBool,
        limit: Duration,
    ) -> Result<Used, Missing> {
        let words = match shell {
            Some(shell) => [
                shell_words::split(shell),
                vec!["-c".to_owned(), line.to_owned()],
            ]
            .concat(),
            None => shell_words::split(line),
        };
        let (program, arguments) = words
            .split_first()
            .ok_or_else(|| Missing::Failed("the command is empty".to_owned()))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        if !self.settings.shows_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        Ok(process::run(&mut command, None, limit, stop)?)
    }

    /// Runs the shell with nothing to do, beside the command, and takes the median of all such runs
    /// off.
    fn take_off(
        &mut self,
        sample: &mut Sample,
        shell: &str,
        stop: &AtomicBool,
        limit: Duration,
    ) -> Result<(), Missing> {
        let empty = self.run("", (Some(shell), None), stop, limit)?;
        let times = [empty.wall, empty.user + empty.system].map(|time| time.as_secs_f64());
        for (known, time) in self.shells.iter_mut().zip(times) {
            known.push(time);
        }
        let [wall, cpu] = [0, 1].map(|index| stats::median(&self.shells[index]).unwrap_or(0.0));
        sample.overhead = Some(wall);
        sample.wall = (sample.wall - wall).max(1e-6);
        sample.cpu = (sample.cpu - cpu).max(1e-6);
        Ok(())
    }

    /// Runs a command outside of the measurement.
    fn aside(
        &self,
        line: Option<&str>,
        what: &str,
        stop: &AtomicBool,
        limit: Duration,
    ) -> Result<(), Missing> {
        let Some(line) = line else {
            return Ok(());
        };
        let used = self.run(line, (Some("/bin/sh"), None), stop, limit)?;
        if used.status.success() {
            return Ok(());
        }
        let ending = process::ending(used.status);
        Err(Missing::Failed(format!(
            "--{what} `{line}` failed: {ending}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Around;

    const LIMIT: Duration = Duration::from_secs(30);

    fn contender(line: &str, around: Around) -> Contender {
        Contender {
            around,
            ..Contender::ruby("it", &[line])
        }
    }

    #[test]
    fn what_belongs_around_a_command_runs_in_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let line = |word: &str| format!("echo {word} >> {}", log.display());
        let around = Around {
            setup: Some(line("setup")),
            prepare: Some(line("prepare")),
            conclude: Some(line("conclude")),
            cleanup: Some(line("cleanup")),
        };
        let contender = contender(&line("run"), around);
        let mut commands = Commands::new(Settings::default());
        let stop = AtomicBool::new(false);
        commands.first(&contender, &stop, LIMIT).expect("it runs");
        commands.measure(&contender, &stop, LIMIT).expect("it runs");
        assert!(commands.clean_up(&[contender], &stop).is_empty());
        let text = std::fs::read_to_string(&log).expect("a log");
        let words: Vec<&str> = text.lines().collect();
        let once = ["prepare", "run", "conclude"];
        assert_eq!(words, [&["setup"][..], &once, &once, &["cleanup"]].concat());
    }

    #[test]
    fn exit_codes_count_unless_they_are_ignored() {
        let stop = AtomicBool::new(false);
        let contender = contender("false", Around::default());
        let mut commands = Commands::new(Settings::default());
        let missing = commands
            .measure(&contender, &stop, LIMIT)
            .expect_err("it fails");
        assert!(
            matches!(&missing, Missing::Failed(why) if why.starts_with("exit code 1")),
            "{missing:?}"
        );
        let mut commands = Commands::new(Settings {
            ignores_failure: true,
            ..Settings::default()
        });
        assert_eq!(
            commands
                .measure(&contender, &stop, LIMIT)
                .expect("ignored")
                .exit_code,
            1
        );
    }

    #[test]
    fn only_what_needs_a_shell_gets_one() {
        let commands = Commands::new(Settings::default());
        assert_eq!(commands.shell_for("ruby -e 1"), None);
        assert_eq!(commands.shell_for("a | b").as_deref(), Some("/bin/sh"));
        let none = Commands::new(Settings {
            shell: Some(String::new()),
            ..Settings::default()
        });
        assert_eq!(none.shell_for("a | b"), None);
    }
}
