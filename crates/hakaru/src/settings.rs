//! Resolved settings of a run: the command line over the config file over defaults.

pub(crate) mod config;
mod flow;
pub(crate) mod start;

use std::path::{Path, PathBuf};
use std::time::Duration;

use app_process::{CommandLine, Endpoint, Spec};
use experiment::Settings;
use guard::Allowed;
use load::{Arrivals, Pace, Plan, Schedule, Trust};
use recording::{Nanos, Typed};
use scenario::{CapturePoints, ScoreRule, ScoreSpec};

use crate::cli::RunArgs;
use crate::exit::Failure;
use crate::settings::config::{Config, FILE_NAME, Loaded, Rate};

pub(crate) use flow::{flow_spec, typed_flow};

/// Puma's default port, on loopback.
pub(crate) const URL_DEFAULT: &str = "http://127.0.0.1:9292/";
const CONNECTIONS_DEFAULT: u32 = 10;
const DURATION_DEFAULT: Duration = Duration::from_secs(20);
/// Ruby's inline caches, connection pools and page cache settle within seconds; a JIT needs longer
/// and is noticed by the finding on warm-up.
const WARMUP_DEFAULT: Duration = Duration::from_secs(3);
/// Wait for responses in flight after the measured part; requests still open then count as
/// unanswered, with at least the time so far.
const DRAIN: Duration = Duration::from_secs(5);
/// Limits of slow and calm in the contest whose rule `level_up` follows.
const LEVEL_SLOW_DEFAULT: Duration = Duration::from_secs(1);
const LEVEL_CALM_DEFAULT: Duration = Duration::from_secs(5);
const BEFORE_TIMEOUT_DEFAULT: Duration = Duration::from_secs(300);

/// Resolves what a run will do: the command line over the config file over defaults; nothing
/// outside the process is touched.
pub(crate) fn resolve(args: &RunArgs, loaded: Loaded) -> Result<Settings, Failure> {
    let Loaded {
        config,
        folder,
        path,
    } = loaded;
    let directory = match &config.target.directory {
        Some(directory) => folder.join(directory),
        None => folder.clone(),
    };
    let url = args
        .app
        .url
        .clone()
        .or_else(|| config.target.url.clone())
        .unwrap_or_else(|| URL_DEFAULT.to_owned());
    let endpoint = Endpoint::parse(&url).map_err(Failure::usage)?;
    let start = match (args.attach, command(args, &config)) {
        (true, _) => None,
        (false, Some(command)) => Some(spec(command, &endpoint, &config, directory)),
        // An app on hosts runs already.
        (false, None) if !config.hosts.is_empty() => None,
        (false, None) => return Err(no_command(path.is_some())),
    };
    let before = config
        .target
        .before
        .clone()
        .map(CommandLine::Shell)
        .map(|line| {
            let limit = config.target.before_timeout;
            (line, limit.unwrap_or(BEFORE_TIMEOUT_DEFAULT))
        });
    Ok(Settings {
        plan: Plan {
            trust: trust(args, &config, &folder),
            ..plan(args, &config)?
        },
        scenario: scenario_spec(&args.app.flows, &config, &folder, &url)?,
        rings: (config.target.rings.as_ref()).map(|rings| folder.join(rings)),
        project: folder,
        part_of: "",
        agent: start.is_some() && !args.no_agent,
        profile: false,
        asks_again: false,
        start,
        endpoint,
        url,
        before: before.filter(|_| !args.attach),
        allowed: Allowed {
            databases: config.target.database_host_ok,
            targets: [config.target.host_ok, args.host_ok.clone()].concat(),
        },
        database: config.target.database,
        database_pool: config.target.database_pool,
        typed: typed(
            args.config.file.as_deref(),
            args.app.url.as_ref(),
            &args.app.flows,
            &args.command,
        ),
    })
}

fn no_command(has_config: bool) -> Failure {
    let (place, init) = if has_config {
        (format!("{FILE_NAME} has no `command` under [target]"), "")
    } else {
        (
            format!("there is no {FILE_NAME} in this folder"),
            "`hakaru init` writes one in the folder of an app with config.ru; else ",
        )
    };
    Failure::usage(format!(
        "{place}, so there is no app to start; {init}\
         give a command, such as `hakaru run -- puma -t 5:5 config.ru`, or --attach for an app that is already running"
    ))
}

/// Returns the flags' values, which override the config file.
pub(crate) fn typed(
    config: Option<&Path>,
    url: Option<&String>,
    flows: &[String],
    command: &[String],
) -> Typed {
    Typed {
        config: config.map(|path| path.display().to_string()),
        url: url.cloned(),
        flows: flows.to_vec(),
        command: command.to_vec(),
    }
}

fn command(args: &RunArgs, config: &Config) -> Option<CommandLine> {
    if args.command.is_empty() {
        config.target.command.clone().map(CommandLine::Shell)
    } else {
        Some(CommandLine::Argv(args.command.clone()))
    }
}

fn spec(command: CommandLine, endpoint: &Endpoint, config: &Config, directory: PathBuf) -> Spec {
    let mut spec = Spec::new(command, endpoint.clone());
    spec.directory = directory;
    spec.env = config.target.env.clone().into_iter().collect();
    if let Some(limit) = config.target.ready_timeout {
        spec.ready_timeout = limit;
    }
    if let Some(limit) = config.target.stop_timeout {
        spec.stop_timeout = limit;
    }
    spec
}

/// When requests are due: by the rate on the command line, else as the file says.
fn pace(args: &RunArgs, config: &Config) -> Result<Pace, Failure> {
    let constant = |rate: f64| match rate > 0.0 && rate.is_finite() {
        true => Ok(Pace::Constant { per_second: rate }),
        false => Err(Failure::usage(format!(
            "a rate of {rate} requests per second cannot be sent"
        ))),
    };
    let arrivals = match config.load.arrivals {
        Some(_) => Arrivals::Recorded,
        None => Arrivals::Even,
    };
    let rate = match (args.open.rate, &config.load.rate) {
        (Some(rate), _) => return constant(rate),
        (None, Some(Rate::PerSecond(rate))) if arrivals == Arrivals::Even => {
            return constant(*rate);
        }
        (None, Some(Rate::PerSecond(rate))) => rate.to_string(),
        (None, Some(Rate::Stages(stages))) => stages.clone(),
        (None, None) if arrivals == Arrivals::Recorded => {
            let why = "`arrivals` says when requests are due; `rate` beside it says their mean, and is missing";
            return Err(Failure::usage(why));
        }
        (None, None) => return Ok(Pace::Closed),
    };
    let schedule = Schedule::parse(&rate, arrivals);
    let schedule = schedule.map_err(|why| Failure::usage(format!("[load] rate: {why}")))?;
    Ok(Pace::Scheduled(schedule))
}

fn plan(args: &RunArgs, config: &Config) -> Result<Plan, Failure> {
    let load = &config.load;
    let pace = pace(args, config)?;
    let connections = args
        .connections
        .or(load.connections)
        .unwrap_or(CONNECTIONS_DEFAULT);
    if connections == 0 {
        return Err(Failure::usage("--connections must be at least 1"));
    }
    let default = Plan::default();
    Ok(Plan {
        connections,
        // A rate on the command line has the last word over what the file says of a closed load.
        level_up: match (&pace, args.open.rate) {
            (Pace::Constant { .. }, Some(_)) => None,
            _ => level_up(config)?,
        },
        pace,
        warmup: nanos(args.warmup.or(load.warmup).unwrap_or(WARMUP_DEFAULT)),
        duration: nanos(args.duration.or(load.duration).unwrap_or(DURATION_DEFAULT)),
        threads: args
            .generator_threads
            .or(load.generator_threads)
            .unwrap_or(default.threads)
            .max(1),
        seed: args.seed.or(load.seed).unwrap_or(default.seed),
        drain: nanos(DRAIN),
        answer_timeout: load.timeout.map_or(default.answer_timeout, nanos),
        keep_bodies: args.keep_bodies || load.keep_bodies,
        streams: u32::from(args.http2),
        ..default
    })
}

/// Whom to trust over TLS: a flag replaces both keys of the file.
fn trust(args: &RunArgs, config: &Config, folder: &Path) -> Trust {
    let of_file = || config.target.ca.as_ref().map(|file| folder.join(file));
    match (&args.ca, args.insecure) {
        (None, false) => Trust {
            authorities: of_file(),
            insecure: config.target.insecure,
        },
        (file, insecure) => Trust {
            authorities: file.clone(),
            insecure,
        },
    }
}

/// Increase of a closed load, when the file has one.
pub(crate) fn level_up(config: &Config) -> Result<Option<load::LevelUp>, Failure> {
    let Some(level) = &config.load.level_up else {
        return Ok(None);
    };
    if level.users == 0 || level.max == 0 {
        return Err(Failure::usage(
            "level_up: `users` come each second until there are `max`; give at least 1 of each",
        ));
    }
    Ok(Some(load::LevelUp {
        users: level.users,
        users_max: level.max,
        slow: nanos(level.slow.unwrap_or(LEVEL_SLOW_DEFAULT)),
        calm: nanos(level.calm.unwrap_or(LEVEL_CALM_DEFAULT)),
    }))
}

pub(crate) fn nanos(length: Duration) -> Nanos {
    Nanos(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX))
}

pub(crate) fn scenario_spec(
    typed: &[String],
    config: &Config,
    folder: &Path,
    url: &str,
) -> Result<scenario::Spec, Failure> {
    let flows = if typed.is_empty() {
        config
            .flows
            .iter()
            .map(|flow| flow_spec(flow, folder))
            .collect::<Result<_, _>>()?
    } else {
        typed
            .iter()
            .map(|flow| typed_flow(flow, config, folder))
            .collect::<Result<_, _>>()?
    };
    Ok(scenario::Spec {
        base_url: url.to_owned(),
        flows,
        variables: config.variables.clone().into_iter().collect(),
        feed_prefix: String::new(),
        score: score_spec(config),
        arrivals: (config.load.arrivals.as_ref()).map(|path| folder.join(path)),
        order: (config.load.order.as_ref())
            .filter(|_| typed.is_empty())
            .map(|path| folder.join(path)),
        run_token: String::new(),
    })
}

fn score_spec(config: &Config) -> ScoreSpec {
    ScoreSpec {
        rules: config
            .score
            .rules
            .iter()
            .map(|rule| ScoreRule {
                pattern: rule.pattern.clone(),
                status: rule.status,
                points: rule.points,
                per: rule.per,
            })
            .collect(),
        captures: config
            .score
            .captures
            .iter()
            .map(|(name, points)| CapturePoints {
                name: name.clone(),
                points: *points,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{AppArgs, RateArgs};

    fn resolve(args: RunArgs, toml: &str) -> Result<Settings, Failure> {
        let config = toml::from_str(toml).expect("a valid config");
        super::resolve(
            &args,
            Loaded {
                config,
                folder: PathBuf::from("/app"),
                path: None,
            },
        )
    }

    #[test]
    fn the_command_line_wins_over_the_file_and_the_file_over_defaults() {
        let toml = "[target]\ncommand = 'puma'\n[load]\nconnections = 7\nduration = '5s'";
        let args = RunArgs {
            connections: Some(9),
            ..RunArgs::default()
        };
        let settings = resolve(args, toml).expect("settings");
        assert_eq!(settings.plan.connections, 9);
        assert_eq!(settings.plan.duration, Nanos(5_000_000_000));
        assert_eq!(settings.plan.warmup, nanos(WARMUP_DEFAULT));
        assert!(settings.agent);
    }

    #[test]
    fn a_rate_is_a_number_or_stages_or_the_mean_of_arrivals() {
        let pace = |load: &str, rate: Option<f64>| {
            let args = RunArgs {
                open: RateArgs { rate },
                ..RunArgs::default()
            };
            let toml = format!("[target]\ncommand = 'puma'\n[load]\n{load}");
            resolve(args, &toml).map(|settings| settings.plan.pace)
        };
        let scheduled = |text: &str, arrivals| {
            Pace::Scheduled(Schedule::parse(text, arrivals).expect("a rate"))
        };
        let constant = Pace::Constant { per_second: 5.0 };
        assert_eq!(pace("rate = 5", None).expect("a pace"), constant);
        let stages = "rate = '10/60s,20/30s'";
        let expected = scheduled("10/60s,20/30s", Arrivals::Even);
        assert_eq!(pace(stages, None).expect("a pace"), expected);
        assert_eq!(pace(stages, Some(5.0)).expect("a pace"), constant);
        let recorded = "rate = 7.5\narrivals = 'a.csv'";
        let expected = scheduled("7.5", Arrivals::Recorded);
        assert_eq!(pace(recorded, None).expect("a pace"), expected);
        assert_eq!(pace(recorded, Some(5.0)).expect("a pace"), constant);
        for wrong in [
            "rate = 'soon'",
            "rate = 0",
            "rate = '0'",
            "arrivals = 'a.csv'",
        ] {
            let failure = pace(wrong, None).expect_err("refused");
            assert_eq!(failure.exit, crate::exit::Exit::Usage, "{wrong}");
        }
    }

    #[test]
    fn without_a_command_the_way_out_is_named() {
        let failure = resolve(RunArgs::default(), "").expect_err("no command");
        assert_eq!(failure.exit, crate::exit::Exit::Usage);
        assert!(failure.message.contains("hakaru run -- puma"));
        assert!(failure.message.contains("--attach"));
    }

    #[test]
    fn an_app_on_hosts_runs_already() {
        let toml = "[[host]]\nname = 'app1'";
        let settings = resolve(RunArgs::default(), toml).expect("settings");
        assert!(settings.start.is_none() && !settings.agent);
    }

    #[test]
    fn a_load_that_cannot_be_sent_is_refused() {
        let toml = "[target]\ncommand = 'puma'";
        let args = RunArgs {
            connections: Some(0),
            ..RunArgs::default()
        };
        assert!(resolve(args, toml).is_err());
        let args = RunArgs {
            open: RateArgs { rate: Some(-1.0) },
            ..RunArgs::default()
        };
        assert!(resolve(args, toml).is_err());
    }

    #[test]
    fn the_journal_says_how_users_behave() {
        let toml = "[target]\ncommand = 'puma'\n\
                    [load]\nlevel_up = { users = 5, max = 500 }\n\
                    [[flow]]\nfile = 'a.hurl'\nthink = 'lognormal 400ms p95 2s'\ncache = true\n\
                    [[flow]]\nconnect = '/room'\nrounds = 3\n[[flow.step]]\nsend = 'x'\nexpect = 'y'";
        let told = resolve(RunArgs::default(), toml)
            .expect("settings")
            .journal_lines();
        for line in [
            "flows = /app/a.hurl:1 (think lognormal 400ms p95 2s, cache) WS /room:1 (1 messages × 3)",
            "level up = 5 users per second up to 500, slow 1 s, calm 5 s",
        ] {
            assert!(told.lines().any(|told| told == line), "{told}");
        }
    }

    #[test]
    fn what_messages_cannot_be_is_refused() {
        let check = |step: &str, part: &str| {
            let toml = format!("[target]\ncommand = 'puma'\n[[flow]]\n{step}");
            let failure = resolve(RunArgs::default(), &toml).expect_err(part);
            assert!(failure.message.contains(part), "{}", failure.message);
        };
        check("file = 'a'\nrounds = 2", "no `connect`");
        let message = |step: &str| format!("connect = '/'\n[[flow.step]]\n{step}");
        check(&message("send = { hex = '0' }"), "hexadecimal digits");
        check(&message("send = { }"), "`send` is a text");
        check(&message("expect = { }"), "demands nothing");
        check(&message("close = true\nthink = 'soon'"), "no think time");
    }

    #[test]
    fn a_typed_flow_keeps_the_feed_of_the_config_file() {
        let toml = "[target]\ncommand = 'puma'\n[[flow]]\nfile = 'a.hurl'\nfeed = 'users.csv'";
        let args = RunArgs {
            app: AppArgs {
                flows: vec!["a.hurl:3".to_owned()],
                ..AppArgs::default()
            },
            ..RunArgs::default()
        };
        let settings = resolve(args, toml).expect("settings");
        let flow = &settings.scenario.flows[0];
        assert_eq!(flow.weight, 3);
        assert_eq!(flow.feed.as_deref(), Some(Path::new("/app/users.csv")));
    }
}
