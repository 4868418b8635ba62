//! One generator, from start to result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use generators::GeneratorResult;
use remote::{Frame, PATIENCE, Session};

use crate::message::{self, Failed, Stretch};
use crate::near::LOOK;

/// Follows a generator until the result arrives; ends the load early when `is_over` is set.
///
/// # Errors
/// The host is lost or silent for longer than `silence`, or its load failed: a sentence with its
/// name.
pub(crate) fn follow(
    session: &Session,
    silence: Duration,
    stretches: &Sender<Stretch>,
    is_over: &AtomicBool,
) -> Result<GeneratorResult, String> {
    let name = &session.host().name;
    let (mut text, mut is_stopped) = (Vec::new(), false);
    let mut heard = Instant::now();
    loop {
        if is_over.load(Ordering::Relaxed) && !is_stopped {
            let sent = session.send(message::STOP, &[], PATIENCE);
            sent.map_err(|error| error.to_string())?;
            is_stopped = true;
        }
        let frame = match session.receive(LOOK).map_err(|error| error.to_string())? {
            Some(frame) => frame,
            None if heard.elapsed() > silence => return Err(session.silent(silence).to_string()),
            None => continue,
        };
        heard = Instant::now();
        match frame.kind {
            message::STRETCH => {
                let stretch = serde_json::from_slice::<Stretch>(&frame.body);
                // Nobody shows it any more once all is over.
                let _ = stretch.map(|stretch| stretches.send(stretch));
            }
            message::RESULT if text.len() < message::TEXT_BYTES_MAX => text.extend(frame.body),
            message::ENDED => {
                return result(&frame, text).map_err(|error| format!("host {name}: {error}"));
            }
            kind => return Err(format!("host {name}: sent a frame of kind {kind}")),
        }
    }
}

fn result(ended: &Frame, text: Vec<u8>) -> Result<GeneratorResult, String> {
    if let Ok(Failed { error }) = serde_json::from_slice(&ended.body) {
        return Err(error);
    }
    let text = String::from_utf8(text).map_err(|error| error.to_string())?;
    GeneratorResult::of_text(&text).map_err(|error| error.to_string())
}
