//! What a measurement does, resolved.

use std::path::{Path, PathBuf};
use std::time::Duration;

use app_process::{CommandLine, Endpoint, Spec};
use guard::Allowed;
use load::{Pace, Plan};
use recording::{Nanos, Typed};
use scenario::{FlowSpec, Scenario};

use ending::Failure;

/// Resolved settings of a measurement.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The project: the folder of `.hakaru/`.
    pub project: PathBuf,
    /// The command whose part a run is; empty for `hakaru run`.
    pub part_of: &'static str,
    /// Description of the app to start; `None` to attach to a running one.
    pub start: Option<Spec>,
    /// URL of the app.
    pub endpoint: Endpoint,
    /// The same as typed, for flows and the page.
    pub url: String,
    /// Command for resetting the app's data, with a time limit.
    pub before: Option<(CommandLine, Duration)>,
    /// Whether the agent is loaded.
    pub agent: bool,
    /// Folder of the rings of a running app, as given by the user; `None` to look for one.
    pub rings: Option<PathBuf>,
    /// Whether the agent samples stacks: only in a single run, since in a series sampling would
    /// only slow requests down.
    pub profile: bool,
    /// Whether pages for a possible cache are requested again after the load: only in a single run.
    pub asks_again: bool,
    /// What clients do; without flows the URL is requested.
    pub scenario: scenario::Spec,
    /// How hard, how long.
    pub plan: Plan,
    /// Address of the app's database, as given by the user.
    pub database: Option<String>,
    /// Size of the app's connection pool, as given by the user.
    pub database_pool: Option<u32>,
    /// Hosts on other machines, allowed by the user.
    pub allowed: Allowed,
    /// What the command line said in place of the config file.
    pub typed: Typed,
}

impl Settings {
    /// Returns what may be changed from run to run, as lines `name = value`, for the journal.
    /// Values of the app's environment may be secrets, so only a hash of all of them is there.
    pub fn journal_lines(&self) -> String {
        let plan = &self.plan;
        let start = self.start.as_ref();
        let environment = start.map_or(0, |spec| hash(&spec.env));
        let flows: Vec<String> = self.scenario.flows.iter().map(flow_line).collect();
        let rate = match &plan.pace {
            Pace::Closed => "closed".to_owned(),
            Pace::Constant { per_second } => per_second.to_string(),
            Pace::Scheduled(schedule) => schedule.to_string(),
        };
        let lines = [
            ("agent", self.agent.to_string()),
            (
                "command",
                start.map_or_else(|| "attached".to_owned(), |spec| spec.command.to_string()),
            ),
            ("connections", plan.connections.to_string()),
            ("duration", format!("{} s", plan.duration.as_secs_f64())),
            ("environment", format!("{environment:016x}")),
            ("flows", flows.join(" ")),
            ("generator threads", plan.threads.to_string()),
            ("rate", rate),
            ("seed", plan.seed.to_string()),
            ("url", self.url.clone()),
            ("warmup", format!("{} s", plan.warmup.as_secs_f64())),
        ];
        // Named only where it is there, so that runs of programs that did not know it compare well.
        let level_up = plan.level_up.map(|level| ("level up", level.to_string()));
        let lines = lines.into_iter().chain(level_up);
        let lines = lines.map(|(name, value)| format!("{name} = {}", value.replace('\n', " ")));
        lines.collect::<Vec<String>>().join("\n")
    }

    /// Reads the flows, each time with a fresh run token, so no measurement collides with data
    /// posted by an earlier one.
    pub(crate) fn read_scenario(&self) -> Result<Scenario, Failure> {
        let read = if self.scenario.flows.is_empty() {
            Scenario::single(&self.url)
        } else {
            Scenario::read_files(&self.scenario)
        };
        read.map_err(Failure::usage)
    }

    /// Returns the address of the database, as far as config and environment say.
    pub fn database_url(&self) -> Option<String> {
        let of_app = (self.start.as_ref())
            .and_then(|spec| spec.env.iter().find(|(name, _)| name == "DATABASE_URL"))
            .map(|(_, value)| value.clone());
        (self.database.clone())
            .or(of_app)
            .or_else(|| std::env::var("DATABASE_URL").ok())
    }

    /// Returns a file in the project's folder of runs, where the project has one.
    pub(crate) fn log_file(&self, name: &str) -> Option<PathBuf> {
        let folder = self.project.join(store::FOLDER);
        folder.is_dir().then(|| folder.join(name))
    }

    /// Returns the app's working directory; empty for an app running already.
    pub(crate) fn directory(&self) -> &Path {
        self.start
            .as_ref()
            .map_or(Path::new(""), |spec| &spec.directory)
    }
}

/// Sets a variable, replacing an old value.
pub fn set_variable(env: &mut Vec<(String, String)>, name: &str, value: &str) {
    env.retain(|(known, _)| known != name);
    env.push((name.to_owned(), value.to_owned()));
}

pub(crate) fn nanos(length: Duration) -> Nanos {
    Nanos(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX))
}

fn flow_line(flow: &FlowSpec) -> String {
    let habits: Vec<String> = (flow.think.iter())
        .map(|think| format!("think {think}"))
        .chain(flow.cache.then(|| "cache".to_owned()))
        .chain(
            (flow.socket.iter())
                .map(|socket| format!("{} messages × {}", socket.steps.len(), socket.rounds)),
        )
        .collect();
    let name = format!("{}:{}", flow.name(), flow.weight);
    match habits.is_empty() {
        true => name,
        false => format!("{name} ({})", habits.join(", ")),
    }
}

fn hash(value: impl std::hash::Hash) -> u64 {
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    value.hash(&mut hasher);
    std::hash::Hasher::finish(&hasher)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_replaces_what_it_held() {
        let mut env = vec![("A".to_owned(), "1".to_owned())];
        set_variable(&mut env, "A", "2");
        assert_eq!(env, [("A".to_owned(), "2".to_owned())]);
    }
}
