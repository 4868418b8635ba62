//! What `hakaru doctor` reads, taken while the app runs, for the run's findings.

use std::path::PathBuf;

use doctor::Snapshot;
use probe::collect::{Wanted, collect, control_group};
use probe::measure;

use crate::settings::Settings;

/// The facts before the load.
pub(crate) struct Machine {
    snapshot: Snapshot,
    pid: Option<u32>,
}

impl Machine {
    /// Examines the machine, the app's first process and the database. Takes a fraction of a
    /// second, before anything is measured.
    pub(crate) fn look(settings: &Settings, pids: &[u32]) -> Machine {
        let pid = pids.iter().min().copied();
        let folder = settings.start.as_ref().map(|spec| spec.directory.clone());
        let wanted = Wanted {
            folder: folder.unwrap_or_else(|| PathBuf::from(".")),
            pid,
            command: Vec::new(),
            databases: settings.database_url().into_iter().collect(),
            areas: Vec::new(),
        };
        let mut snapshot = collect(&wanted);
        measure::mitigations(&wanted, &mut snapshot);
        Machine { snapshot, pid }
    }

    /// The facts as JSON, with what the control group's counters grew by since then. The app must
    /// still run.
    pub(crate) fn end(mut self) -> String {
        let now = self.pid.and_then(control_group);
        if let (Some(group), Some(now)) = (self.snapshot.process.group.as_mut(), now) {
            let grown = |after: Option<u64>, before: Option<u64>| {
                let both = after.zip(before);
                both.map(|(after, before)| after.saturating_sub(before))
            };
            group.periods = grown(now.periods, group.periods);
            group.throttled = grown(now.throttled, group.throttled);
            group.throttled_ns = grown(now.throttled_ns, group.throttled_ns);
        }
        self.snapshot.json()
    }
}
