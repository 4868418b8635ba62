//! The far side: order, start, signs of the load, and result.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use recording::Timestamp;
use remote::{Far, Shift, Speaker};
use serde::Serialize;

use crate::message;

/// Why a generator ends without having done its work, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarError(String);

impl fmt::Display for FarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the generator ends: {}", self.0)
    }
}

impl std::error::Error for FarError {}

impl From<io::Error> for FarError {
    fn from(error: io::Error) -> FarError {
        FarError(error.to_string())
    }
}

/// Reads the order and the part; `None` when the near side has gone.
///
/// # Errors
/// A frame of an unknown kind, or text that is not UTF-8.
pub fn order(far: &Far) -> Result<Option<(String, String)>, FarError> {
    let mut text = Vec::new();
    while let Some(frame) = far.receive() {
        match frame.kind {
            message::PIECE if text.len() < message::TEXT_BYTES_MAX => text.extend(frame.body),
            message::ORDERED => {
                let read = |bytes| String::from_utf8(bytes).map_err(|_| unknown(frame.kind));
                return Ok(Some((read(text)?, read(frame.body)?)));
            }
            kind => return Err(unknown(kind)),
        }
    }
    Ok(None)
}

/// Waits for the start; `None` when the near side has gone, or calls the load off.
pub fn start(far: &Far, shift: Shift) -> Option<Timestamp> {
    let frame = far.receive()?;
    let nanos = i64::from_le_bytes(frame.body.try_into().ok()?);
    let is_start = frame.kind == message::START;
    is_start.then(|| Timestamp::from_monotonic_nanos((nanos - shift.nanos).max(0) as u64))
}

/// Sets `stop` when the near side says so, or has gone.
pub fn listen(far: &Far, stop: &AtomicBool) {
    while let Some(frame) = far.receive() {
        if frame.kind == message::STOP {
            stop.store(true, Ordering::Relaxed);
        }
    }
    stop.store(true, Ordering::Relaxed);
}

/// Sends the result.
///
/// # Errors
/// The near side has gone.
pub fn tell(speaker: &Speaker, text: &str) -> Result<(), FarError> {
    for piece in text.as_bytes().chunks(message::PIECE_BYTES) {
        speaker.send(message::RESULT, piece)?;
    }
    Ok(speaker.send(message::ENDED, &[])?)
}

/// Sends one message.
///
/// # Errors
/// The near side has gone.
pub fn say(speaker: &Speaker, kind: u8, what: &impl Serialize) -> Result<(), FarError> {
    let body = serde_json::to_vec(what).unwrap_or_default();
    Ok(speaker.send(kind, &body)?)
}

fn unknown(kind: u8) -> FarError {
    FarError(format!("a frame of kind {kind} that it does not know"))
}
