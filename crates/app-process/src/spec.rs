//! Description of an app to start: command, folder, environment and URL.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::address::Endpoint;
use crate::error::TargetError;
use crate::ready::Ask;

/// Everything [`start`](crate::start) needs to know.
#[derive(Clone, Debug)]
pub struct Spec {
    /// What to run.
    pub command: CommandLine,
    /// Working directory of the command.
    pub directory: PathBuf,
    /// Variables added to Hakaru's own environment, replacing variables of the same name.
    pub env: Vec<(String, String)>,
    /// URL of the app.
    pub url: Endpoint,
    /// Requests a URL of https; by default nothing does, so that such an app is ready only when it
    /// says so on `NOTIFY_SOCKET`.
    pub ask: Ask,
    /// Time limit for becoming ready.
    pub ready_timeout: Duration,
    /// Time limit for stopping after the first signal; then the app is killed.
    pub stop_timeout: Duration,
    /// Agent to load into the app's Ruby processes.
    pub agent: Option<Agent>,
    /// Folders removed by the guard when Hakaru is killed.
    pub remove_when_killed: Vec<PathBuf>,
    /// File for standard output and error, recreated, readable by the owner only.
    pub log: Option<PathBuf>,
}

/// A command as words, or as a line for the shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandLine {
    /// Program and arguments, run without a shell.
    Argv(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

/// Shared object loaded by Ruby at the start.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Absolute path of the library, without blanks: Ruby splits `RUBYOPT` at blanks.
    pub library: PathBuf,
    /// Variables the library reads, such as `HAKARU_RING_DIR`.
    pub env: Vec<(String, OsString)>,
}

impl Spec {
    /// A command answering at a URL: in the current folder, ready within 60 s, stopped within 5 s,
    /// without agent and log file.
    pub fn new(command: CommandLine, url: Endpoint) -> Self {
        Self {
            command,
            directory: PathBuf::from("."),
            env: Vec::new(),
            url,
            ask: |_, _| None,
            ready_timeout: Duration::from_secs(60),
            stop_timeout: Duration::from_secs(5),
            agent: None,
            remove_when_killed: Vec::new(),
            log: None,
        }
    }

    /// The variables to add for the app, the agent's included.
    ///
    /// # Errors
    /// [`TargetError::AgentPath`] when Ruby could not load the agent from its path.
    pub(crate) fn environment(&self) -> Result<Vec<(OsString, OsString)>, TargetError> {
        let mut all: Vec<(OsString, OsString)> = self
            .env
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        if let Some(agent) = &self.agent {
            let inherited = std::env::var_os("RUBYOPT");
            let ours = all
                .iter()
                .rev()
                .find(|(name, _)| name == "RUBYOPT")
                .map(|(_, value)| value.clone());
            let rubyopt = agent.rubyopt(ours.or(inherited).as_deref())?;
            all.push(("RUBYOPT".into(), rubyopt));
            all.extend(
                agent
                    .env
                    .iter()
                    .map(|(name, value)| (name.into(), value.clone())),
            );
        }
        Ok(all)
    }
}

impl Agent {
    /// `-r<library>` before what `RUBYOPT` already holds: the agent must be there before the rest
    /// loads.
    fn rubyopt(&self, existing: Option<&OsStr>) -> Result<OsString, TargetError> {
        let blank = self.library.to_string_lossy().contains(char::is_whitespace);
        if blank || !self.library.is_absolute() {
            return Err(TargetError::AgentPath {
                path: self.library.clone(),
            });
        }
        let mut value = OsString::from("-r");
        value.push(&self.library);
        if let Some(existing) = existing.filter(|text| !text.is_empty()) {
            value.push(" ");
            value.push(existing);
        }
        Ok(value)
    }
}

impl CommandLine {
    /// Program and arguments to execute; none when the command is empty.
    pub(crate) fn words(&self) -> Option<Vec<String>> {
        match self {
            Self::Argv(words) if words.first().is_some_and(|word| !word.is_empty()) => {
                Some(words.clone())
            }
            Self::Argv(_) => None,
            Self::Shell(line) if line.trim().is_empty() => None,
            Self::Shell(line) => Some(vec!["/bin/sh".into(), "-c".into(), shell_script(line)]),
        }
    }

    /// Returns the word naming the program, as far as a reader other than the shell can tell.
    pub(crate) fn program(&self) -> String {
        match self {
            Self::Argv(words) => words.first().cloned().unwrap_or_default(),
            Self::Shell(line) => line
                .split_whitespace()
                .find(|word| !word.contains('=') && *word != "exec")
                .unwrap_or_default()
                .to_owned(),
        }
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argv(words) => {
                let quoted: Vec<_> = words.iter().map(|word| quoted(word)).collect();
                f.write_str(&quoted.join(" "))
            }
            Self::Shell(line) => f.write_str(line.trim()),
        }
    }
}

/// Returns the word quoted for a shell.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:,=+@%~".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) && !word.starts_with('~') {
        true => Cow::Borrowed(word),
        false => Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

/// Puts `exec` before a line with one simple command, for signals to reach the app, not a shell. A
/// line with operators, an assignment or a word of the shell's own is left as it is.
fn shell_script(line: &str) -> String {
    const SHELL_WORDS: [&str; 18] = [
        ".", "cd", "case", "command", "eval", "exec", "exit", "export", "for", "if", "set",
        "source", "trap", "ulimit", "umask", "unset", "until", "while",
    ];
    let line = line.trim();
    let first = line.split_whitespace().next().unwrap_or_default();
    let plain = first
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "./_-+".contains(c));
    let operators = line.contains(|c| ";&|<>(){}`\n".contains(c));
    if plain && !operators && !SHELL_WORDS.contains(&first) {
        format!("exec {line}")
    } else {
        line.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_script(line: &str, expected: &str) {
        assert_eq!(shell_script(line), expected);
    }

    #[test]
    fn exec_is_added_only_where_it_is_right() {
        check_script("puma -t 5:5", "exec puma -t 5:5");
        check_script(" bin/puma 'a b' $PORT ", "exec bin/puma 'a b' $PORT");
        check_script("cd app && puma", "cd app && puma");
        check_script("cd app", "cd app");
        check_script("RACK_ENV=production puma", "RACK_ENV=production puma");
        check_script("exec puma", "exec puma");
        check_script("puma | tee log", "puma | tee log");
        check_script("puma $(cat args)", "puma $(cat args)");
    }

    #[test]
    fn words_are_told_as_a_shell_reads_them() {
        let check = |words: &[&str], expected: &str| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(CommandLine::Argv(words).to_string(), expected);
        };
        check(
            &["puma", "-t", "5:5", "-b", "tcp://[::1]:80"],
            "puma -t 5:5 -b 'tcp://[::1]:80'",
        );
        check(
            &["env", "A=b", "ruby", "-e", "run 'it'"],
            r"env A=b ruby -e 'run '\''it'\'''",
        );
        check(&["", "~", "a~b"], "'' '~' a~b");
    }

    fn check_rubyopt(library: &str, existing: Option<&str>, expected: Option<&str>) {
        let agent = Agent {
            library: library.into(),
            env: Vec::new(),
        };
        let got = agent.rubyopt(existing.map(OsStr::new)).ok();
        assert_eq!(got, expected.map(OsString::from), "{library} {existing:?}");
    }

    #[test]
    fn rubyopt_keeps_what_is_there() {
        check_rubyopt("/a/agent.so", None, Some("-r/a/agent.so"));
        check_rubyopt("/a/agent.so", Some(""), Some("-r/a/agent.so"));
        check_rubyopt(
            "/a/agent.so",
            Some("--yjit -W0"),
            Some("-r/a/agent.so --yjit -W0"),
        );
        check_rubyopt("/a b/agent.so", None, None);
        check_rubyopt("agent.so", None, None);
    }

    #[test]
    fn the_program_is_named_without_what_stands_before_it() {
        assert_eq!(
            CommandLine::Shell("A=1 exec puma -p 1".into()).program(),
            "puma"
        );
        assert_eq!(
            CommandLine::Argv(vec!["puma".into(), "-v".into()]).program(),
            "puma"
        );
        assert_eq!(CommandLine::Argv(Vec::new()).words(), None);
        assert_eq!(CommandLine::Shell("  ".into()).words(), None);
    }
}
