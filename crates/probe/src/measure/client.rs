//! The one who waits for a database: the app's Ruby, where there is one.
//!
//! What waits longer takes longer to wake, since its core falls into deeper sleep, and finds colder
//! caches then. An interpreter has more of them to fill again than a small program: what a
//! binary log adds to a commit was 0.14 ms for a Ruby where a thread of this program saw 0.12 ms.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

const SCRIPT: &str = include_str!("client.rb");
/// Longest wait for a line: Ruby's start, and the lookups of one line.
const DEADLINE: Timespec = Timespec {
    tv_sec: 3,
    tv_nsec: 0,
};

/// An app's Ruby.
#[derive(Clone, Copy, Debug)]
pub(super) struct AppRuby<'a> {
    pub(super) program: &'a str,
    /// Folder of the app, with its Gemfile.
    pub(super) folder: &'a Path,
}

/// A running client; ended on drop.
pub(super) struct Client {
    child: Child,
    lines: BufReader<ChildStdout>,
    answers: ChildStdin,
}

impl AppRuby<'_> {
    /// Starts a client for commits.
    pub(super) fn commits(self) -> io::Result<Client> {
        let mut command = Command::new(self.program);
        command.arg("--disable-gems");
        self.start(&mut command, "commits")
    }

    /// Starts a client connected to a MySQL or MariaDB, with the driver of the app.
    pub(super) fn lookups(self, url: &str) -> io::Result<Client> {
        // What an address asks for beyond host and name, such as TLS or a socket, the script does
        // not know.
        if url.contains('?') {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut command = Command::new(self.program);
        if self.folder.join("Gemfile").exists() {
            command.arg("-rbundler/setup");
        }
        command.env("HAKARU_PROBE_URL", url);
        let mut client = self.start(&mut command, "lookups")?;
        match client.line()?.as_str() {
            "ready" => Ok(client),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn start(self, command: &mut Command, what: &str) -> io::Result<Client> {
        let mut child = command
            .args(["-e", SCRIPT, what])
            .current_dir(self.folder)
            .env_remove("RUBYOPT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let pipes = child.stdout.take().zip(child.stdin.take());
        let (lines, answers) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Client {
            child,
            lines: BufReader::new(lines),
            answers,
        })
    }
}

impl Client {
    /// Returns the next line. The client sends none unasked, so that none is left in the buffer.
    ///
    /// # Errors
    /// When none comes in time, or the client ended.
    pub(super) fn line(&mut self) -> io::Result<String> {
        let mut fds = [PollFd::new(self.lines.get_ref(), PollFlags::IN)];
        if poll(&mut fds, Some(&DEADLINE))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut line = String::new();
        if self.lines.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }

    pub(super) fn send(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.answers, "{line}")
    }

    /// Sends statements; returns the time of all, and of as many times the last one alone, ns.
    pub(super) fn times(&mut self, row: &[String]) -> Option<(f64, f64)> {
        self.send(&row.join("\t")).ok()?;
        let line = self.line().ok()?;
        let (all, again) = line.split_once(' ')?;
        Some((all.parse().ok()?, again.parse().ok()?))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ruby(folder: &Path) -> AppRuby<'_> {
        AppRuby {
            program: "ruby",
            folder,
        }
    }

    #[test]
    fn a_ruby_says_how_long_it_waited() {
        let folder = tempfile::tempdir().unwrap();
        let mut client = ruby(folder.path()).commits().unwrap();
        assert_eq!(client.line().unwrap(), "");
        std::thread::sleep(Duration::from_millis(3));
        client.send("").unwrap();
        let took: f64 = client.line().unwrap().parse().unwrap();
        assert!(took >= 3e6, "{took}");
    }

    #[test]
    fn a_ruby_with_the_driver_of_the_app_looks_rows_up() {
        const VARIABLE: &str = "HAKARU_TEST_MARIADB_URL";
        let url = std::env::var(VARIABLE)
            .unwrap_or_else(|_| panic!("{VARIABLE} is not set; run with cargo xtask with-servers"));
        let folder = tempfile::tempdir().unwrap();
        // The driver would take a socket of its own choice for this name.
        let by_name = url.replace("127.0.0.1", "localhost");
        let mut client = ruby(folder.path()).lookups(&by_name).unwrap();
        let row = ["SELECT SLEEP(0.02)".to_owned(), "SELECT 1".to_owned()];
        let (all, again) = client.times(&row).unwrap();
        assert!(all >= 2e7, "{all}");
        assert!(again > 0.0 && again < all, "{again} {all}");
        assert!(client.times(&["no SQL".to_owned()]).is_none());
        for other in [
            "mysql2://127.0.0.1:1/a",
            &format!("{url}?ssl-mode=required"),
        ] {
            assert!(ruby(folder.path()).lookups(other).is_err(), "{other}");
        }
    }
}
