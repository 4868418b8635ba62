//! Collects facts during the load, on a separate thread, and stores new ones every second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use capture::{
    CoreWatch, DatabaseWatch, ExplainError, HostSampler, ProfileCollector, Rings, WatchTimes,
    Watched, step_back,
};
use guard::{Allowed, Refusal};
use load::Batch;
use recording::format::{Chunk, Summary};
use recording::{HostSample, Meta, Recording, Trouble};
use store::{RunClaim, RunWriter, Store};
use words::text;

use super::facts;
use crate::failure::not_kept;
use crate::lifecycle;
use crate::observer::Context;
use ending::Failure;

/// Batches waiting for the recorder; the load waits when there are more.
const BATCHES_MAX: usize = 64;
/// Interval of reading the rings, short enough for none to fill up.
const POLL: Duration = Duration::from_millis(20);
/// Interval of storing facts and of sampling the host.
const KEEP: Duration = Duration::from_secs(1);
/// After the load: how long records of the last responses may take to appear.
const LAST_RECORDS: Duration = Duration::from_millis(300);

/// What the recorder needs.
pub(crate) struct Start {
    pub(crate) kept: Option<(Store, RunClaim)>,
    pub(crate) meta: Meta,
    pub(crate) rings: Rings,
    pub(crate) app_pids: Vec<u32>,
    /// Port of the app, when on the local host.
    pub(crate) port: Option<u16>,
    pub(crate) database: Vec<u32>,
    /// Address of the app's database, when known before the agent reports one.
    pub(crate) database_url: Option<String>,
    /// Hosts allowed for an app started by Hakaru; `None` for an app running before.
    pub(crate) allowed: Option<Allowed>,
    /// Hosts of databases with permission to connect.
    pub(crate) databases: Vec<String>,
    pub(crate) context: Context,
}

/// Handle on the recording thread.
pub(crate) struct Recorder {
    /// Set when the app uses a database elsewhere, which ends the load.
    refused: Arc<AtomicBool>,
    sender: SyncSender<Batch>,
    thread: JoinHandle<Recorded>,
}

/// Result of the recording thread.
pub(crate) struct Recorded {
    pub(crate) recording: Recording,
    pub(crate) writer: Option<RunWriter>,
    pub(crate) rings: Rings,
    /// Observations of the database; `None` for an unknown address.
    pub(crate) database: Option<Result<Watched, ExplainError>>,
    /// Sampled stacks.
    pub(crate) profile: ProfileCollector,
    pub(crate) troubles: Vec<Trouble>,
    /// Refusal of a database elsewhere, in use by the app and not allowed by name.
    pub(crate) refusal: Option<Refusal>,
}

impl Recorder {
    /// Begins the run in the store and starts the thread.
    pub(crate) fn start(start: Start) -> Result<Recorder, Failure> {
        let mut troubles = Vec::new();
        let writer = start.kept.and_then(|(store, claim)| {
            store
                .begin_claimed(claim, &start.meta)
                .map_err(|error| troubles.push(not_kept(&error)))
                .ok()
        });
        let warmup = Duration::from_nanos(start.meta.load.warmup.0);
        let times = WatchTimes {
            first: warmup,
            last: warmup + Duration::from_nanos(start.meta.load.duration.0),
        };
        let roles = lifecycle::roles(&start.app_pids, &start.database);
        let mut sampler = HostSampler::new(&roles);
        if let Some(port) = start.port {
            sampler.answers_at(port);
        }
        let refused = Arc::new(AtomicBool::new(false));
        let state = State {
            sampler,
            cores: CoreWatch::start(),
            recorded: Recorded {
                recording: Recording::default(),
                writer,
                rings: start.rings,
                database: None,
                profile: ProfileCollector::default(),
                troubles,
                refusal: None,
            },
            allowed: start.allowed,
            refused: Arc::clone(&refused),
            chunk: Chunk::default(),
            database_url: start.database_url,
            databases: start.databases,
            watch: None,
            times,
            context: start.context,
            begin: Instant::now(),
        };
        let (sender, receiver) = sync_channel(BATCHES_MAX);
        let thread = std::thread::Builder::new()
            .name("hakaru-recorder".to_owned())
            .spawn(move || state.record(&receiver))
            .map_err(|error| Failure::failed(format!("cannot start a thread: {error}")))?;
        Ok(Recorder {
            refused,
            sender,
            thread,
        })
    }

    /// Hands over the records of the load.
    pub(crate) fn take(&self, batch: Batch) {
        // The other end goes away only by a panic, which `end` reports.
        let _ = self.sender.send(batch);
    }

    /// Returns whether the app uses a database elsewhere, not allowed by name.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// Ends the recording and returns what there is.
    pub(crate) fn end(self) -> Recorded {
        drop(self.sender);
        match self.thread.join() {
            Ok(recorded) => recorded,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

struct State {
    sampler: HostSampler,
    cores: CoreWatch,
    recorded: Recorded,
    /// Until the agent has reported a database.
    allowed: Option<Allowed>,
    refused: Arc<AtomicBool>,
    chunk: Chunk,
    database_url: Option<String>,
    databases: Vec<String>,
    watch: Option<DatabaseWatch>,
    /// When the database is read, from `begin` on.
    times: WatchTimes,
    begin: Instant,
    context: Context,
}

impl State {
    fn record(mut self, batches: &Receiver<Batch>) -> Recorded {
        step_back();
        let mut kept_at = Instant::now();
        self.sample_host();
        loop {
            match batches.recv_timeout(POLL) {
                Ok(batch) => self.add_batch(batch),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.poll_rings();
            self.check_database();
            self.watch_database();
            if kept_at.elapsed() >= KEEP {
                kept_at += KEEP;
                self.sample_host();
                self.keep();
            }
        }
        self.recorded.database = self.watch.take().map(DatabaseWatch::end);
        self.wait_for_last_records();
        self.sample_host();
        self.keep();
        self.recorded
    }

    /// Ends the load when the database reported by the agent is elsewhere and not allowed.
    fn check_database(&mut self) {
        let Some(url) = self.recorded.rings.database_url() else {
            return;
        };
        let Some(allowed) = self.allowed.take() else {
            return;
        };
        let hosts = guard::remote_hosts(url, &allowed.databases);
        if !hosts.is_empty() {
            self.recorded.refusal = Some(guard::refusal_of_connection(hosts));
            self.refused.store(true, Ordering::Relaxed);
        }
    }

    /// Begins to watch the database as soon as the address is known.
    fn watch_database(&mut self) {
        if self.watch.is_some() || self.recorded.refusal.is_some() {
            return;
        }
        let told = || facts::reported_database(&self.recorded.rings, &self.databases);
        let Some(url) = self.database_url.clone().or_else(told) else {
            return;
        };
        let passed = self.begin.elapsed();
        let times = WatchTimes {
            first: self.times.first.saturating_sub(passed),
            last: self.times.last.saturating_sub(passed),
        };
        // Without a thread there are no facts of the database, which the page then lacks.
        self.watch = DatabaseWatch::start(&url, times).ok();
    }

    fn add_batch(&mut self, batch: Batch) {
        self.chunk.exchanges.extend(batch.exchanges);
        self.chunk.texts.extend(batch.texts);
    }

    fn poll_rings(&mut self) -> usize {
        let polled = self.recorded.rings.poll();
        let count = polled.handled.len();
        self.chunk.handled.extend(polled.handled);
        self.chunk.texts.extend(polled.texts);
        self.chunk.runtime.extend(polled.runtime);
        for (pid, record) in polled.profile {
            self.recorded.profile.add(pid, record);
        }
        count
    }

    /// Waits for the records of the last requests: the app writes a record just after the response.
    fn wait_for_last_records(&mut self) {
        let deadline = Instant::now() + LAST_RECORDS;
        while Instant::now() < deadline {
            self.poll_rings();
            std::thread::sleep(POLL);
        }
        self.recorded.rings.leave();
    }

    fn sample_host(&mut self) {
        match self.sampler.sample() {
            Ok(sample) => self.chunk.host.push(HostSample {
                core_pace: self.cores.pace(),
                ..sample
            }),
            Err(error) => self.trouble(Trouble {
                what: format!("the host could not be watched: {error}"),
                remedy: "run where /proc can be read".to_owned(),
            }),
        }
    }

    /// Commits the chunk. What cannot be kept stays in memory, and the page says so.
    fn keep(&mut self) {
        let chunk = std::mem::take(&mut self.chunk);
        if let Some(writer) = &mut self.recorded.writer
            && let Err(error) = writer.append(&chunk)
        {
            let why = error.to_string();
            (self.context).notice(text!("hakaru: {why}; the run goes on in memory", why));
            self.recorded.writer = None;
            self.trouble(not_kept(&error));
        }
        self.recorded.recording.absorb(chunk);
    }

    fn trouble(&mut self, trouble: Trouble) {
        if !self.recorded.troubles.contains(&trouble) {
            self.recorded.troubles.push(trouble);
        }
    }
}

/// Writes the summary; returns the number of a stored run.
pub(crate) fn finish(
    writer: Option<RunWriter>,
    recording: &mut Recording,
    context: &Context,
) -> Option<i64> {
    let mut writer = writer?;
    let summary = Summary::of(recording);
    let text = |id| Some((id, recording.texts.get(id)?.to_owned()));
    let late = Chunk {
        texts: summary.own_texts().into_iter().filter_map(text).collect(),
        ..Chunk::default()
    };
    match writer.append(&late).and_then(|()| writer.finish(&summary)) {
        Ok(()) => Some(writer.number()),
        Err(error) => {
            context.notice(text!(
                "hakaru: {why}; the run is kept without its summary",
                why = error.to_string()
            ));
            recording.troubles.push(not_kept(&error));
            None
        }
    }
}
