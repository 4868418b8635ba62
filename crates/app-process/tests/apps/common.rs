//! Tiny real apps, and checks for living processes.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use app_process::{CommandLine, Endpoint, Running, Spec, TargetError};
use tempfile::TempDir;

/// Generous time limit: the machine running the tests may be busy.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Server in plain Ruby responding to everything with 404; the first argument is the port.
pub(crate) const SERVER: &str = r#"
require "socket"
server = TCPServer.new("127.0.0.1", Integer(ARGV[0]))
loop do
  client = server.accept
  client.gets
  client.write("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
  client.close
end
"#;

/// A folder with files, and a spec to start a program in the folder.
pub(crate) struct App {
    pub(crate) folder: TempDir,
    pub(crate) spec: Spec,
}

impl App {
    pub(crate) fn new(files: &[(&str, &str)], command: impl Fn(u16) -> CommandLine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let port = free_port();
        let url = Endpoint {
            tls: false,
            host: "127.0.0.1".into(),
            port,
            path: "/".into(),
        };
        let mut spec = Spec::new(command(port), url);
        spec.directory = folder.path().to_owned();
        spec.ready_timeout = LONG;
        spec.log = Some(folder.path().join("app.log"));
        Self { folder, spec }
    }

    /// Returns an app in plain Ruby; the script gets the port as the only argument.
    pub(crate) fn ruby(script: &str) -> Self {
        Self::new(&[("app.rb", script)], |port| {
            argv(&["ruby", "--disable-gems", "app.rb", &port.to_string()])
        })
    }

    pub(crate) fn start(&self) -> Result<Running, TargetError> {
        app_process::start(&self.spec, &AtomicBool::new(false))
    }

    /// Returns the pid written by a script of the app into the file `name`.
    pub(crate) fn pid_in(&self, name: &str) -> u32 {
        wait_for(|| read_pid(&self.folder.path().join(name)), "a pid file")
    }
}

pub(crate) fn argv(words: &[&str]) -> CommandLine {
    CommandLine::Argv(words.iter().map(ToString::to_string).collect())
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

pub(crate) fn error_text(result: Result<Running, TargetError>) -> String {
    match result {
        Ok(_) => panic!("the app started"),
        Err(error) => error.to_string(),
    }
}

/// Whether the process exists and is more than a zombie.
pub(crate) fn lives(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim_start()
            .starts_with('Z')
    })
}

pub(crate) fn wait_for<T>(mut look: impl FnMut() -> Option<T>, what: &str) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

pub(crate) fn read_pid(path: &Path) -> Option<u32> {
    fs::read_to_string(path)
        .ok()?
        .strip_suffix('\n')?
        .parse()
        .ok()
}
