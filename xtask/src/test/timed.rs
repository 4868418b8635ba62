//! CPU time of a command, with all awaited children.

use std::process::Command;
use std::time::{Duration, Instant};

/// Runs the words after the niceness, and prints the times of the shell and of its children as the
/// last two lines of standard output (`times`, POSIX).
const SCRIPT: &str = r#"nice -n "$0" "$@"; code=$?; times; exit $code"#;

/// Wraps a command so that [`split`] finds its CPU time at the end of the output. A greater
/// niceness leaves the cores to the others.
pub(super) fn timed(command: &Command, niceness: u8) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", SCRIPT, &niceness.to_string()]);
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell
}

/// Splits the output of a [`timed`] command into the command's own and the CPU time; `None` for the
/// time where the shell did not get as far.
pub(super) fn split(output: &str) -> (&str, Option<Duration>) {
    let text = output.strip_suffix('\n').unwrap_or(output);
    let Some((before, children)) = text.rsplit_once('\n') else {
        return (output, None);
    };
    let (own, shell) = match before.rsplit_once('\n') {
        Some((own, shell)) => (&output[..own.len() + 1], shell),
        None => ("", before),
    };
    match (sum(shell), sum(children)) {
        (Some(_), Some(cpu)) => (own, Some(cpu)),
        _ => (output, None),
    }
}

/// Prints what a step took, at the end of its [`timed`] output.
pub(super) fn print(step: &str, begin: Instant, output: &str) {
    let (wall, cpu) = (begin.elapsed(), split(output).1.unwrap_or_default());
    let (wall, cpu) = (wall.as_secs_f64(), cpu.as_secs_f64());
    eprintln!("test: {step} took {wall:.0} s, {cpu:.0} s of CPU");
}

/// Parses `1m2.50s 0m0.30s`: user and system.
fn sum(line: &str) -> Option<Duration> {
    let mut words = line.split(' ').map(time);
    let (user, system) = (words.next()??, words.next()??);
    words.next().is_none().then_some(user + system)
}

fn time(word: &str) -> Option<Duration> {
    let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
    let minutes: u64 = minutes.parse().ok()?;
    let seconds: f64 = seconds.parse().ok()?;
    let seconds = Duration::try_from_secs_f64(seconds).ok()?;
    Some(Duration::from_secs(60 * minutes) + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_split_from_the_output() {
        let cpu = Some(Duration::from_millis(62_800));
        let times = "0m0.00s 0m0.01s\n1m2.50s 0m0.300000s\n";
        assert_eq!(split(&format!("a\nb\n{times}")), ("a\nb\n", cpu));
        assert_eq!(split(times), ("", cpu));
        assert_eq!(split("a\nb\n"), ("a\nb\n", None));
        assert_eq!(split("a"), ("a", None));
    }

    #[test]
    fn a_command_keeps_its_words_and_its_code() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo \"$0 $WORD\"; exit 3", "a b"]);
        command.env("WORD", "c");
        let output = timed(&command, 1).output().expect("a shell");
        assert_eq!(output.status.code(), Some(3));
        let text = String::from_utf8_lossy(&output.stdout);
        let (own, cpu) = split(&text);
        assert_eq!(own, "a b c\n");
        assert!(cpu.is_some(), "{text}");
    }
}
