//! A small interpreter with a stack in memory: branches on data, and loads just after the stores,
//! where mitigations of speculation slow down an interpreter such as Ruby's.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

#[derive(Clone, Copy)]
enum Op {
    Push(u64),
    Load(usize),
    Store(usize),
    Add,
    Mix,
    JumpIfOdd(usize),
    JumpIfLess(u64, usize),
}

/// `i += 1; sum = mix(sum + i); if sum is odd, sum += 3; while i < turns`.
fn program(turns: u64) -> Vec<Op> {
    vec![
        Op::Load(0),
        Op::Push(1),
        Op::Add,
        Op::Store(0),
        Op::Load(1),
        Op::Load(0),
        Op::Add,
        Op::Mix,
        Op::Store(1),
        Op::Load(1),
        Op::JumpIfOdd(14),
        Op::Load(1),
        Op::Push(3),
        Op::Add,
        Op::Load(1),
        Op::Store(1),
        Op::Load(0),
        Op::JumpIfLess(turns, 0),
    ]
}

/// Runs so many turns of the loop.
pub(super) fn turns(turns: u64) -> u64 {
    let program = black_box(program(turns));
    let mut stack = [0u64; 64];
    let mut locals = [0u64; 4];
    let (mut at, mut top) = (0, 0);
    while let Some(op) = program.get(at) {
        at += 1;
        // The stack stays in memory, as an interpreter's does.
        let stack = black_box(&mut stack);
        match *op {
            Op::Push(value) => {
                stack[top & 63] = value;
                top += 1;
            }
            Op::Load(local) => {
                stack[top & 63] = locals[local & 3];
                top += 1;
            }
            Op::Store(local) => {
                top -= 1;
                black_box(&mut locals)[local & 3] = stack[top & 63];
            }
            Op::Add => {
                top -= 1;
                stack[(top - 1) & 63] = stack[(top - 1) & 63].wrapping_add(stack[top & 63]);
            }
            Op::Mix => {
                let value = stack[(top - 1) & 63];
                stack[(top - 1) & 63] = value.wrapping_mul(6_364_136_223_846_793_005) >> 7;
            }
            Op::JumpIfOdd(to) => {
                top -= 1;
                if stack[top & 63] & 1 == 1 {
                    at = to;
                }
            }
            Op::JumpIfLess(than, to) => {
                top -= 1;
                if stack[top & 63] < than {
                    (at, top) = (to, 0);
                }
            }
        }
    }
    locals[1]
}

/// Returns the time of `count` turns, in nanoseconds.
pub(super) fn time(count: u64) -> f64 {
    let begin = Instant::now();
    black_box(turns(black_box(count)));
    begin.elapsed().as_nanos() as f64
}

/// Turns of a measurement, neither lost in the clock's grain nor long.
pub(super) const TURNS: u64 = 150_000;

/// Returns the work of two threads in the time of one: 2 on two separate cores. `None` on a machine
/// with one core.
pub(super) fn two_threads() -> Option<f64> {
    const ROUNDS: usize = 7;
    let cores = std::thread::available_parallelism().ok()?;
    if cores.get() < 2 {
        return None;
    }
    let (mut alone, mut together) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        alone = alone.min(time(TURNS));
        let barrier = Barrier::new(2);
        let run = || {
            barrier.wait();
            time(TURNS)
        };
        let (a, b) = std::thread::scope(|scope| {
            let other = scope.spawn(run);
            (run(), other.join().unwrap_or(f64::INFINITY))
        });
        together = together.min(a.max(b));
    }
    // The best of each is what others disturbed least. More than twice is their doing too.
    let ratio = 2.0 * alone / together;
    ratio.is_finite().then_some(ratio.min(2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_ends_and_depends_on_its_length() {
        assert_eq!(turns(1000), turns(1000));
        assert_ne!(turns(1000), turns(1001));
    }
}
