//! What a process knows about itself: whether the agent is on, where rings go, and how often it
//! forked.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64};

/// From the environment that the program gave the app.
pub(crate) struct Settings {
    /// Where capture looks for rings.
    pub(crate) folder: PathBuf,
    /// Size of each ring.
    pub(crate) ring_bytes: usize,
    /// Source files below it are the app's own.
    pub(crate) app_root: String,
    /// Whether this Ruby tells GVL events.
    pub(crate) gvl: bool,
}

/// Large enough for half a second of 2,000 requests a second of 400 bytes; five threads stay far
/// below the 64 MB that containers give `/dev/shm`.
const RING_KIB_DEFAULT: usize = 512;

/// A process with more threads than that gets no further rings; its requests are counted as
/// dropped.
const RINGS_MAX: u32 = 512;

static SETTINGS: OnceLock<Settings> = OnceLock::new();
static RINGS: AtomicU32 = AtomicU32::new(0);

/// What every request and event asks, on one cache line: between two of them the app has had the
/// caches.
#[repr(align(64))]
struct Hot {
    off: AtomicBool,
    /// True while the agent measures its own cost: nothing is written then.
    dry: AtomicBool,
    /// Whether the client numbers only some of its requests.
    thinned: AtomicBool,
    /// Hooks live on in children, where none may be added.
    hooked: AtomicBool,
    /// Key of the per-thread storage of Ruby ≥ 3.3, −1 without.
    key: AtomicI32,
    /// How often this process, or an ancestor of it since the agent was loaded, is a forked child.
    generation: AtomicU32,
    /// One more than the generation that has handled a request.
    armed: AtomicU32,
    /// Collections so far; what is known about a frame's address holds until the next one.
    collections: AtomicU64,
    /// When the counters are to be told next, monotonic nanoseconds.
    counters_at: AtomicU64,
}

static HOT: Hot = Hot {
    off: AtomicBool::new(false),
    dry: AtomicBool::new(false),
    thinned: AtomicBool::new(false),
    hooked: AtomicBool::new(false),
    key: AtomicI32::new(-1),
    generation: AtomicU32::new(0),
    armed: AtomicU32::new(0),
    collections: AtomicU64::new(0),
    counters_at: AtomicU64::new(0),
};

/// Between two tellings of the counters.
const COUNTERS_EVERY_NS: u64 = 1_000_000_000;

/// Reads the settings; `false` when the program did not ask for the agent.
pub(crate) fn read_settings(gvl: bool) -> bool {
    let Some(folder) = std::env::var_os("HAKARU_RING_DIR") else {
        return false;
    };
    let ring_kib = std::env::var("HAKARU_RING_KIB")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(RING_KIB_DEFAULT);
    SETTINGS
        .set(Settings {
            folder: folder.into(),
            ring_bytes: ring_kib << 10,
            app_root: std::env::var("HAKARU_APP_ROOT").unwrap_or_default(),
            gvl,
        })
        .is_ok()
}

/// The settings, once read.
pub(crate) fn settings() -> Option<&'static Settings> {
    SETTINGS.get()
}

/// Whether anything is to be done at all.
pub(crate) fn is_on() -> bool {
    !HOT.off.load(Relaxed)
}

/// Nothing more from this process.
pub(crate) fn turn_off() {
    HOT.off.store(true, Relaxed);
}

/// Whether the agent measures itself just now.
pub(crate) fn is_dry() -> bool {
    HOT.dry.load(Relaxed)
}

/// Whether the request with that number is to be noted down: one without a number is another
/// client's, or one that ours has left out, which the numbers of the requests around it tell.
pub(crate) fn is_wanted(id: u64) -> bool {
    let thinned = HOT.thinned.load(Relaxed);
    if id == 0 {
        return !thinned;
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

/// Which fork this process is; state made in another one belongs to the parent.
pub(crate) fn generation() -> u32 {
    HOT.generation.load(Relaxed)
}

/// Runs in the child, on its only thread.
pub(crate) extern "C" fn after_fork_in_child() {
    HOT.generation.fetch_add(1, AcqRel);
    RINGS.store(0, Release);
    HOT.counters_at.store(0, Relaxed);
    HOT.dry.store(false, Relaxed);
}

/// `true` once per process: for its first request.
pub(crate) fn arm() -> bool {
    let this = generation() + 1;
    HOT.armed.load(Relaxed) != this && HOT.armed.swap(this, AcqRel) != this
}

/// `true` once for a process and all its descendants.
pub(crate) fn may_hook() -> bool {
    !HOT.hooked.swap(true, AcqRel)
}

/// The number of the next ring of this process, while there may be one.
pub(crate) fn next_ring() -> Option<u32> {
    let number = RINGS.fetch_add(1, AcqRel);
    (number < RINGS_MAX).then_some(number)
}

/// The key of the per-thread storage.
pub(crate) fn key() -> Option<i32> {
    let key = HOT.key.load(Acquire);
    (key >= 0).then_some(key)
}

/// Keeps the key. Ruby hands out a ninth of eight (its check is off by one), which would overrun.
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

/// Leaves a sentence in a file of this process beside the rings, where capture finds it. Failure to
/// do even that is silent: there is nowhere to tell it.
pub(crate) fn complain(sentence: &str) {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let Some(settings) = settings() else { return };
    let path = settings
        .folder
        .join(format!("{}.agent", std::process::id()));
    let file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path);
    if let Ok(mut file) = file {
        let _ = writeln!(file, "{}", sentence.replace('\n', " "));
    }
}
