//! Delivery to a receiver, tried again as OTLP's specification says.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use load::{Posted, ProbeError, Trust};
use serde_json::Value;

use crate::receiver::Receiver;

/// Tries of one delivery.
pub const TRIES: u32 = 3;
/// Limit of one try; OpenTelemetry's default.
const TRY_MAX: Duration = Duration::from_secs(10);
/// Longest wait before another try, whatever the receiver asks for.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Wait before the second try, where the receiver names none; doubled before the next.
const WAIT_FIRST: Duration = Duration::from_secs(1);
/// How often to look at the flag during a try.
const LOOK: Duration = Duration::from_millis(20);
/// Statuses of a receiver willing to take the same request later.
const BUSY: [u16; 4] = [429, 502, 503, 504];
/// Letters shown of a receiver's words.
const WORDS_MAX: usize = 200;

/// What a receiver did with the figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Data points left out by the receiver.
    pub rejected: u64,
    /// Words of the receiver, safe to print; often empty.
    pub message: String,
}

/// Why the figures are not at the receiver.
#[derive(Debug)]
pub enum SendError {
    /// No response.
    Unreachable(ProbeError),
    /// A status other than success, with the receiver's words, safe to print.
    Refused(u16, String),
    /// The flag was set during a try; the receiver may have the figures.
    Interrupted,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::Unreachable(error) => f.write_str(&load::plain(&error.to_string())),
            SendError::Refused(status, words) if words.is_empty() => {
                write!(f, "the receiver responds with {status}")
            }
            SendError::Refused(status, words) => {
                write!(f, "the receiver responds with {status}: {words}")
            }
            SendError::Interrupted => f.write_str("interrupted before the receiver responded"),
        }
    }
}

impl std::error::Error for SendError {}

/// Sends a document, at most [`TRIES`] times, until `stop` is set. `wait` is called between two
/// tries, and returns whether there is to be another one.
///
/// # Errors
/// The last try failed, or a status says that another try would, or `stop` was set during a try.
pub fn send(
    receiver: &Receiver,
    document: &str,
    stop: &AtomicBool,
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Delivery, SendError> {
    let (mut number, mut pause) = (1, WAIT_FIRST);
    loop {
        let posted = post(receiver, document, stop)?;
        match posted.status {
            200..=299 => return Ok(Delivery::of(&posted.body)),
            status if number < TRIES && BUSY.contains(&status) => {
                let asked = posted.retry_after.and_then(|text| text.parse().ok());
                if !wait(asked.map_or(pause, Duration::from_secs).min(WAIT_MAX)) {
                    return Err(SendError::Refused(status, words(&posted.body)));
                }
                number += 1;
                pause *= 2;
            }
            status => return Err(SendError::Refused(status, words(&posted.body))),
        }
    }
}

/// Tries once, on a thread left behind when `stop` is set. A receiver that hangs takes all of
/// [`TRY_MAX`], and a name server may take longer.
fn post(receiver: &Receiver, document: &str, stop: &AtomicBool) -> Result<Posted, SendError> {
    let json = ("Content-Type".to_owned(), "application/json".to_owned());
    let headers = [vec![json], receiver.headers.clone()].concat();
    let trust = Trust {
        authorities: receiver.authorities.clone(),
        ..Trust::default()
    };
    let (url, body) = (receiver.url.clone(), document.as_bytes().to_vec());
    let (sender, posted) = channel();
    let thread = std::thread::Builder::new().name("hakaru-otlp".to_owned());
    let spawned = thread.spawn(move || {
        // Nobody listens after an interruption.
        let _ = sender.send(load::post(&url, &headers, &body, &trust, TRY_MAX));
    });
    let failed = |error: io::Error| SendError::Unreachable(ProbeError::Io(error));
    spawned.map_err(failed)?;
    loop {
        match posted.recv_timeout(LOOK) {
            Ok(posted) => return posted.map_err(SendError::Unreachable),
            // Relaxed: the flag carries no other data.
            Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                return Err(SendError::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(failed(io::Error::other("the try ended without a result")));
            }
        }
    }
}

impl Delivery {
    /// Reads a successful response. A body that is not the protocol's rejects nothing.
    fn of(body: &[u8]) -> Delivery {
        let read: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let partial = &read["partialSuccess"];
        let rejected = &partial["rejectedDataPoints"];
        let rejected = match rejected {
            Value::String(digits) => digits.parse().ok(),
            number => number.as_u64(),
        };
        Delivery {
            rejected: rejected.unwrap_or(0),
            message: shown(partial["errorMessage"].as_str().unwrap_or("")),
        }
    }
}

/// Returns the message in a failure's body: a `Status` of the protocol, or the first line.
fn words(body: &[u8]) -> String {
    let read: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    match read["message"].as_str() {
        Some(message) => shown(message),
        None => shown(&String::from_utf8_lossy(body)),
    }
}

fn shown(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or("");
    load::plain(&line.chars().take(WORDS_MAX).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_success_is_read_with_numbers_of_either_kind() {
        let check = |body: &str, rejected: u64, message: &str| {
            let expected = Delivery {
                rejected,
                message: message.to_owned(),
            };
            assert_eq!(Delivery::of(body.as_bytes()), expected);
        };
        check("{}", 0, "");
        check("", 0, "");
        check("thanks", 0, "");
        check(
            r#"{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"no histograms"}}"#,
            3,
            "no histograms",
        );
        check(r#"{"partialSuccess":{"rejectedDataPoints":2}}"#, 2, "");
        check(
            "{\"partialSuccess\":{\"errorMessage\":\"\\u001b[31mred\"}}",
            0,
            "\\u{1b}[31mred",
        );
    }
}
