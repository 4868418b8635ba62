//! What is dearer to know of a process, or may be forbidden.

use std::fs;
use std::path::Path;

use recording::{ProcessRole, ProcessSample};

use super::parse;

/// Shared memory, worker number and open files of the process below `folder`; the rest is left empty.
pub(super) fn more(folder: &Path, role: ProcessRole) -> ProcessSample {
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let is_app = role == ProcessRole::App;
    // Adding up shared pages walks all of them, so only the app's are asked for.
    let pss = || text("smaps_rollup").and_then(|text| parse::shared_resident(&text));
    let worker = || text("cmdline").and_then(|text| parse::worker(&text));
    ProcessSample {
        pss: is_app.then(pss).flatten(),
        worker: is_app.then(worker).flatten(),
        fds: fs::read_dir(folder.join("fd"))
            .ok()
            .map(|files| files.count() as u32),
        fds_limit: text("limits").and_then(|text| parse::files_limit(&text)),
        ..ProcessSample::default()
    }
}
