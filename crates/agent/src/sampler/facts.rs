//! Facts about the runtime during a sampling: the collector's counters, the causes of collections,
//! and the process's memory and code. Each fact is a line with its name, which ends with its unit,
//! a tab, and a number.
//!
//! Reported about once a second, so that a process that is killed, profiled for a while or part of
//! a run has reported too. Counters of the collector are C calls without an object; `/proc` is read
//! by the timer's thread, which holds no GVL.

use std::ffi::{CStr, CString, c_int};
use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::api::{Api, Value, from_fixnum};
use crate::clock::monotonic_ns;

/// Keys of `GC.stat`, names of the facts, and whether a number only grows and is counted from the
/// sampling's begin.
const STATS: [(&CStr, &str, bool); 8] = [
    (c"minor_gc_count", "gc_minor_count", true),
    (c"major_gc_count", "gc_major_count", true),
    (c"time", "gc_ms", true),
    (c"total_allocated_objects", "gc_allocated_count", true),
    (c"heap_live_slots", "gc_live_slots_count", false),
    (c"heap_free_slots", "gc_free_slots_count", false),
    (c"malloc_increase_bytes", "gc_malloc_increase_bytes", false),
    (
        c"oldmalloc_increase_bytes",
        "gc_oldmalloc_increase_bytes",
        false,
    ),
];
/// Values of `major_by` in `GC.latest_gc_info`, and of `gc_by`.
const MAJOR_BY: [&CStr; 5] = [c"nofree", c"oldgen", c"shady", c"force", c"oldmalloc"];
const GC_BY: [&CStr; 5] = [c"newobj", c"malloc", c"method", c"capi", c"stress"];
const PROCESS: [&str; 7] = [
    "code_mappings_count",
    "code_bytes",
    "code_large_pages_count",
    "rss_bytes",
    "pss_bytes",
    "threads_count",
    "open_files_count",
];
/// Bytes of a large page: code spread over more pages than needed costs misses of the TLB.
const LARGE_PAGE: u64 = 2 << 20;
/// Age in ns up to which the facts about the process are fresh enough at the end of a sampling.
const FRESH: u64 = 500_000_000;

/// Symbols, which live as long as the process.
struct Symbols {
    /// Symbols of the [`STATS`] known to the running Ruby.
    stats: [Option<Value>; STATS.len()],
    major_by: Value,
    gc_by: Value,
    majors: [Value; MAJOR_BY.len()],
    causes: [Value; GC_BY.len()],
}

static SYMBOLS: OnceLock<Symbols> = OnceLock::new();
static AT_THE_START: [AtomicU64; STATS.len()] = [const { AtomicU64::new(0) }; STATS.len()];
static MAJORS: [AtomicU64; MAJOR_BY.len()] = [const { AtomicU64::new(0) }; MAJOR_BY.len()];
static MINORS: [AtomicU64; GC_BY.len()] = [const { AtomicU64::new(0) }; GC_BY.len()];
static OF_PROCESS: [AtomicU64; PROCESS.len()] = [const { AtomicU64::new(0) }; PROCESS.len()];
static LOOKED_AT: AtomicU64 = AtomicU64::new(0);

/// Makes the symbols and asks once for what hooks will ask for: the first call allocates. At the
/// agent's start.
pub(super) fn prepare(api: &Api) {
    let symbol = |name: &CStr| (api.rb_id2sym)((api.rb_intern)(name.as_ptr()));
    let evaluate = |code: &str| {
        let mut failed: c_int = 0;
        let code = CString::new(code).unwrap_or_default();
        let value = (api.rb_eval_string_protect)(code.as_ptr(), &raw mut failed);
        (failed == 0).then_some(value)
    };
    let knows = |name: &CStr| {
        let code = format!("GC.stat.key?(:{}) ? 1 : 0", name.to_string_lossy());
        evaluate(&code).and_then(from_fixnum) == Some(1)
    };
    if evaluate("GC.latest_gc_info(:gc_by)").is_none() {
        return;
    }
    SYMBOLS.get_or_init(|| Symbols {
        stats: STATS.map(|(key, ..)| knows(key).then(|| symbol(key))),
        major_by: symbol(c"major_by"),
        gc_by: symbol(c"gc_by"),
        majors: MAJOR_BY.map(symbol),
        causes: GC_BY.map(symbol),
    });
}

/// Begins a sampling: counts so far are left out.
pub(super) fn begin(api: &Api) {
    for (index, before) in AT_THE_START.iter().enumerate() {
        let growing = STATS[index].2;
        before.store(stat(api, index).filter(|_| growing).unwrap_or(0), Relaxed);
    }
    let counters = MAJORS.iter().chain(&MINORS).chain(&OF_PROCESS);
    for counter in counters.chain([&LOOKED_AT]) {
        counter.store(0, Relaxed);
    }
}

/// Counts the cause of a collection, from the collector's hook.
pub(super) fn collection_begins(api: &Api) {
    let (Some(symbols), Some(info)) = (SYMBOLS.get(), api.rb_gc_latest_gc_info) else {
        return;
    };
    let major = info(symbols.major_by);
    let (place, counters) = match symbols.majors.iter().position(|cause| *cause == major) {
        Some(place) => (Some(place), &MAJORS[..]),
        None => {
            let cause = info(symbols.gc_by);
            let place = symbols.causes.iter().position(|known| *known == cause);
            (place, &MINORS[..])
        }
    };
    if let Some(place) = place {
        counters[place].fetch_add(1, Relaxed);
    }
}

/// Looks at the process. Allocates, and takes up to some milliseconds: on the timer's thread, or at
/// the end.
pub(super) fn look() {
    LOOKED_AT.store(monotonic_ns(), Relaxed);
    for (kept, found) in OF_PROCESS.iter().zip(process()) {
        kept.store(found, Relaxed);
    }
}

/// The last look, at the end of a sampling.
pub(super) fn look_again() {
    if monotonic_ns().saturating_sub(LOOKED_AT.load(Relaxed)) > FRESH {
        look();
    }
}

/// Returns all facts known now, without zeros of causes and of a process not yet examined.
pub(super) fn lines(api: &Api) -> Vec<String> {
    let stats = STATS
        .iter()
        .enumerate()
        .filter_map(|(index, (_, name, _))| {
            let before = AT_THE_START[index].load(Relaxed);
            let value = stat(api, index)?.saturating_sub(before);
            Some(format!("{name}\t{value}"))
        });
    let causes =
        |counters: &'static [AtomicU64], names: &'static [&'static CStr], kind: &'static str| {
            counters.iter().zip(names).map(move |(counter, name)| {
                let name = format!("gc_{kind}_by_{}_count", name.to_string_lossy());
                (name, counter.load(Relaxed))
            })
        };
    let process = PROCESS
        .iter()
        .zip(&OF_PROCESS)
        .map(|(name, value)| ((*name).to_owned(), value.load(Relaxed)));
    let others = causes(&MAJORS, &MAJOR_BY, "major")
        .chain(causes(&MINORS, &GC_BY, "minor"))
        .chain(process)
        .filter(|(_, value)| *value > 0)
        .map(|(name, value)| format!("{name}\t{value}"));
    stats.chain(others).collect()
}

fn stat(api: &Api, index: usize) -> Option<u64> {
    let key = SYMBOLS.get()?.stats[index]?;
    Some((api.rb_gc_stat)(key) as u64)
}

/// Facts in the order of [`PROCESS`]; zero for one missing in `/proc`.
fn process() -> [u64; PROCESS.len()] {
    let text = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
    let [mappings, bytes, pages] = code(&text("maps"));
    let status = text("status");
    let files = fs::read_dir("/proc/self/fd").map_or(0, |all| all.count() as u64);
    [
        mappings,
        bytes,
        pages,
        number_of(&status, "VmRSS:") << 10,
        number_of(&text("smaps_rollup"), "Pss:") << 10,
        number_of(&status, "Threads:"),
        // One of them is the list's own.
        files.saturating_sub(1),
    ]
}

/// Returns number and bytes of executable mappings, and the number of large pages spanned.
fn code(maps: &str) -> [u64; 3] {
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
    let spans = maps.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (from, to) = words.next()?.split_once('-')?;
        let is_code = words.next()?.contains('x');
        is_code.then_some((hexadecimal(from)?, hexadecimal(to)?))
    });
    let (mut count, mut bytes, mut pages) = (0, 0, Vec::new());
    for (from, to) in spans.filter(|(from, to)| from < to) {
        count += 1;
        bytes += to - from;
        pages.extend(from / LARGE_PAGE..=(to - 1) / LARGE_PAGE);
    }
    pages.sort_unstable();
    pages.dedup();
    [count, bytes, pages.len() as u64]
}

/// Returns the number after a word at the beginning of a line.
fn number_of(text: &str, word: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(word));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_counted_with_the_large_pages_that_it_touches() {
        let maps = "\
00400000-00401000 r-xp 00000000 08:01 1  /bin/one
00600000-00601000 rw-p 00000000 08:01 1  /bin/one
005ff000-00801000 r-xp 00000000 08:01 2  /lib/two.so
7ffe00000000-7ffe00001000 r-xp 00000000 00:00 0  [vdso]
";
        assert_eq!(code(maps), [3, 0x1000 + 0x20_2000 + 0x1000, 4]);
    }

    #[test]
    fn a_process_is_seen_from_within() {
        let [mappings, bytes, pages, rss, _pss, threads, files] = process();
        assert!(mappings > 0 && bytes > 4096 && pages > 0);
        assert!(rss > 100_000 && threads >= 1 && files >= 1);
        assert_eq!(number_of("VmRSS:\t  12 kB\nThreads:\t3\n", "Threads:"), 3);
    }
}
