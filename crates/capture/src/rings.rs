//! Reads the agents' rings while the app runs and turns the records into facts.
//!
//! Flow: [`Rings::poll`] looks for new ring files, drains those that are open, and forgets those
//! whose producer is gone. What a record names by hash (texts) may come after it or through another
//! ring, so names are resolved only where facts are read.

mod running;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use recording::{
    Act, ActKind, AgentProcess, Burst, BurstKind, CpuSample, Handled, JitSample, Nanos, Parts,
    RequestId, RuntimeSample, Setting, SqlUse, TextId, Timestamp,
};
use ring::{
    Hello, ProfileRecord, ReadError, Reader, Record, RequestRecord, RuntimeRecord, StandbyError,
    TextKind, TroubleKind,
};

pub(crate) use running::VARIABLE as STANDBY_VARIABLE;
pub use running::standby_folders;
use running::{Running, sentences};

/// Most statements with literals kept: an app whose SQL varies without end has ever new ones, and
/// only the costliest are explained.
const SAMPLES_MAX: usize = 10_000;

/// All rings of a run.
pub struct Rings {
    folder: PathBuf,
    /// The folder there at the start. Another one in its place, by whomever, is not read.
    identity: Option<(u64, u64)>,
    /// Agents of an app started by somebody else record only for a reader.
    running: Option<Running>,
    open: Vec<OpenRing>,
    seen: HashSet<PathBuf>,
    processes: HashMap<u32, Process>,
    samples: HashMap<TextId, String>,
    database_url: Option<String>,
}

struct OpenRing {
    path: PathBuf,
    reader: Reader,
    counted: Counted,
}

/// Totals of one ring, as last read from the header.
#[derive(Clone, Copy, Default)]
struct Counted {
    requests: u64,
    events: u64,
    statements: u64,
    dropped: u64,
}

#[derive(Default)]
struct Process {
    hello: Option<Hello>,
    loaded: String,
    troubles: Vec<(TroubleKind, String)>,
    settings: Vec<Setting>,
    ended: Counted,
}

/// Lets the calling thread give way to the others. Who reads rings has 20 ms to spare; a load
/// generator on the same core has not, and requests that it sends late are capacity that the app
/// seems to lack. Half-way up the scale of niceness, which leaves a tenth of a busy core. Where the
/// system refuses it, all goes on as before.
pub fn step_back() {
    const NICE: i32 = 10;
    // The kernel takes a thread's number for its process's here: niceness is a thread's own on
    // Linux.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
}

/// Facts from one poll.
#[derive(Debug, Default)]
pub struct Polled {
    /// Requests handled since the last poll.
    pub handled: Vec<Handled>,
    /// Texts named by the records.
    pub texts: Vec<(TextId, String)>,
    /// Ruby's counters.
    pub runtime: Vec<RuntimeSample>,
    /// Records of the samplers, each with the process id.
    pub profile: Vec<(u32, ProfileRecord)>,
}

/// Facts about the server, as reported by a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// `ruby_description`.
    pub ruby: String,
    /// Such as `puma 6.6.0`.
    pub server: String,
    /// Configured worker processes, 0 in single mode.
    pub workers: u32,
    /// Most threads of each, 0 when unknown.
    pub threads: u32,
    /// Connections the app's pool may hold, when known.
    pub database_pool: Option<u32>,
}

impl Rings {
    /// Watches `folder`, used by one run alone.
    pub fn new(folder: &Path) -> Rings {
        Rings {
            folder: folder.to_owned(),
            identity: identity(folder),
            running: None,
            open: Vec::new(),
            seen: HashSet::new(),
            processes: HashMap::new(),
            samples: HashMap::new(),
            database_url: None,
        }
    }

    /// Reads the rings of an app started by somebody else, with the agent standing by: from now
    /// on the agents record, until the value is dropped. The folder may be missing yet.
    pub fn of_running(folder: &Path) -> Rings {
        Rings {
            running: Some(Running::new(folder)),
            ..Rings::new(folder)
        }
    }

    /// Ends the recording of agents on standby; nothing is to be polled afterwards.
    pub fn leave(&mut self) {
        if let Some(running) = &mut self.running {
            running.leave();
        }
    }

    /// Returns the folder of the rings of an app started by somebody else, and why nothing was
    /// read there.
    pub fn running(&self) -> Option<(&Path, Option<&StandbyError>)> {
        let running = self.running.as_ref()?;
        Some((&self.folder, running.unread()))
    }

    /// Reads what has come since the last time. To be called often enough that no ring fills up:
    /// every 20 ms leaves room for 20,000 requests a second of 1 KB in one thread's ring.
    pub fn poll(&mut self) -> Polled {
        self.find_new();
        let mut polled = Polled::default();
        let mut open = std::mem::take(&mut self.open);
        open.retain_mut(|ring| {
            // Asked before reading: what was written before the end is then surely read.
            let over = ring.reader.is_closed() || !is_alive(ring.reader.pid());
            self.drain(ring, &mut polled);
            if over {
                self.end(ring);
            }
            !over
        });
        self.open = open;
        polled
    }

    /// Returns each Ruby process's report about itself; cost is the agent's own estimate.
    pub fn processes(&self) -> Vec<AgentProcess> {
        let mut all: Vec<_> = self
            .processes
            .iter()
            .map(|(pid, process)| self.facts(*pid, process))
            .collect();
        all.sort_by_key(|process| process.pid);
        all
    }

    /// Returns what the agents could not do, each sentence once, in alphabetical order.
    pub fn troubles(&self) -> Vec<(TroubleKind, String)> {
        let all = self
            .processes
            .values()
            .flat_map(|process| &process.troubles);
        let mut all: Vec<(TroubleKind, String)> = all.cloned().collect();
        all.sort_by(|a, b| a.1.cmp(&b.1));
        all.dedup_by(|a, b| a.1 == b.1);
        all
    }

    /// Returns the server's facts from the serving processes; `None` before the first request.
    pub fn server(&self) -> Option<ServerFacts> {
        let hello = self
            .processes
            .values()
            .find_map(|process| process.hello.as_ref())?;
        Some(ServerFacts {
            ruby: hello.ruby.clone(),
            server: hello.server.clone(),
            workers: hello.workers,
            threads: hello.threads,
            database_pool: (hello.database_pool > 0).then_some(hello.database_pool),
        })
    }

    /// Returns one statement with literals for each of the first 10,000 digests. For EXPLAIN; not
    /// to be stored.
    pub fn samples(&self) -> &HashMap<TextId, String> {
        &self.samples
    }

    /// The app's database with the password, in the form of the app's driver. Not to be stored.
    pub fn database_url(&self) -> Option<&str> {
        self.database_url.as_deref()
    }

    /// Returns the folder to look into, if still the one from the start.
    fn place(&mut self) -> Option<PathBuf> {
        match &mut self.running {
            Some(running) => running.keep_up(),
            None => (self.identity.is_some() && identity(&self.folder) == self.identity)
                .then(|| self.folder.clone()),
        }
    }

    fn find_new(&mut self) {
        let Some(Ok(entries)) = self.place().map(fs::read_dir) else {
            return;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            match path.extension().and_then(|ending| ending.to_str()) {
                Some("ring") if !self.seen.contains(&path) => self.open_ring(path),
                Some("agent") => self.read_sentences(&path),
                _ => {}
            }
        }
    }

    fn open_ring(&mut self, path: PathBuf) {
        match Reader::open(&path) {
            Ok(reader) => {
                self.seen.insert(path.clone());
                self.open.push(OpenRing {
                    path,
                    reader,
                    counted: Counted::default(),
                });
            }
            Err(ReadError::NotReady) => {}
            Err(error) => {
                let pid = pid_in_name(&path);
                self.seen.insert(path);
                self.trouble(pid, TroubleKind::Other, error.to_string());
            }
        }
    }

    /// The small file beside the rings into which an agent writes what does not go into a ring.
    fn read_sentences(&mut self, path: &Path) {
        let pid = pid_in_name(path);
        let Some(text) = sentences(path) else {
            return;
        };
        for line in text.lines() {
            match line.split_once(": ") {
                Some(("loaded", ruby)) => {
                    self.processes.entry(pid).or_default().loaded = ruby.to_owned();
                }
                _ => {
                    let (kind, sentence) = TroubleKind::of_line(line);
                    self.trouble(pid, kind, sentence.to_owned());
                }
            }
        }
    }

    fn trouble(&mut self, pid: u32, kind: TroubleKind, sentence: String) {
        let troubles = &mut self.processes.entry(pid).or_default().troubles;
        if !troubles.iter().any(|(_, known)| *known == sentence) {
            troubles.push((kind, sentence));
        }
    }

    fn drain(&mut self, ring: &mut OpenRing, polled: &mut Polled) {
        let (pid, tid) = (ring.reader.pid(), ring.reader.tid());
        let result = ring
            .reader
            .drain(|kind, payload| match Record::decode(kind, payload) {
                Some(Record::Request(request)) => {
                    polled.handled.push(handled(&request, pid, tid));
                }
                Some(Record::Text { kind, id, text }) => {
                    self.keep(kind, TextId(id), text, &mut polled.texts);
                }
                Some(Record::Hello(hello)) => {
                    self.processes.entry(pid).or_default().hello = Some(hello);
                }
                Some(Record::Profile(record)) => polled.profile.push((pid, record)),
                Some(Record::Trouble(sentence)) => {
                    self.trouble(pid, TroubleKind::Other, sentence);
                }
                Some(Record::Settings(pairs)) => {
                    let setting = |(name, value)| Setting { name, value };
                    let settings = pairs.into_iter().map(setting).collect();
                    self.processes.entry(pid).or_default().settings = settings;
                }
                Some(Record::Runtime(record)) => polled.runtime.push(runtime(record, pid)),
                None => {
                    let sentence = "wrote a record that cannot be read".to_owned();
                    self.trouble(pid, TroubleKind::Other, sentence);
                }
            });
        if let Err(error) = result {
            self.trouble(pid, TroubleKind::Other, error.to_string());
        }
        let (requests, events, statements) = ring.reader.counts();
        ring.counted = Counted {
            requests,
            events,
            statements,
            dropped: ring.reader.dropped(),
        };
    }

    fn keep(
        &mut self,
        kind: TextKind,
        id: TextId,
        text: String,
        texts: &mut Vec<(TextId, String)>,
    ) {
        match kind {
            TextKind::Sample if self.samples.len() >= SAMPLES_MAX => {}
            TextKind::Sample => {
                self.samples.entry(id).or_insert(text);
            }
            TextKind::Database => self.database_url = Some(text),
            TextKind::Route | TextKind::Digest | TextKind::Site | TextKind::Name => {
                texts.push((id, text));
            }
        }
    }

    fn end(&mut self, ring: &OpenRing) {
        let ended = &mut self.processes.entry(ring.reader.pid()).or_default().ended;
        *ended = ended.plus(ring.counted);
        // The folder is removed as a whole later; removing the file now returns the memory early.
        let _ = fs::remove_file(&ring.path);
    }

    fn facts(&self, pid: u32, process: &Process) -> AgentProcess {
        let counted = self
            .open
            .iter()
            .filter(|ring| ring.reader.pid() == pid)
            .fold(process.ended, |sum, ring| sum.plus(ring.counted));
        let hello = process.hello.clone().unwrap_or_default();
        let cost = counted.requests * u64::from(hello.cost_request_ns)
            + counted.events * u64::from(hello.cost_event_ns)
            + counted.statements * u64::from(hello.cost_statement_ns);
        AgentProcess {
            pid,
            ruby: if hello.ruby.is_empty() {
                process.loaded.clone()
            } else {
                hello.ruby
            },
            server: hello.server,
            gvl: hello.gvl,
            requests: counted.requests,
            dropped: counted.dropped,
            cost: Nanos(cost),
            troubles: (process.troubles.iter())
                .map(|(_, sentence)| sentence.clone())
                .collect(),
            settings: process.settings.clone(),
        }
    }
}

impl Counted {
    fn plus(self, other: Counted) -> Counted {
        Counted {
            requests: self.requests + other.requests,
            events: self.events + other.events,
            statements: self.statements + other.statements,
            dropped: self.dropped + other.dropped,
        }
    }
}

/// Device and inode of a folder.
fn identity(folder: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(folder).ok()?;
    found.is_dir().then(|| (found.dev(), found.ino()))
}

fn is_alive(pid: u32) -> bool {
    i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// Rings are named `PID-NUMBER.ring`, sentences `PID.agent`.
fn pid_in_name(path: &Path) -> u32 {
    path.file_stem()
        .and_then(|stem| stem.to_str())
        .and_then(|stem| stem.split('-').next())
        .and_then(|pid| pid.parse().ok())
        .unwrap_or(0)
}

fn handled(record: &RequestRecord, pid: u32, tid: u32) -> Handled {
    let at = Timestamp::from_monotonic_nanos;
    Handled {
        id: RequestId(record.id),
        pid,
        tid,
        ready: (record.ready > 0).then(|| at(record.ready)),
        start: at(record.start),
        end: at(record.end),
        route: TextId(record.route),
        status: record.status as u16,
        parts: Parts::from_nanos(record.parts),
        cpu: record.sample.map(|[wall, cpu, total, _]| CpuSample {
            running_wall: Nanos(wall),
            running_cpu: Nanos(cpu),
            total_cpu: Nanos(total),
        }),
        allocations: record.sample.map(|[.., allocated]| allocated),
        sql: record.sql.iter().map(sql_use).collect(),
        statements: record.statements,
        bursts: record
            .bursts
            .iter()
            .map(|burst| self::burst(*burst))
            .collect(),
        acts: record.acts.iter().filter_map(act).collect(),
    }
}

const _: () = assert!(recording::BURSTS_MAX == ring::BURSTS_MAX);

fn act(act: &ring::ActRecord) -> Option<Act> {
    Some(Act {
        kind: *ActKind::ALL.get(usize::from(act.kind))?,
        what: TextId(act.what),
        site: TextId(act.site),
        count: act.count,
        time: Nanos(act.time),
    })
}

fn runtime(record: RuntimeRecord, pid: u32) -> RuntimeSample {
    let [gc_count, gc_major, gc_time, heap_live] = record.gc;
    let jit = |[compiled, code_bytes, compile_time, invalidated]: [u64; 4]| JitSample {
        compiled,
        code_bytes,
        compile_time: Nanos(compile_time),
        invalidated,
    };
    RuntimeSample {
        at: Timestamp::from_monotonic_nanos(record.at),
        pid,
        gc_count,
        gc_major,
        gc_time: Nanos(gc_time),
        gc_cause: record.gc_cause,
        heap_live,
        jit: record.jit.map(jit),
        threads_busy: record.server.map(|[busy, _]| busy),
        backlog: record.server.map(|[_, backlog]| backlog),
    }
}

fn sql_use(sql: &ring::SqlRecord) -> SqlUse {
    SqlUse {
        digest: TextId(sql.digest),
        site: TextId(sql.site),
        count: sql.count as u32,
        rows: sql.rows,
        time: Nanos(sql.time),
        gvl_wait: Nanos(sql.gvl_wait),
    }
}

fn burst((kind, nanos): (u8, u64)) -> Burst {
    Burst {
        kind: *BurstKind::ALL
            .get(usize::from(kind))
            .unwrap_or(&BurstKind::OtherIo),
        length: Nanos(nanos),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_with_literals_are_kept_up_to_a_limit() {
        let mut rings = Rings::new(Path::new("/nonexistent"));
        let mut texts = Vec::new();
        for id in 0..SAMPLES_MAX as u64 + 10 {
            let text = format!("SELECT {id}");
            rings.keep(TextKind::Sample, TextId(id), text, &mut texts);
        }
        assert_eq!(rings.samples().len(), SAMPLES_MAX);
        assert_eq!(rings.samples()[&TextId(0)], "SELECT 0");
        assert!(texts.is_empty());
    }
}
