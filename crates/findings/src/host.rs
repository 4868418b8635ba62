//! Who used the host's CPU during a run.

use std::collections::HashMap;

use breakdown::CoreSpeed;
use recording::{HostSample, Nanos, ProcessRole, Recording};

/// Share of the cores allowed to processes outside of the run.
pub(crate) const OTHERS_MAX: f64 = 0.1;
/// Share of the cores allowed to the hypervisor. Half of what would show in a p95.
pub(crate) const STEAL_MAX: f64 = 0.02;

/// CPU time as shares of the cores.
pub(crate) struct Shares {
    pub(crate) busy: f64,
    pub(crate) steal: f64,
    pub(crate) app: f64,
    pub(crate) database: f64,
    pub(crate) generator: f64,
    pub(crate) others: f64,
    pub(crate) speed: Option<CoreSpeed>,
}

impl Shares {
    /// Whether processes outside of the run used enough to show in the run's numbers.
    pub(crate) fn is_shared(&self) -> bool {
        self.steal > STEAL_MAX || self.others > OTHERS_MAX
    }
}

/// Returns the shares from the first to the last sample in the window.
pub(crate) fn shares(recording: &Recording) -> Option<Shares> {
    let window = recording.window;
    let inside: Vec<&HostSample> = recording
        .host
        .iter()
        .filter(|sample| window.contains(sample.at))
        .collect();
    let (first, last) = (inside.first()?, inside.last()?);
    let cores = f64::from(recording.meta.cores.max(1));
    let available = last.at.since(first.at).0 as f64 * cores;
    if available <= 0.0 {
        return None;
    }
    let mut used: HashMap<ProcessRole, Nanos> = HashMap::new();
    for process in &last.processes {
        let before = first
            .processes
            .iter()
            .find(|other| other.pid == process.pid);
        // A process that came later began at zero.
        let cpu = process.cpu - before.map_or(Nanos::ZERO, |before| before.cpu);
        *used.entry(process.role).or_default() += cpu;
    }
    let share = |cpu: Nanos| cpu.0 as f64 / available;
    let role = |role| share(used.get(&role).copied().unwrap_or_default());
    let busy = share(last.cpu_busy - first.cpu_busy);
    let app = role(ProcessRole::App);
    let database = role(ProcessRole::Database) + role(ProcessRole::Store);
    let generator = role(ProcessRole::Generator);
    Some(Shares {
        busy,
        steal: share(last.cpu_steal - first.cpu_steal),
        app,
        database,
        generator,
        others: (busy - app - database - generator).max(0.0),
        speed: breakdown::core_speed(recording),
    })
}
