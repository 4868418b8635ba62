//! Puma with and without the agent, on a separate core.

use std::error::Error;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ::load::{Numbered, Plan, run};
use app_process::{Agent, CommandLine, Endpoint, Running, Spec};
use capture::{Rings, step_back, unpack_agent};
use recording::{Exchange, Nanos, Weight, Window};
use scenario::Scenario;

/// Cores: the servers on the first, the load generator and whoever reads the rings on the second.
pub(crate) const SERVER_CORE: usize = 0;
pub(crate) const CLIENT_CORE: usize = 1;

/// A running Puma.
pub(crate) struct App {
    running: Running,
    url: String,
    /// Which requests carry a number.
    pub(crate) numbered: Numbered,
    reader: Option<Reader>,
    _folder: tempfile::TempDir,
}

/// Empties the rings while the app runs, as a run does.
struct Reader {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// What one block measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// CPU of all processes of the server, in microseconds a request.
    pub(crate) cpu_us: f64,
    /// Requests a second.
    pub(crate) rps: f64,
    /// Share of a core in use by the server's processes.
    pub(crate) busy: f64,
}

/// What came of a load.
struct Loaded {
    answered: u64,
    window_s: f64,
    /// Number of halvings of the numbered part of the last requests.
    halvings: u32,
}

/// What runs inside the app.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inside {
    Nothing,
    /// The agent, as in a run without profile.
    Agent,
    /// `crates/agent/examples/floor.rs`, enabled by the given lines of Ruby.
    Floor(&'static str),
    /// The sampler alone, in the given mode at the given rate, as in `hakaru profile`.
    Sampler(&'static str, u32),
}

/// Pins the calling thread and later children to the client's core.
pub(crate) fn stay_on_client_core() -> Result<(), Box<dyn Error>> {
    let mut cores = rustix::thread::CpuSet::new();
    cores.set(CLIENT_CORE);
    Ok(rustix::thread::sched_setaffinity(None, &cores)?)
}

impl App {
    /// Boots Puma with `flags` on the Rack app in `config`, on the servers' core.
    pub(crate) fn boot(
        flags: &[&str],
        config: &str,
        inside: Inside,
    ) -> Result<App, Box<dyn Error>> {
        let core = SERVER_CORE.to_string();
        App::boot_under(&["taskset", "-c", &core, "puma"], flags, config, inside)
    }

    /// Boots Puma under a wrapper command, which ends with Puma's name.
    pub(crate) fn boot_under(
        command: &[&str],
        flags: &[&str],
        config: &str,
        inside: Inside,
    ) -> Result<App, Box<dyn Error>> {
        let folder = tempfile::Builder::new().prefix("hakaru-bench-").tempdir()?;
        let floor = match inside {
            Inside::Floor(lines) => format!("require {:?}\n{lines}\n", floor_library()?),
            _ => String::new(),
        };
        fs::write(folder.path().join("config.ru"), floor + config)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let url = format!("http://127.0.0.1:{port}");
        let words = command.iter().chain(flags).copied();
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        words.extend(["-b", &format!("tcp://127.0.0.1:{port}"), "config.ru"].map(str::to_owned));
        let mut spec = Spec::new(CommandLine::Argv(words), Endpoint::parse(&url)?);
        spec.directory = folder.path().to_owned();
        spec.env = vec![("RACK_ENV".to_owned(), "production".to_owned())];
        let rings = tempfile::Builder::new()
            .prefix("hakaru-bench-rings-")
            .tempdir_in("/dev/shm")?;
        let agent = matches!(inside, Inside::Agent | Inside::Sampler(..));
        if agent {
            let mut env = vec![("HAKARU_RING_DIR".to_owned(), rings.path().into())];
            if let Inside::Sampler(mode, rate) = inside {
                let asked = format!("{mode} {rate} now");
                env.push(("HAKARU_PROFILE".to_owned(), asked.into()));
            }
            spec.agent = Some(Agent {
                library: unpack_agent(&folder.path().join("agent"))?,
                env,
            });
        }
        let running = app_process::start(&spec, &AtomicBool::new(false))?;
        Ok(App {
            running,
            url,
            numbered: Numbered::All,
            reader: agent.then(|| Reader::start(rings)),
            _folder: folder,
        })
    }

    /// Loads the server for `seconds` over `connections` connections.
    pub(crate) fn block(&self, connections: u32, seconds: f64) -> Result<Block, Box<dyn Error>> {
        let before = self.cpu_ns();
        let Loaded {
            answered, window_s, ..
        } = self.load(connections, seconds, self.numbered)?;
        let cpu_ns = self.cpu_ns() - before;
        Ok(Block {
            cpu_us: cpu_ns as f64 / 1e3 / answered as f64,
            rps: answered as f64 / window_s,
            busy: cpu_ns as f64 / 1e9 / window_s,
        })
    }

    /// The same; returns how many requests got a response.
    pub(crate) fn requests(&self, connections: u32, seconds: f64) -> Result<u64, Box<dyn Error>> {
        Ok(self.load(connections, seconds, self.numbered)?.answered)
    }

    /// The server's first process.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.running.pids().first().copied()
    }

    /// Loads the server as a run does, with a numbered part of the requests at high rates; returns
    /// the number of halvings at the end.
    pub(crate) fn halvings(&self, connections: u32, seconds: f64) -> Result<u32, Box<dyn Error>> {
        let as_in_a_run = Numbered::default();
        Ok(self.load(connections, seconds, as_in_a_run)?.halvings)
    }

    fn load(
        &self,
        connections: u32,
        seconds: f64,
        numbered: Numbered,
    ) -> Result<Loaded, Box<dyn Error>> {
        let plan = Plan {
            connections,
            duration: Nanos((seconds * 1e9) as u64),
            drain: Nanos(0),
            numbered,
            ..Plan::default()
        };
        let scenario = Scenario::single(&self.url)?;
        let (mut answered, mut exchanges) = (0, Vec::new());
        let result = run(&plan, &scenario, &AtomicBool::new(false), &mut |batch| {
            let answers = batch.exchanges.iter();
            answered += answers.filter(|exchange| exchange.was_answered()).count() as u64;
            exchanges.extend(batch.exchanges);
        })?;
        if answered == 0 {
            return Err(format!("no request was answered by {}", self.url).into());
        }
        Ok(Loaded {
            answered,
            window_s: result.window.length().as_secs_f64(),
            halvings: halvings(&exchanges, result.window),
        })
    }

    /// Returns the time on a core of all threads, from the scheduler's statistics: nanoseconds,
    /// where `/proc/<pid>/stat` counts ticks of 10 ms.
    fn cpu_ns(&self) -> u64 {
        self.running.pids().into_iter().map(cpu_ns_of).sum()
    }
}

/// Returns the number of halvings of the numbered part, by the requests of the last tenth of a
/// second.
fn halvings(exchanges: &[Exchange], window: Window) -> u32 {
    const LAST: Nanos = Nanos(100_000_000);
    let is_last = |exchange: &&Exchange| window.end.since(exchange.due) <= LAST;
    let weight: Weight = exchanges.iter().filter(is_last).collect();
    weight.each().log2().round() as u32
}

/// Returns the library built by `cargo build --example floor`, beside the running program.
fn floor_library() -> Result<PathBuf, Box<dyn Error>> {
    let library = std::env::current_exe()?.with_file_name("examples/libfloor.so");
    match library.exists() {
        true => Ok(library),
        false => Err(format!(
            "{} is not there: run `cargo xtask bench agent`",
            library.display()
        )
        .into()),
    }
}

fn cpu_ns_of(pid: u32) -> u64 {
    let Ok(tasks) = fs::read_dir(Path::new("/proc").join(pid.to_string()).join("task")) else {
        return 0;
    };
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|text| text.split(' ').next()?.parse::<u64>().ok())
        .sum()
}

impl Reader {
    /// As often as a run does.
    const POLL: Duration = Duration::from_millis(20);

    fn start(folder: tempfile::TempDir) -> Reader {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            step_back();
            let mut rings = Rings::new(folder.path());
            while !seen.load(Ordering::Relaxed) {
                rings.poll();
                std::thread::sleep(Reader::POLL);
            }
        });
        Reader { stop, thread }
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.running.stop();
        if let Some(reader) = self.reader.take() {
            reader.stop.store(true, Ordering::Relaxed);
            let _ = reader.thread.join();
        }
    }
}
