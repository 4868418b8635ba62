//! Values returned to the Ruby half, named as there.

use crate::api::{Value, fixnum};

/// Nothing was begun.
pub(crate) const PASS: Value = fixnum(0);
/// Something was begun, and has to be ended.
pub(crate) const STARTED: Value = fixnum(1);
/// The thread is in the same call already.
pub(crate) const RECURSION: Value = fixnum(2);
/// Nothing was begun yet: the process's first request, with drivers to be hooked first.
pub(crate) const FIRST: Value = fixnum(3);

/// Stands for the response when the handler raised; no object.
pub(crate) const NO_RESPONSE: Value = fixnum(0);
