//! Hooked methods around the thread's current one, so as to record a call once, and so as not to
//! loop when a gem has chained the agent's method into a method of the gem's own.

use std::cell::Cell;

use crate::api::Value;

/// Depth beyond which the original method is called and nothing recorded.
const DEPTH_MAX: usize = 8;

/// Result of entering a hooked method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The outermost call: to be recorded.
    Outer,
    /// A call inside another, such as `Statement#execute` inside `Database#execute`.
    Inner,
    /// Again on the same object, or too deep: call the original method.
    Same,
}

thread_local! {
    // Apart, since every request asks for the depth and hardly any for the calls.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static CALLS: Cell<[(i64, Value); DEPTH_MAX]> = const { Cell::new([(0, 0); DEPTH_MAX]) };
}

/// Enters a method. After `Outer` and `Inner` a [`leave`] must follow.
pub(crate) fn enter(code: i64, receiver: Value) -> Entry {
    let (mut calls, depth) = (CALLS.get(), DEPTH.get());
    if depth == DEPTH_MAX || calls[..depth].contains(&(code, receiver)) {
        return Entry::Same;
    }
    calls[depth] = (code, receiver);
    CALLS.set(calls);
    DEPTH.set(depth + 1);
    if depth == 0 {
        Entry::Outer
    } else {
        Entry::Inner
    }
}

/// Leaves a method; returns whether the method was the outermost.
pub(crate) fn leave() -> bool {
    let depth = DEPTH.get();
    DEPTH.set(depth.saturating_sub(1));
    depth == 1
}

/// Forgets calls left open by a previous request, as by a fiber never resumed.
pub(crate) fn reset() {
    DEPTH.set(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_inside_a_call_is_not_recorded_again() {
        reset();
        assert_eq!(enter(2, 100), Entry::Outer);
        assert_eq!(enter(4, 200), Entry::Inner);
        assert!(!leave());
        assert!(leave());
    }

    #[test]
    fn the_same_method_on_the_same_object_is_a_circle() {
        reset();
        assert_eq!(enter(2, 100), Entry::Outer);
        assert_eq!(enter(2, 100), Entry::Same);
        assert_eq!(enter(2, 300), Entry::Inner, "another object is no circle");
        assert!(!leave());
        assert!(leave());
        assert_eq!(enter(2, 100), Entry::Outer);
        reset();
    }
}
