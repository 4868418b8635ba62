//! State of a process: whether the agent is on, where rings are created, and the number of forks.

use std::path::PathBuf;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64};
use std::sync::{Mutex, OnceLock};

use crate::reader;

/// Settings from the environment given to the app.
pub(crate) struct Settings {
    /// Folder for rings, watched by capture.
    pub(crate) folder: PathBuf,
    /// Size of each ring.
    pub(crate) ring_bytes: usize,
    /// Folder of the app's own source files.
    pub(crate) app_root: String,
    /// Whether the Ruby has GVL events.
    pub(crate) gvl: bool,
}

/// KiB of a ring by default: half a second of 2,000 requests a second of 400 bytes; five threads
/// stay far below a container's usual 64 MB of `/dev/shm`.
const RING_KIB_DEFAULT: usize = 512;

/// Most rings of a process; the requests of further threads are counted as dropped.
const RINGS_MAX: u32 = 512;

/// Most sentences kept for the next reader.
const SENTENCES_MAX: usize = 16;

static SETTINGS: OnceLock<Settings> = OnceLock::new();
/// Rings there are, and rings ever made, by whose number the next one is named.
static RINGS: AtomicU32 = AtomicU32::new(0);
static RINGS_MADE: AtomicU32 = AtomicU32::new(0);
/// Sentences of a process on standby, for each reader.
static SENTENCES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// State read by every request and event, on one cache line: in between, the app has had the
/// caches.
#[repr(align(64))]
struct Hot {
    off: AtomicBool,
    /// Whether nothing is recorded until a reader comes.
    standby: AtomicBool,
    /// True while the agent measures the agent's cost, with nothing written.
    dry: AtomicBool,
    /// Whether the client numbers only some of the requests.
    thinned: AtomicBool,
    /// Hooks live on in children, where none may be added.
    hooked: AtomicBool,
    /// Key of the per-thread storage of Ruby ≥ 3.3, −1 without.
    key: AtomicI32,
    /// Number of forks from the process with the agent's start down to the current one.
    generation: AtomicU32,
    /// Generation of the last process with a recorded request, plus one, and the reader's number
    /// in the low half.
    armed: AtomicU64,
    /// Collections so far; what is known about a frame's address holds until the next one.
    collections: AtomicU64,
    /// Time of the next report of the counters, monotonic nanoseconds.
    counters_at: AtomicU64,
}

static HOT: Hot = Hot {
    off: AtomicBool::new(false),
    standby: AtomicBool::new(false),
    dry: AtomicBool::new(false),
    thinned: AtomicBool::new(false),
    hooked: AtomicBool::new(false),
    key: AtomicI32::new(-1),
    generation: AtomicU32::new(0),
    armed: AtomicU64::new(0),
    collections: AtomicU64::new(0),
    counters_at: AtomicU64::new(0),
};

/// Between two tellings of the counters.
const COUNTERS_EVERY_NS: u64 = 1_000_000_000;

/// Reads the settings; `false` when the program did not ask for the agent.
pub(crate) fn read_settings(gvl: bool) -> bool {
    let of_a_run = std::env::var_os("HAKARU_RING_DIR");
    let standby = of_a_run.is_none();
    let Some(folder) = of_a_run.or_else(|| std::env::var_os("HAKARU_STANDBY")) else {
        return false;
    };
    HOT.standby.store(standby, Relaxed);
    let ring_kib = std::env::var("HAKARU_RING_KIB")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(RING_KIB_DEFAULT);
    SETTINGS
        .set(Settings {
            folder: folder.into(),
            ring_bytes: ring_kib << 10,
            app_root: std::env::var("HAKARU_APP_ROOT")
                .ok()
                .or_else(|| standby.then(app_folder).flatten())
                .unwrap_or_default(),
            gvl,
        })
        .is_ok()
}

/// The working directory, if a file there is an app's: `ruby/facts.rb` judges in the same way.
fn app_folder() -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    let is_apps = ["config.ru", "Gemfile"]
        .iter()
        .any(|name| folder.join(name).exists());
    is_apps.then(|| folder.to_string_lossy().into_owned())
}

/// The settings, once read.
pub(crate) fn settings() -> Option<&'static Settings> {
    SETTINGS.get()
}

/// Whether anything is to be done at all.
pub(crate) fn is_on() -> bool {
    !HOT.off.load(Relaxed)
}

/// Whether nothing is recorded until a reader comes.
pub(crate) fn stands_by() -> bool {
    HOT.standby.load(Relaxed)
}

/// Turns the agent off for the rest of the process.
pub(crate) fn turn_off() {
    HOT.off.store(true, Relaxed);
}

/// Whether the agent measures itself just now.
pub(crate) fn is_dry() -> bool {
    HOT.dry.load(Relaxed)
}

/// Whether the request numbered `id` is to be recorded. One without a number is another client's,
/// or one left out by the load generator; the numbers of the requests around say which.
pub(crate) fn is_wanted(id: u64) -> bool {
    let thinned = HOT.thinned.load(Relaxed);
    if id == 0 {
        // The next reader's load may number all requests, or none; without a reader, threads have
        // rings to give up.
        return !thinned || (stands_by() && !(is_armed() && reader::is_there()));
    }
    let thins = id & crate::route::THINNED != 0;
    if thins != thinned {
        HOT.thinned.store(thins, Relaxed);
    }
    true
}

/// Starts or ends the agent's measuring of itself.
pub(crate) fn set_dry(dry: bool) {
    HOT.dry.store(dry, Relaxed);
}

/// Returns the number of forks before the process; state from another generation belongs to the
/// parent.
pub(crate) fn generation() -> u32 {
    HOT.generation.load(Relaxed)
}

/// Resets the state in a forked child, on the child's only thread.
pub(crate) extern "C" fn after_fork_in_child() {
    HOT.generation.fetch_add(1, AcqRel);
    RINGS.store(0, Release);
    RINGS_MADE.store(0, Release);
    HOT.counters_at.store(0, Relaxed);
    HOT.dry.store(false, Relaxed);
}

/// Returns `true` once per process and reader, on the first request to be recorded.
pub(crate) fn arm() -> bool {
    let this = to_be_armed();
    let is_first = HOT.armed.load(Relaxed) != this && HOT.armed.swap(this, AcqRel) != this;
    if is_first && stands_by() {
        HOT.thinned.store(false, Relaxed);
        HOT.counters_at.store(0, Relaxed);
        tell_sentences();
    }
    is_first
}

fn is_armed() -> bool {
    HOT.armed.load(Relaxed) == to_be_armed()
}

fn to_be_armed() -> u64 {
    u64::from(generation() + 1) << 32 | u64::from(reader::epoch())
}

/// Returns `true` once for a process and all of the descendants.
pub(crate) fn may_hook() -> bool {
    !HOT.hooked.swap(true, AcqRel)
}

/// Returns the number of the process's next ring, while there are fewer than [`RINGS_MAX`].
pub(crate) fn next_ring() -> Option<u32> {
    if RINGS.fetch_add(1, AcqRel) >= RINGS_MAX {
        give_ring_back();
        return None;
    }
    Some(RINGS_MADE.fetch_add(1, AcqRel))
}

/// A ring is gone, or could not be made.
pub(crate) fn give_ring_back() {
    RINGS.fetch_sub(1, AcqRel);
}

/// The key of the per-thread storage.
pub(crate) fn key() -> Option<i32> {
    let key = HOT.key.load(Acquire);
    (key >= 0).then_some(key)
}

/// Stores the key. Ruby gives out a ninth of eight (its check is off by one), which would overrun.
pub(crate) fn set_key(key: i32) {
    const KEYS_MAX: i32 = 8;
    if key < KEYS_MAX {
        HOT.key.store(key, Release);
    }
}

/// A collection has begun.
pub(crate) fn count_collection() {
    HOT.collections.fetch_add(1, Relaxed);
}

/// Collections so far.
pub(crate) fn collections() -> u64 {
    HOT.collections.load(Relaxed)
}

/// `true` once a second, for one thread.
pub(crate) fn counters_are_due(now: u64) -> bool {
    let at = HOT.counters_at.load(Relaxed);
    let next = now + COUNTERS_EVERY_NS;
    now >= at
        && !is_dry()
        && HOT
            .counters_at
            .compare_exchange(at, next, Relaxed, Relaxed)
            .is_ok()
}

/// Appends a sentence to a file of the process beside the rings, for capture. A process that stands
/// by keeps its sentences, for each reader to come. Failure to do even that is silent: there is
/// nowhere to report it.
pub(crate) fn complain(sentence: &str) {
    if !stands_by() {
        write_sentence(sentence);
        return;
    }
    // Never waiting: a fork may have left the lock closed.
    if let Ok(mut sentences) = SENTENCES.try_lock()
        && sentences.len() < SENTENCES_MAX
        && !sentences.iter().any(|known| known == sentence)
    {
        sentences.push(sentence.to_owned());
    }
    if is_armed() && reader::is_there() {
        write_sentence(sentence);
    }
}

fn tell_sentences() {
    if let Ok(sentences) = SENTENCES.try_lock() {
        sentences
            .iter()
            .for_each(|sentence| write_sentence(sentence));
    }
}

fn write_sentence(sentence: &str) {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let Some(settings) = settings() else { return };
    if ring::check_folder(&settings.folder).is_err() {
        return;
    }
    let path = settings
        .folder
        .join(format!("{}.agent", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    if let Ok(mut file) = ring::never_through_links(&mut options).open(path) {
        let _ = writeln!(file, "{}", sentence.replace('\n', " "));
    }
}
