//! Facts about a process with a high cost, or with restricted access.

use std::fs;
use std::path::Path;

use recording::{ProcessRole, ProcessSample};

use super::parse;

/// Shared memory, worker number, open files and limits of the process below `folder`; the rest is
/// left empty.
pub(super) fn more(folder: &Path, role: ProcessRole) -> ProcessSample {
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let is_app = role == ProcessRole::App;
    // Adding up shared pages walks all of them, so only the app's are asked for.
    let pss = || text("smaps_rollup").and_then(|text| parse::kibibytes(&text, "Pss:"));
    let worker = || text("cmdline").and_then(|text| parse::worker(&text));
    let limits = text("limits").unwrap_or_default();
    let address_space_limit = parse::soft_limit(&limits, "Max address space");
    let address_space = || text("status").and_then(|text| parse::kibibytes(&text, "VmSize:"));
    ProcessSample {
        pss: is_app.then(pss).flatten(),
        worker: is_app.then(worker).flatten(),
        fds: fs::read_dir(folder.join("fd"))
            .ok()
            .map(|files| files.count() as u32),
        fds_limit: parse::soft_limit(&limits, "Max open files"),
        address_space: address_space_limit.and_then(|_| address_space()),
        address_space_limit,
        ..ProcessSample::default()
    }
}
