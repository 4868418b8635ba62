//! Changes the number of Unicorn's workers by signals to the master: the command has no flag for
//! workers.

use std::time::{Duration, Instant};

use app_process::Running;
use rustix::process::{Pid, Signal, kill_process};

use super::block::BlockError;
use crate::observer::Context;

/// Time limit for workers to start: loading a large app takes long.
const LIMIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);

/// How many workers there are.
pub(crate) fn count(app: &Running) -> u32 {
    titles(app)
        .filter(|(_, title)| title.contains("unicorn worker["))
        .count() as u32
}

/// Adds workers or ends some, one after the other: two signals of one kind may arrive as one.
pub(crate) fn bring_to(app: &Running, wanted: u32, context: &Context) -> Result<(), BlockError> {
    let broken =
        |why: &str| BlockError::Broken(format!("{why}; unicorn was asked for {wanted} workers"));
    let master = titles(app).find(|(_, title)| title.contains("unicorn master"));
    let master = master
        .and_then(|(pid, _)| Pid::from_raw(pid.cast_signed()))
        .ok_or_else(|| broken("no master of unicorn is among the app's processes"))?;
    // It answers from its first worker on; those it was configured with may still be on their way.
    let mut now = settled(app, context)?;
    while now != wanted {
        let (signal, next) = match now < wanted {
            true => (Signal::TTIN, now + 1),
            false => (Signal::TTOU, now - 1),
        };
        kill_process(master, signal).map_err(|error| broken(&error.to_string()))?;
        wait_for(context, || count(app) == next)
            .map_err(|_| broken("its master follows no signal"))?;
        now = next;
    }
    Ok(())
}

/// Returns the number of workers once stable for a while.
fn settled(app: &Running, context: &Context) -> Result<u32, BlockError> {
    const SAME: u32 = 10;
    let (mut last, mut same) = (0, 0);
    wait_for(context, || {
        let now = count(app);
        same = if now == last && now > 0 { same + 1 } else { 0 };
        last = now;
        same >= SAME
    })?;
    Ok(last)
}

fn wait_for(context: &Context, mut look: impl FnMut() -> bool) -> Result<(), BlockError> {
    let deadline = Instant::now() + LIMIT;
    while !look() {
        if context.is_stopped() {
            return Err(BlockError::Interrupted);
        }
        if Instant::now() > deadline {
            return Err(BlockError::Broken("its workers do not come up".to_owned()));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

fn titles(app: &Running) -> impl Iterator<Item = (u32, String)> {
    app.pids().into_iter().filter_map(|pid| {
        let title = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        Some((pid, String::from_utf8_lossy(&title).into_owned()))
    })
}
