//! Errors of starting and stopping a target, each with a remedy.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use crate::address::Endpoint;
use crate::failure::Cause;

/// Why a target could not be started, reached or prepared.
#[derive(Debug)]
pub enum TargetError {
    /// The URL cannot be used.
    Url {
        /// As given.
        url: String,
        /// Reason for which the URL is refused.
        why: &'static str,
    },
    /// The host of the URL has no address.
    Unresolved {
        /// The URL.
        url: Endpoint,
        /// The resolver's words.
        source: io::Error,
    },
    /// The command is empty.
    NoCommand,
    /// The folder to start in does not exist.
    Directory {
        /// As given.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// Ruby could not load the agent from `path`.
    AgentPath {
        /// The path.
        path: PathBuf,
    },
    /// The log file cannot be written.
    Log {
        /// The path.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// Something listens already where the app should.
    PortTaken {
        /// The address.
        address: SocketAddr,
        /// Holder of the port, where `/proc` names one.
        holder: Option<Holder>,
    },
    /// The program to run does not exist, or may not be run.
    CommandNotFound {
        /// The program.
        program: String,
        /// Folder from which a relative program was looked up.
        directory: PathBuf,
        /// The system's or the shell's words.
        detail: String,
    },
    /// The system refused to start the command.
    Spawn {
        /// The command.
        command: String,
        /// The system's words.
        source: io::Error,
    },
    /// The app ended before becoming ready.
    DiedAtBoot {
        /// The command.
        command: String,
        /// Exit status of the app.
        status: ExitStatus,
        /// Output of the app.
        printed: Box<Printed>,
    },
    /// The app was not ready in time.
    NeverReady {
        /// The command.
        command: String,
        /// The URL.
        url: String,
        /// Time for which readiness was awaited.
        waited: Duration,
        /// State observed when time was up.
        seen: Box<Seen>,
        /// Last lines of the app's output.
        tail: Vec<String>,
    },
    /// The command to run before the measurement failed.
    BeforeFailed {
        /// The command.
        command: String,
        /// Exit status of the command; none when the time limit ended the command.
        status: Option<ExitStatus>,
        /// Time from start to end of the command.
        ran: Duration,
        /// Output of the command.
        printed: Box<Printed>,
    },
    /// An app expected to run already does not respond.
    NotAnswering {
        /// The URL.
        url: Endpoint,
        /// Whether the port is open.
        port_open: bool,
        /// Time for which a response was awaited.
        waited: Duration,
    },
    /// The caller's stop flag was raised.
    Interrupted,
}

/// Output of a failed command, and how to repeat the command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The exception, where the output has one.
    pub cause: Option<Cause>,
    /// The last lines.
    pub tail: Vec<String>,
    /// File with the whole output.
    pub log: Option<PathBuf>,
    /// Shell line to repeat the command, without secrets.
    pub by_hand: String,
}

/// Process holding a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Command line of the process.
    pub command: String,
    /// Whether an earlier run of Hakaru started the process.
    pub ours: bool,
}

/// Observations of an app not ready in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Number of living processes of the app.
    pub processes: usize,
    /// Whether the URL's port took connections.
    pub port_open: bool,
    /// Addresses on which processes of the app listen instead.
    pub listening: Vec<SocketAddr>,
    /// Whether the app reported readiness to `NOTIFY_SOCKET`.
    pub notified: bool,
    /// Last status reported to `NOTIFY_SOCKET`.
    pub status: Option<String>,
}

impl Error for TargetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The sources' words are part of our text already; naming them again would print them
        // twice.
        None
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DiedAtBoot {
                command,
                status,
                printed,
            } => {
                write!(
                    f,
                    "the app died before it was ready: `{command}` ended with {status}{printed}"
                )
            }
            Self::NeverReady {
                command,
                url,
                waited,
                seen,
                tail,
            } => {
                write!(
                    f,
                    "`{command}` was not ready at {url} within {}: {seen}",
                    seconds(*waited)
                )?;
                write_tail(f, tail)?;
                write!(f, "\n{}", seen.remedy())
            }
            Self::BeforeFailed {
                command,
                status,
                ran,
                printed,
            } => match status {
                Some(status) => write!(
                    f,
                    "the `before` command failed: `{command}` ended with {status}{printed}"
                ),
                None => write!(
                    f,
                    "the `before` command `{command}` did not end within {}{printed}",
                    seconds(*ran)
                ),
            },
            Self::PortTaken { address, holder } => port_taken(f, *address, holder.as_ref()),
            Self::NotAnswering {
                url,
                port_open,
                waited,
            } => {
                let what = if *port_open {
                    "takes connections but does not answer"
                } else {
                    "refuses connections"
                };
                write!(
                    f,
                    "{url} {what} (waited {}); start the app first, or mend the url",
                    seconds(*waited)
                )
            }
            Self::Interrupted => f.write_str("interrupted while starting the app"),
            _ => self.fmt_settings(f),
        }
    }
}

/// Returns the nearest usable URL: host and port as given, where both can be made out.
fn as_usable(url: &str) -> String {
    const EXAMPLE: &str = "http://127.0.0.1:9292/";
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let scheme = if scheme == "https" { scheme } else { "http" };
    let usable = format!("{scheme}://{rest}");
    match Endpoint::parse(&usable) {
        Ok(_) => usable,
        Err(_) => EXAMPLE.to_owned(),
    }
}

impl TargetError {
    /// Writes the errors caused by a setting, each in one line.
    fn fmt_settings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url { url, why } => write!(
                f,
                "cannot use the url {url:?}: {why}; write it as {}",
                as_usable(url)
            ),
            Self::Unresolved { url, source } => {
                write!(
                    f,
                    "cannot find the host of {url}: {source}; use an address such as 127.0.0.1"
                )
            }
            Self::NoCommand => {
                f.write_str("the command is empty; give one, such as `puma -t 5:5 config.ru`")
            }
            Self::Directory { path, source } => {
                write!(
                    f,
                    "cannot start the app in {}: {source}; mend its folder",
                    path.display()
                )
            }
            Self::AgentPath { path } => {
                let path = path.display();
                write!(
                    f,
                    "ruby cannot load the agent from {path}: the path must be absolute and without blanks; "
                )?;
                f.write_str("set TMPDIR or XDG_RUNTIME_DIR to a folder without blanks")
            }
            Self::Log { path, source } => {
                let path = path.display();
                write!(
                    f,
                    "cannot write the app's log {path}: {source}; make room or choose another folder"
                )
            }
            Self::CommandNotFound {
                program,
                directory,
                detail,
            } => {
                write!(
                    f,
                    "cannot run {program:?} in {}: {detail}; ",
                    directory.display()
                )?;
                f.write_str("check its spelling, install it, or start it through `bundle exec`")
            }
            Self::Spawn { command, source } => {
                write!(
                    f,
                    "cannot start `{command}`: {source}; try it by hand in the same folder"
                )
            }
            other => unreachable!("{other:?} is told by Display itself"),
        }
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Some(cause) => {
                let lines = cause.message.iter().chain(&cause.frames);
                f.write_str("\nits error:")?;
                lines
                    .into_iter()
                    .try_for_each(|line| write!(f, "\n  {line}"))?;
            }
            None => write_tail(f, &self.tail)?,
        }
        if let Some(log) = &self.log {
            write!(f, "\nall it printed: {}", log.display())?;
        }
        write!(f, "\nto repeat it: {}", self.by_hand)
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alive = match self.processes {
            0 => "no process of it is left".to_owned(),
            1 => "its process is alive".to_owned(),
            n => format!("its {n} processes are alive"),
        };
        let port = if self.port_open {
            "the port takes connections"
        } else {
            "the port is closed"
        };
        write!(f, "{alive}, {port}")?;
        if self.notified {
            f.write_str(", it says it is ready")?;
        } else if self.port_open {
            f.write_str(", no answer came")?;
        }
        if let Some(status) = &self.status {
            write!(f, ", its last status was {status:?}")?;
        }
        if !self.listening.is_empty() {
            let listening: Vec<String> = self.listening.iter().map(ToString::to_string).collect();
            write!(f, "; it listens on {}", listening.join(", "))?;
        }
        Ok(())
    }
}

impl Seen {
    fn remedy(&self) -> &'static str {
        if !self.port_open && !self.listening.is_empty() {
            "set the url to where the app listens, or the app's port to that of the url"
        } else if self.port_open {
            "raise ready_timeout if it boots slowly; otherwise look at what its first request waits for"
        } else {
            "raise ready_timeout if it boots slowly, or set the url to where it listens"
        }
    }
}

fn port_taken(
    f: &mut fmt::Formatter<'_>,
    address: SocketAddr,
    holder: Option<&Holder>,
) -> fmt::Result {
    let port = address.port();
    match holder {
        Some(Holder { pid, command, ours }) => {
            let whose = if *ours {
                ", left over from an earlier run"
            } else {
                ""
            };
            write!(
                f,
                "port {port} is taken: {command:?} (pid {pid}{whose}) listens on {address}; stop it (`kill {pid}`)"
            )?;
        }
        None => write!(
            f,
            "port {port} is taken: something listens on {address}; stop it (`ss -ltnp` names it)"
        )?,
    }
    f.write_str(", or give the app another port in its command and url; to measure what runs there, use --attach")
}

fn write_tail(f: &mut fmt::Formatter<'_>, tail: &[String]) -> fmt::Result {
    if tail.is_empty() {
        return f.write_str("\nit printed nothing");
    }
    f.write_str("\nits last lines:")?;
    tail.iter().try_for_each(|line| write!(f, "\n  {line}"))
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_names_its_holder_and_the_remedy() {
        let holder = Holder {
            pid: 42,
            command: "puma 6".into(),
            ours: true,
        };
        let error = TargetError::PortTaken {
            address: ([127, 0, 0, 1], 80).into(),
            holder: Some(holder),
        };
        assert_eq!(
            error.to_string(),
            "port 80 is taken: \"puma 6\" (pid 42, left over from an earlier run) listens on 127.0.0.1:80; stop it \
             (`kill 42`), or give the app another port in its command and url; to measure what runs there, use --attach"
        );
    }

    #[test]
    fn what_was_seen_is_one_sentence() {
        let seen = Seen {
            processes: 1,
            listening: vec![([0, 0, 0, 0], 9292).into()],
            ..Seen::default()
        };
        assert_eq!(
            seen.to_string(),
            "its process is alive, the port is closed; it listens on 0.0.0.0:9292"
        );
        let seen = Seen {
            processes: 3,
            port_open: true,
            ..Seen::default()
        };
        assert_eq!(
            seen.to_string(),
            "its 3 processes are alive, the port takes connections, no answer came"
        );
    }
}
