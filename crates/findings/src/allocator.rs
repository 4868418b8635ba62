//! The change of the allocator for memory not reused by the C library's.

use crate::context::Context;
use crate::exact::{ARENAS, Exact};

/// The agent's setting with the name of an allocator other than glibc's.
const OTHER: &str = "allocator";

/// Returns the change not made yet: fewer arenas, which need no further library, before jemalloc.
/// `None` for an app with another allocator than glibc's.
pub(crate) fn change(context: &Context<'_>) -> Option<Exact> {
    if context.setting(OTHER).is_some() {
        return None;
    }
    Some(match context.setting(ARENAS) {
        None => Exact::variables([(ARENAS, "2")]),
        Some(_) => Exact::Jemalloc,
    })
}
