//! Changes the threads of a running Puma, by the agents inside.

use std::path::Path;
use std::time::{Duration, Instant};

use app_process::Running;
use capture::LiveProcess;
use whatif::search::Cell;

use crate::observer::Context;

/// More than what the agent itself waits for threads to end.
const LIMIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);

/// Brings every worker of `app` to the cell's threads. `false` where that cannot be: a worker has
/// not had a request yet, is another one than before, or does not answer. Then nothing is certain,
/// and the app has to be restarted.
pub(crate) fn bring_to(rings: &Path, app: &Running, cell: Cell, context: &Context) -> bool {
    let workers: Vec<LiveProcess> = (app.pids().into_iter())
        .filter_map(|pid| LiveProcess::of(rings, pid))
        .collect();
    let all = workers.len() == cell.workers.max(1) as usize;
    if !all
        || !workers
            .iter()
            .all(|worker| worker.ask(cell.threads).is_ok())
    {
        return false;
    }
    let deadline = Instant::now() + LIMIT;
    while !(workers.iter()).all(|worker| worker.threads() == Some(cell.threads)) {
        if context.is_stopped() || Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    true
}
