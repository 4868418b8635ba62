//! Reasons of waits, from the frames around.

use crate::profile::{Frame, State};

/// Methods waiting for a connection of a pool; a lock or condition of the pool's own is inside.
const POOLS: [&str; 6] = [
    "ConnectionPool#checkout",
    "ConnectionPool#with",
    "ConnectionPool::TimedStack#pop",
    "ActiveRecord::ConnectionAdapters::ConnectionPool#checkout",
    "ActiveRecord::ConnectionAdapters::ConnectionPool::Queue#poll",
    "ActiveRecord::ConnectionAdapters::ConnectionPool::BiasableQueue#poll",
];

/// Classes with methods for access to a database.
const DATABASES: [&str; 6] = [
    "Mysql2::Client",
    "Mysql2::Statement",
    "Mysql2::Result",
    "PG::Connection",
    "Trilogy",
    "SQLite3::",
];

/// Classes with methods waiting for another thread, and the names of the methods.
const LOCKS: [(&str, &[&str]); 6] = [
    ("Mutex", &["lock", "synchronize", "sleep"]),
    (
        "Monitor",
        &[
            "enter",
            "synchronize",
            "mon_enter",
            "mon_synchronize",
            "wait_for_cond",
        ],
    ),
    ("ConditionVariable", &["wait"]),
    ("Queue", &["pop", "shift", "deq"]),
    ("SizedQueue", &["pop", "shift", "deq", "push", "enq", "<<"]),
    ("Thread", &["join", "value"]),
];

/// Frames examined from the innermost: few lie between a driver's method and the wait inside.
const LOOK_AT: usize = 24;

/// Returns the state of a wait off the GVL by the stack, the innermost frame first.
pub fn wait_of<'a>(stack: impl Iterator<Item = &'a Frame>) -> State {
    let mut innermost = None;
    for (depth, frame) in stack.take(LOOK_AT).enumerate() {
        let name = frame.name.strip_prefix("block in ").unwrap_or(&frame.name);
        if POOLS.contains(&name) {
            return State::Pool;
        }
        if DATABASES.iter().any(|class| is_of(name, class)) {
            return State::Sql;
        }
        if is_of(name, "Net::HTTP") || is_of(name, "Net::BufferedIO") {
            return State::Http;
        }
        if depth < 3 && innermost.is_none() {
            innermost = by_method(name);
        }
    }
    innermost.unwrap_or(State::Io)
}

/// Whether a method belongs to a class: `Mysql2::Client#query` does to `Mysql2::Client`; a class
/// name ending in `::` stands for all inside.
fn is_of(name: &str, class: &str) -> bool {
    name.strip_prefix(class)
        .is_some_and(|rest| class.ends_with("::") || rest.starts_with(['#', '.', ':']))
}

fn by_method(name: &str) -> Option<State> {
    let (class, method) = name.rsplit_once(['#', '.']).unwrap_or(("", name));
    let class = class.strip_prefix("Thread::").unwrap_or(class);
    if method == "sleep" && matches!(class, "" | "Kernel" | "Object") {
        return Some(State::Sleep);
    }
    LOCKS
        .iter()
        .any(|(owner, methods)| class == *owner && methods.contains(&method))
        .then_some(State::Lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], state: State) {
        let frames: Vec<Frame> = names
            .iter()
            .map(|name| Frame {
                name: (*name).to_owned(),
                ..Frame::default()
            })
            .collect();
        assert_eq!(wait_of(frames.iter()), state, "{names:?}");
    }

    #[test]
    fn waits_are_named_by_the_innermost_method_that_says_it() {
        check(&["Kernel#sleep", "Object#nap"], State::Sleep);
        check(
            &["Thread::Mutex#lock", "Thread::Mutex#synchronize"],
            State::Lock,
        );
        check(&["Thread::Queue#pop", "Worker#run"], State::Lock);
        check(
            &["Thread::Mutex#sleep", "Thread::ConditionVariable#wait"],
            State::Lock,
        );
        check(
            &["IO#wait_readable", "Net::BufferedIO#rbuf_fill"],
            State::Http,
        );
        check(
            &["Mysql2::Client#_query", "Mysql2::Client#query"],
            State::Sql,
        );
        check(&["IO.select", "PG::Connection#async_exec"], State::Sql);
        check(&["IO#read", "Object#load"], State::Io);
        check(&[], State::Io);
    }

    #[test]
    fn an_apps_own_sleep_or_wait_is_not_taken_for_rubys() {
        check(&["IO#read", "Bear#sleep"], State::Io);
        check(&["IO#read", "Train#wait"], State::Io);
    }

    #[test]
    fn a_pool_is_named_although_it_waits_by_a_lock() {
        check(
            &[
                "Thread::Mutex#sleep",
                "Thread::ConditionVariable#wait",
                "block in ConnectionPool::TimedStack#pop",
                "Thread::Mutex#synchronize",
            ],
            State::Pool,
        );
    }
}
