//! Resolved settings of a load: flags over `hakaru.toml` over defaults.

use std::path::Path;
use std::time::Duration;

use load::{Arrivals, Goal, Pace, Plan, Schedule, Trust};
use recording::Nanos;
use scenario::{Scenario, Single};

use super::inputs::Inputs;
use crate::cli::LoadArgs;
use crate::exit::Failure;
use crate::settings::config::{Config, Loaded};
use crate::settings::{level_up, nanos, scenario_spec, typed_flow};

const CONNECTIONS_DEFAULT: u32 = 50;
/// Limit of connections in an open load, which are opened on demand; a load at the limit means a
/// server unable to keep up.
const CONNECTIONS_OPEN_DEFAULT: u32 = 1_000;
/// A search needs some fifteen trials, of which each should hold a few seconds.
const SEARCH_DEFAULT: Duration = Duration::from_secs(60);
const DURATION_DEFAULT: Duration = Duration::from_secs(10);

/// Settings of `load`.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The target as typed.
    pub(crate) url: String,
    /// Flows of the clients.
    pub(crate) scenario: Scenario,
    /// Rate or connections, and duration.
    pub(crate) plan: Plan,
    /// Expectations at the given load, or at the searched highest load.
    pub(crate) goals: Vec<Goal>,
}

impl Settings {
    /// Resolves the settings; reads the named files.
    pub(crate) fn resolve(
        args: &LoadArgs,
        loaded: &Loaded,
        inputs: &Inputs,
    ) -> Result<Settings, Failure> {
        let url = (args
            .url
            .clone()
            .or_else(|| loaded.config.target.url.clone()))
        .ok_or_else(|| Failure::usage("which URL? try `hakaru load http://127.0.0.1:8080/`"))?;
        let scenario = match (args.flows.is_empty(), args.url.is_some()) {
            // A URL alone is requested; without one, the flows of the configuration are run.
            (true, true) => one_request(args, &url, inputs)?,
            (true, false) if loaded.config.flows.is_empty() => one_request(args, &url, inputs)?,
            _ => flows(args, loaded, &url, inputs)?,
        };
        let plan = plan(args, &loaded.config, inputs)?;
        plan.check(&scenario).map_err(Failure::usage)?;
        let goals = match &args.find_max {
            Some(goals) => Goal::parse_all(goals),
            None => args
                .expectations
                .iter()
                .map(|goal| Goal::parse(goal))
                .collect(),
        };
        Ok(Settings {
            url,
            scenario,
            plan,
            goals: goals.map_err(Failure::usage)?,
        })
    }
}

fn one_request(args: &LoadArgs, url: &str, inputs: &Inputs) -> Result<Scenario, Failure> {
    let header = |text: &String| {
        let (name, value) = text.split_once(':').ok_or_else(|| {
            Failure::usage(format!("-H {text:?}: a header is written 'Name: value'"))
        })?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    let method = match (&args.method, &args.body) {
        (Some(method), _) => method.as_str(),
        (None, Some(_)) => "POST",
        (None, None) => "GET",
    };
    let single = Single {
        url: url.to_owned(),
        method: method.to_owned(),
        headers: args
            .headers
            .iter()
            .map(header)
            .collect::<Result<_, Failure>>()?,
        body: (args.body.as_deref()).map_or(Ok(Vec::new()), |text| body(text, inputs))?,
    };
    Scenario::request(&single).map_err(Failure::usage)
}

fn body(text: &str, inputs: &Inputs) -> Result<Vec<u8>, Failure> {
    match text.strip_prefix('@') {
        None => Ok(text.as_bytes().to_vec()),
        Some(path) => inputs
            .read(Path::new(path))
            .map_err(|error| Failure::usage(format!("--body {text}: cannot read {path}: {error}"))),
    }
}

fn flows(
    args: &LoadArgs,
    loaded: &Loaded,
    url: &str,
    inputs: &Inputs,
) -> Result<Scenario, Failure> {
    let (config, folder) = (&loaded.config, &loaded.folder);
    let mut spec = scenario_spec(&[], config, folder, url)?;
    if !args.flows.is_empty() {
        // What is typed is relative to where it is typed.
        let typed = args
            .flows
            .iter()
            .map(|flow| typed_flow(flow, config, Path::new("")));
        spec.flows = typed.collect::<Result<_, _>>()?;
    }
    if let Some(csv) = &args.csv {
        let (prefix, path) = csv.split_once('=').unwrap_or(("", csv));
        spec.feed_prefix = prefix.to_owned();
        for flow in &mut spec.flows {
            flow.feed = Some(path.into());
        }
    }
    spec.run_token.clone_from(&inputs.run_token);
    Scenario::build(&spec, &mut |path| inputs.read(path)).map_err(Failure::usage)
}

/// Streams of each connection of HTTP/2; 0 for HTTP/1.
fn streams(args: &LoadArgs) -> Result<u32, Failure> {
    match (args.http2, args.streams) {
        (_, Some(0)) => Err(Failure::usage(
            "--streams 0: a connection needs one at least",
        )),
        (true, streams) => Ok(streams.unwrap_or(1)),
        (false, _) => Ok(0),
    }
}

fn plan(args: &LoadArgs, config: &Config, inputs: &Inputs) -> Result<Plan, Failure> {
    let arrivals = match (args.poisson, args.burst) {
        (true, _) => Arrivals::Poisson,
        (false, Some(size)) => Arrivals::Bursts(size),
        (false, None) => Arrivals::Even,
    };
    let schedule = args
        .rate
        .as_deref()
        .map(|rate| Schedule::parse(rate, arrivals));
    let schedule = schedule.transpose().map_err(Failure::usage)?;
    let stages = schedule
        .as_ref()
        .map(Schedule::length)
        .filter(|length| *length > Nanos::ZERO);
    let duration = args
        .duration
        .map(nanos)
        .or(stages)
        .unwrap_or(nanos(match args.find_max {
            Some(_) => SEARCH_DEFAULT,
            None => DURATION_DEFAULT,
        }));
    let connections = args
        .connections
        .unwrap_or(match (&schedule, &args.find_max) {
            (Some(_), _) | (_, Some(_)) => CONNECTIONS_OPEN_DEFAULT,
            (None, None) => CONNECTIONS_DEFAULT.max(args.threads),
        });
    let default = Plan::default();
    let streams = streams(args)?;
    Ok(Plan {
        connections: connections.saturating_mul(streams.max(1)),
        streams,
        // What is typed as an open load, or as a search, is none that rises.
        level_up: match schedule.is_some() || args.find_max.is_some() {
            true => None,
            false => level_up(config)?,
        },
        pace: schedule.map_or(Pace::Closed, Pace::Scheduled),
        warmup: args.warmup.map_or(Nanos::ZERO, nanos),
        part: args.part.unwrap_or_default(),
        duration,
        threads: args.threads,
        seed: args.seed.unwrap_or(default.seed),
        answer_timeout: args.reach.timeout.map_or(default.answer_timeout, nanos),
        connect_timeout: args.connect_timeout.map_or(default.connect_timeout, nanos),
        keep_alive: !args.no_keepalive,
        keep_bodies: args.keep_bodies || config.load.keep_bodies,
        via: args.reach.via().map_err(Failure::usage)?,
        trust: Trust {
            authorities: (args.reach.ca.as_deref())
                .map(|path| inputs.as_path(path))
                .transpose()?,
            insecure: args.reach.insecure,
        },
        engine: args.engine.resolve().map_err(Failure::usage)?,
        ..default
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::ReachArgs;

    fn resolve(args: LoadArgs) -> Result<Settings, Failure> {
        let loaded = Loaded {
            config: toml::from_str("").expect("no config"),
            folder: "/app".into(),
            path: None,
        };
        Settings::resolve(&args, &loaded, &Inputs::of_disk())
    }

    fn args(url: &str) -> LoadArgs {
        LoadArgs {
            url: Some(url.to_owned()),
            threads: 1,
            ..LoadArgs::default()
        }
    }

    #[test]
    fn a_url_alone_is_a_closed_load() {
        let settings = resolve(args("http://127.0.0.1:1/x")).expect("settings");
        assert_eq!(settings.plan.connections, CONNECTIONS_DEFAULT);
        assert_eq!(settings.plan.pace, Pace::Closed);
        assert_eq!(settings.plan.duration, nanos(DURATION_DEFAULT));
    }

    #[test]
    fn stages_say_how_long_the_load_is_unless_a_flag_does() {
        let staged = || LoadArgs {
            rate: Some("10/5s,10..100/30s".to_owned()),
            ..args("http://127.0.0.1:1/")
        };
        let plan = resolve(staged()).expect("settings").plan;
        assert_eq!(plan.duration, Nanos(35_000_000_000));
        assert_eq!(plan.connections, CONNECTIONS_OPEN_DEFAULT);
        let shorter = LoadArgs {
            duration: Some(Duration::from_secs(2)),
            ..staged()
        };
        let plan = resolve(shorter).expect("settings").plan;
        assert_eq!(plan.duration, Nanos(2_000_000_000));
    }

    #[test]
    fn what_cannot_be_run_is_refused_before_anything_is_sent() {
        let check = |args: LoadArgs, part: &str| {
            let failure = resolve(args).expect_err(part);
            assert_eq!(failure.exit, crate::exit::Exit::Usage);
            assert!(failure.message.contains(part), "{}", failure.message);
        };
        let url = || args("http://127.0.0.1:1/");
        check(LoadArgs::default(), "which URL?");
        check(args("ftp://x"), "expected a URL");
        let rate = Some("fast".to_owned());
        check(LoadArgs { rate, ..url() }, "`fast` is not a rate");
        let expectations = vec!["fast".to_owned()];
        check(
            LoadArgs {
                expectations,
                ..url()
            },
            "`fast` is no expectation",
        );
        let headers = vec!["X".to_owned()];
        check(LoadArgs { headers, ..url() }, "'Name: value'");
        let body = Some("@/nothing/here".to_owned());
        check(LoadArgs { body, ..url() }, "cannot read /nothing/here");
        let connect_to = Some("nowhere".to_owned());
        check(
            LoadArgs {
                reach: ReachArgs {
                    connect_to,
                    ..ReachArgs::default()
                },
                ..url()
            },
            "`nowhere` is no address",
        );
        check(
            LoadArgs {
                threads: 0,
                ..url()
            },
            "0 threads",
        );
    }
}
