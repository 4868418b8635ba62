//! Early ends of a pass: by Ctrl-C, also during a request, or because nobody reads the results.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use scenario::Scenario;

use super::{Checked, pass};
use crate::outcome::LoadError;
use crate::plan::Plan;

/// How often to look at the flag while a request is under way.
const LOOK: Duration = Duration::from_millis(20);

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassEnd {
    /// All flows were run.
    Complete,
    /// The flag was set, or the sink wanted no more.
    Early,
}

/// Runs each flow once, as [`super::check_once`], until `stop` is set or `sink` breaks. The next
/// request waits for the sink. Requests are made on a thread of their own, which is left behind
/// with the request under way when `stop` is set: one that hangs waits for half a minute.
///
/// # Errors
/// A name has no address, or no thread can be started.
pub fn check_until(
    plan: &Plan,
    scenario: Scenario,
    stop: &AtomicBool,
    sink: &mut dyn FnMut(Checked) -> ControlFlow<()>,
) -> Result<PassEnd, LoadError> {
    // Relaxed: the flag carries no other data.
    let is_stopped = || stop.load(Ordering::Relaxed);
    if is_stopped() {
        return Ok(PassEnd::Early);
    }
    let (sender, receiver) = channel::<Result<Checked, LoadError>>();
    let (go_on, gone_on) = channel::<()>();
    let plan = plan.clone();
    let run = move || {
        let ran = pass(&plan, &scenario, &mut |checked| {
            // Without a listener, or without a word from the listener, the pass is over.
            match sender.send(Ok(checked)).is_ok() && gone_on.recv().is_ok() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        if let Err(error) = ran {
            let _ = sender.send(Err(error));
        }
    };
    let thread = std::thread::Builder::new().name("hakaru-check".to_owned());
    let thread = thread.spawn(run).map_err(|source| LoadError::System {
        what: "start a thread",
        source,
    })?;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(Ok(checked)) => {
                if sink(checked).is_break() || is_stopped() {
                    return Ok(PassEnd::Early);
                }
                // The thread waits for this, so the channel is open.
                let _ = go_on.send(());
            }
            Ok(Err(error)) => return Err(error),
            Err(RecvTimeoutError::Timeout) if is_stopped() => return Ok(PassEnd::Early),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match thread.join() {
        Ok(()) => Ok(PassEnd::Complete),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
