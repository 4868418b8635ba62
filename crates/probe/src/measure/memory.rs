//! Memory: reading in order, and at random with each address known only from the read before.

use std::hint::black_box;
use std::time::Instant;

/// Bytes beyond the caches of a single core.
const BYTES: usize = 64 << 20;

/// Bytes read per second, in order; the best of three.
pub(super) fn bandwidth() -> Option<f64> {
    let words = vec![1u64; BYTES / 8];
    let read = || {
        let begin = Instant::now();
        black_box(words.iter().fold(0u64, |sum, word| sum.wrapping_add(*word)));
        BYTES as f64 / begin.elapsed().as_secs_f64()
    };
    (0..3).map(|_| read()).reduce(f64::max)
}

/// Nanoseconds for a read at random; the best of three.
pub(super) fn latency() -> Option<f64> {
    const READS: usize = 200_000;
    let count = BYTES / 64;
    // Each line names the next one: a cycle through all lines in an order that no prefetcher
    // follows.
    let mut lines = vec![[0u32; 16]; count];
    // A full period needs an odd increment and a multiplier of the form 4n + 1; `count` is a power
    // of two.
    let mut at = 0usize;
    for _ in 0..count {
        let next = (at.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)) % count;
        lines[at][0] = next as u32;
        at = next;
    }
    let walk = || {
        let begin = Instant::now();
        let mut at = 0usize;
        for _ in 0..READS {
            at = lines[at][0] as usize;
        }
        black_box(at);
        begin.elapsed().as_nanos() as f64 / READS as f64
    };
    (0..3).map(|_| walk()).reduce(f64::min)
}

/// Returns how much longer the rows of a block of 8 KB take from memory than from the core's
/// caches, ns: the median over runs of `blocks` blocks in order, each read twice. Of a row of
/// `row_bytes` the head is read.
pub(super) fn first_touch(blocks: usize, row_bytes: f64) -> Option<f64> {
    const BLOCK: usize = 8192;
    const LINE: usize = 64;
    const RUNS: usize = 100;
    let row = (row_bytes as usize).clamp(LINE, BLOCK);
    let bytes = vec![1u8; BYTES];
    let length = blocks * BLOCK;
    let places = BYTES.checked_sub(length)? / BLOCK;
    let read = |from: usize| {
        let begin = Instant::now();
        let rows = bytes[from..from + length].iter().step_by(row);
        black_box(rows.fold(0u64, |sum, byte| sum + u64::from(*byte)));
        begin.elapsed().as_nanos() as f64
    };
    let runs = (0..RUNS).map(|run| {
        let place = (run as f64 * 0.618_033_988_749_895).fract() * places as f64;
        let from = place as usize * BLOCK;
        (read(from) - read(from)) / blocks as f64
    });
    stats::median(&runs.collect::<Vec<_>>())
}
