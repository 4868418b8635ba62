//! Why a host cannot be used, with what to try next.

use std::fmt::{self, Write};
use std::time::Duration;

use crate::frame::TooLong;

/// A host which cannot be used, or not any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteError {
    /// Name of the host in messages.
    pub host: String,
    /// Address of the host, as `ssh` takes one.
    pub ssh: String,
    /// Why.
    pub why: Why,
}

/// Why a host cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The program `ssh` cannot be started; what the system says.
    NoSsh(String),
    /// A word of the command which shells may read in another way.
    Word(String),
    /// No connection; what `ssh` says.
    Unreachable(String),
    /// The host's key differs from the known one, or none is known.
    HostKey {
        /// Whether another key is known.
        is_changed: bool,
    },
    /// The login was refused; what `ssh` says.
    Refused(String),
    /// `sudo` asks for a password or forbids; the message of `sudo`.
    Sudo(String),
    /// The program does not run there.
    Architecture {
        /// What the host says of itself.
        far: String,
        /// What the program is for.
        program: String,
    },
    /// No folder has room for the program and lets programs run; the folders tried.
    NoFolder(String),
    /// The disk became full while the program was copied.
    DiskFull,
    /// The copy of the program differs from the program.
    Damaged,
    /// The far program speaks another version of the frames.
    Version(u32),
    /// The host did not say or take anything for so long.
    Silent(Duration),
    /// The connection or the far program ended; the last lines on standard error.
    Lost(String),
    /// What came is no frame.
    Frame(TooLong),
    /// A frame of the kind holds something else than the near program expects.
    Content(u8),
}

/// How far a session came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Nothing was heard of the host.
    Nothing,
    /// The shell there.
    Shell,
    /// The program, started by `sudo` where wanted.
    Program,
}

/// What `sudo` only warns of.
const SUDO_WARNS: [&str; 2] = ["unable to resolve host", "setrlimit("];

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&mut Plain(f))
    }
}

/// Passes text on without control characters: what a host says cannot steer the terminal.
struct Plain<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for Plain<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|one| match one.is_control() {
            true => self.0.write_char('?'),
            false => self.0.write_char(one),
        })
    }
}

impl RemoteError {
    fn write(&self, f: &mut impl Write) -> fmt::Result {
        let ssh = &self.ssh;
        write!(f, "host {}: ", self.host)?;
        match &self.why {
            Why::NoSsh(why) => write!(f, "cannot start ssh: {why}; install OpenSSH's client"),
            Why::Word(word) => write!(
                f,
                "{word:?} cannot be an argument there; use letters, digits and -_=/.,:%+@"
            ),
            Why::Unreachable(why) => {
                write!(f, "cannot be reached: {why}; does `ssh {ssh} true` work?")
            }
            Why::HostKey { is_changed: true } => write!(
                f,
                "its key is not the one that is known: another host answers, or it was made anew; if you know why, forget \
                 the old key with `ssh-keygen -R` and log in once with `ssh {ssh}`"
            ),
            Why::HostKey { is_changed: false } => write!(
                f,
                "its key is not known yet; log in once with `ssh {ssh}` and compare it"
            ),
            Why::Refused(why) => write!(
                f,
                "refuses the login: {why}; `ssh -o BatchMode=yes {ssh} true` must work without a question (ssh-add, or \
                 IdentityFile in ~/.ssh/config)"
            ),
            Why::Sudo(why) => write!(
                f,
                "sudo refuses: {why}; allow it without a password there, or leave out `sudo = true`"
            ),
            Why::Architecture { far, program } => write!(
                f,
                "is {far}, and this program is for Linux on {program}; get the program for {far} and name its file with \
                 `program` for this host"
            ),
            Why::NoFolder(tried) => write!(
                f,
                "no folder has room for the program and lets programs run (tried{tried}); make room in one of them"
            ),
            Why::DiskFull => {
                f.write_str("its disk became full while the program was copied; make room in /tmp")
            }
            Why::Damaged => f.write_str(
                "the program arrived damaged; try again, and look at the host's disk and memory",
            ),
            Why::Version(version) => write!(
                f,
                "the program there speaks version {version}, this one {}; use the same release for both",
                crate::VERSION
            ),
            Why::Silent(waited) => write!(
                f,
                "says nothing for {} s; is it overloaded, or its network cut?",
                waited.as_secs()
            ),
            Why::Lost(last) if last.is_empty() => {
                f.write_str("the connection ended, and nothing said why; is the host up?")
            }
            Why::Lost(last) => write!(f, "the connection ended: {last}; is the host up?"),
            Why::Frame(error) => write!(
                f,
                "sent {error}; does something else print on its standard output?"
            ),
            Why::Content(kind) => write!(
                f,
                "sent a frame of kind {kind} that this program does not understand; use the same release for both"
            ),
        }
    }
}

impl std::error::Error for RemoteError {}

impl Why {
    /// Returns the reason for an end of `ssh`, by the output on standard error.
    pub(crate) fn of_ssh(said: &str, reached: Reached) -> Why {
        let has = |words: &str| said.contains(words);
        let line_with = |words: &[&str], but: &[&str]| {
            let mut lines = said.lines().rev().map(str::trim);
            let is_one = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
            lines
                .find(|line| is_one(line, words) && !is_one(line, but))
                .map(str::to_owned)
        };
        // Whom it has let in it does not refuse.
        if let Some(line) =
            line_with(&["sudo: "], &SUDO_WARNS).filter(|_| reached != Reached::Program)
        {
            return Why::Sudo(line);
        }
        if reached == Reached::Nothing {
            if has("HOST IDENTIFICATION HAS CHANGED") {
                return Why::HostKey { is_changed: true };
            }
            if has("Host key verification failed") {
                return Why::HostKey { is_changed: false };
            }
            if let Some(line) = line_with(
                &["Permission denied", "Too many authentication failures"],
                &[],
            ) {
                return Why::Refused(line);
            }
            const AWAY: [&str; 8] = [
                "Could not resolve",
                "Connection refused",
                "timed out",
                "No route to host",
                "Network is unreachable",
                "Connection closed",
                "Connection reset",
                "kex_exchange_identification",
            ];
            if let Some(line) = line_with(&AWAY, &[]) {
                return Why::Unreachable(line);
            }
        }
        let mut lines = said.lines().rev().map(str::trim);
        let last = lines.find(|line| !line.is_empty()).unwrap_or_default();
        Why::Lost(last.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_says_cannot_steer_the_terminal() {
        let error = RemoteError {
            host: "app1".to_owned(),
            ssh: "app1".to_owned(),
            why: Why::of_ssh("\u{1b}]0;title\u{7}gone\u{1b}[2J\n", Reached::Program),
        };
        let expected = "host app1: the connection ended: ?]0;title?gone?[2J; is the host up?";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn what_ssh_says_is_understood() {
        let check =
            |said: &str, expected: Why| assert_eq!(Why::of_ssh(said, Reached::Nothing), expected);
        check(
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\r\n",
            Why::HostKey { is_changed: true },
        );
        check(
            "Host key verification failed.\r\n",
            Why::HostKey { is_changed: false },
        );
        let refused = "isucon@app1: Permission denied (publickey).";
        check(&format!("{refused}\r\n"), Why::Refused(refused.to_owned()));
        let away = "ssh: connect to host app1 port 22: Connection refused";
        check(&format!("{away}\r\n"), Why::Unreachable(away.to_owned()));
        check("", Why::Lost(String::new()));
        check(
            "sudo: a password is required\n",
            Why::Sudo("sudo: a password is required".to_owned()),
        );
        let lost = Why::of_ssh(
            "client_loop: send disconnect: Connection reset\r\n",
            Reached::Shell,
        );
        assert_eq!(
            lost,
            Why::Lost("client_loop: send disconnect: Connection reset".to_owned())
        );
    }

    #[test]
    fn a_warning_of_sudo_is_no_refusal() {
        let warned = "sudo: unable to resolve host app1: Name or service not known\n";
        let reset = "client_loop: send disconnect: Connection reset";
        let said = format!("{warned}{reset}\n");
        for reached in [Reached::Shell, Reached::Program] {
            assert_eq!(Why::of_ssh(&said, reached), Why::Lost(reset.to_owned()));
        }
        let refusal = "sudo: a password is required";
        let refused = Why::of_ssh(&format!("{warned}{refusal}\n"), Reached::Shell);
        assert_eq!(refused, Why::Sudo(refusal.to_owned()));
        // Words of a language that is not known here.
        let warned = format!("sudo: Hostname app1 kann nicht gefunden werden\n{reset}\n");
        let lost = Why::of_ssh(&warned, Reached::Program);
        assert_eq!(lost, Why::Lost(reset.to_owned()));
    }
}
