//! Runs the real program in a new project folder.
//!
//! Every process of a test carries [`MARK`] in its environment, so that a survivor is found however
//! far it has gone from its parents.

mod ended;
mod full_disk;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

pub(crate) use ended::Ended;
pub(crate) use full_disk::FullDisk;

/// A generous limit for waits: the machine may be busy with other tests.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// An app with an immediate response.
pub(crate) const HELLO: &str = "run ->(env) { [200, {}, [\"hello\"]] }\n";

/// Ruby lines before an app's own: `served(50)` creates a file of the name when 50 requests have
/// been handled.
pub(crate) const COUNTING: &str = r#"
$mutex, $served = Mutex.new, 0
def served(wanted)
  $mutex.synchronize { File.write("served", "") if ($served += 1) == wanted }
end
"#;

const MARK: &str = "HAKARU_TEST_MARK";

/// A folder with an app and a `hakaru.toml`, on a free port.
pub(crate) struct Project {
    folder: TempDir,
    /// The project itself, which a test may put elsewhere.
    pub(crate) path: PathBuf,
    pub(crate) port: u16,
    mark: String,
}

/// A `hakaru` at work.
pub(crate) struct Going {
    shown: String,
    child: Child,
    path: PathBuf,
    mark: String,
}

impl Project {
    /// A Rack app on Puma with two threads, loaded over two connections for a second.
    pub(crate) fn new(rackup: &str) -> Project {
        Project::with_puma("-t 2:2", rackup)
    }

    /// A project with other options for Puma.
    pub(crate) fn with_puma(options: &str, rackup: &str) -> Project {
        let project = Project::empty();
        project.write("config.ru", rackup);
        let command = project.puma(options);
        project.configure(&format!("command = '{command}'"), "");
        project
    }

    /// An empty folder.
    pub(crate) fn empty() -> Project {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("project");
        for made in [&path, &folder.path().join("tmp")] {
            fs::create_dir(made).expect("a folder");
        }
        Project {
            path,
            folder,
            port: free_port(),
            mark: format!("{}-{count}", std::process::id()),
        }
    }

    /// Puma's command line for the project.
    pub(crate) fn puma(&self, options: &str) -> String {
        format!(
            "puma -q {options} -b tcp://127.0.0.1:{} config.ru",
            self.port
        )
    }

    /// Writes `hakaru.toml`: lines under `[target]`, then a `[load]` section and `rest`, or `rest`
    /// alone if there is a `[load]` section in `rest`.
    pub(crate) fn configure(&self, target: &str, rest: &str) {
        let load = if rest.contains("[load]") {
            ""
        } else {
            "[load]\nconnections = 2\nduration = '1s'\nwarmup = '0s'\n"
        };
        let stop = if target.contains("stop_timeout") {
            ""
        } else {
            "stop_timeout = '4s'\n"
        };
        let url = format!("http://127.0.0.1:{}/", self.port);
        self.write(
            "hakaru.toml",
            &format!("[target]\nurl = '{url}'\n{stop}{target}\n{load}{rest}\n"),
        );
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path.join(name), text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).expect("a file")
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    /// Waits until the app has created the file.
    pub(crate) fn wait_for(&self, name: &str) {
        wait_until(&format!("the file {name}"), || self.has(name));
    }

    /// Command of `hakaru` with the arguments, not started yet.
    pub(crate) fn hakaru(&self, arguments: &[&str]) -> Command {
        self.command(&[&[env!("CARGO_BIN_EXE_hakaru")], arguments].concat())
    }

    /// Any command in the project, marked as the test's own.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .current_dir(&self.path)
            .env(MARK, &self.mark)
            .env("TMPDIR", self.tmp())
            .env_remove("RUBYOPT")
            .env_remove("DATABASE_URL")
            .stdin(Stdio::null());
        command
    }

    /// The folder for temporary files of the project's commands.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Runs `hakaru run` to the end.
    pub(crate) fn run(&self) -> Ended {
        self.end(&["run", "--full"])
    }

    /// Runs `hakaru` with the arguments to the end, and asserts the absence of processes left
    /// behind.
    pub(crate) fn end(&self, arguments: &[&str]) -> Ended {
        self.start(arguments).end()
    }

    /// Starts `hakaru` with the arguments.
    pub(crate) fn start(&self, arguments: &[&str]) -> Going {
        self.go(self.hakaru(arguments))
    }

    /// Starts a command of the project.
    pub(crate) fn go(&self, mut command: Command) -> Going {
        let shown = format!("{command:?}");
        // A group of its own: a Ctrl-C for the tests must not look like one for the program.
        let child = command
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{shown}: {error}"));
        Going {
            shown,
            child,
            path: self.path.clone(),
            mark: self.mark.clone(),
        }
    }

    /// The stored run as JSON; the report must succeed.
    pub(crate) fn report(&self) -> serde_json::Value {
        let ended = self.end(&["report", "--json"]);
        ended.check(0, &[]);
        ended.json()
    }

    /// Whether `hakaru report` finds at least one measured request.
    pub(crate) fn has_recording(&self) -> bool {
        let output = self
            .hakaru(&["report", "--json"])
            .output()
            .expect("a report");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        json["requests"].as_u64().unwrap_or(0) > 0
    }

    /// Temporary files of the project's commands, with the agent's folder among the files.
    pub(crate) fn temporary(&self) -> Vec<PathBuf> {
        files_in(&self.tmp())
    }

    /// Command lines of all living processes of the test.
    pub(crate) fn survivors(&self) -> Vec<String> {
        marked(&self.mark)
    }
}

impl Going {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to `hakaru` alone, as the terminal does: the app is in another group.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).expect("a process id");
        kill_process(pid, signal).expect("a signal");
    }

    /// Closes standard output, in the manner of a reader with enough.
    pub(crate) fn close_stdout(&mut self) {
        self.child.stdout = None;
    }

    /// Waits for the end of the command, and asserts the absence of processes and temporary files
    /// left behind.
    pub(crate) fn end(self) -> Ended {
        let mark = self.mark.clone();
        let tmp = self.path.with_file_name("tmp");
        let ended = self.end_with_others();
        let left = marked(&mark);
        assert!(left.is_empty(), "still running: {left:#?}\n{ended}");
        let forgotten = files_in(&tmp);
        assert!(forgotten.is_empty(), "not removed: {forgotten:?}\n{ended}");
        ended
    }

    /// Waits for the end of the command while other processes of the test continue.
    pub(crate) fn end_with_others(self) -> Ended {
        Ended::of(self.child, self.shown, &self.path)
    }
}

/// Kills `hakaru` and the app after a failed test.
impl Drop for Project {
    fn drop(&mut self) {
        for pid in pids_marked(&self.mark) {
            let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
        }
    }
}

/// A free port.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Whether somebody listens there.
pub(crate) fn answers(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// Polls until `look` returns true.
pub(crate) fn wait_until(what: &str, mut look: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !look() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| entry.path()).collect()
}

fn marked(mark: &str) -> Vec<String> {
    pids_marked(mark)
        .into_iter()
        .map(|pid| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            format!(
                "{pid}: {}",
                String::from_utf8_lossy(&words).replace('\0', " ")
            )
        })
        .collect()
}

fn pids_marked(mark: &str) -> Vec<i32> {
    let wanted = format!("{MARK}={mark}");
    let is_ours = |pid: &i32| {
        // A zombie has no environment any more, so it does not count.
        fs::read(Path::new("/proc").join(pid.to_string()).join("environ")).is_ok_and(|all| {
            all.split(|byte| *byte == 0)
                .any(|pair| pair == wanted.as_bytes())
        })
    };
    fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(is_ours)
        .collect()
}
