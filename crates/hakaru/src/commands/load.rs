//! `hakaru load`: sends requests, adds up, prints the result.

mod find_max;
pub(crate) mod generator;
mod inputs;
mod kubernetes;
mod merge;
mod on;
mod part;
mod screen;
mod settings;
mod show;

use std::fs::File;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use figures::numbers;
use generators::Order;
use load::{GoalResult, Interval, LoadEnd, Measured, Plan, ProbeError, Via};
use load_report::hdr_log::{HdrLog, V2DeflateSerializer};
use load_report::live::Live;
use load_report::rows::Row;
use load_report::{StepLabel, View};
use recording::Nanos;
use words::{Text, text};

use crate::cli::{LoadArgs, LoadCommand};
use crate::consent;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output::html::is_stdout;
use crate::output::{self, Progress};
use crate::settings::config;
use crate::settings::config::Loaded;
use console::language;
use guard::Allowed;
use inputs::Inputs;
use screen::Screen;
use settings::Settings;
use show::Outputs;

/// Rows written of a load; a longer load has longer intervals.
const ROWS_MAX: u64 = 3_600;
const SECOND: u64 = 1_000_000_000;
/// Time for a first connection before a notice.
const CONNECT_TRY: Duration = Duration::from_millis(500);

/// Runs the load, prints the summary, and returns the exit code.
pub(crate) fn load(args: &LoadArgs) -> Result<Exit, Failure> {
    if let Some(LoadCommand::Merge(args)) = &args.command {
        return merge::merge(args);
    }
    let folder = context::current_folder()?;
    let loaded = config::load(None, &folder)?;
    let is_elsewhere = args.cluster.kubernetes || !args.on.is_empty();
    let inputs = match is_elsewhere {
        true => Inputs::keeping(),
        false => Inputs::of_disk(),
    };
    let settings = Settings::resolve(args, &loaded, &inputs)?;
    ask(args, &loaded, &settings)?;
    let outputs = Outputs {
        json: args.form.json,
        html: args.html.as_deref(),
        series: args.series.as_deref(),
        prometheus: args.prometheus.as_deref(),
        otlp: show::receiver(args.otlp.as_deref())?,
    };
    outputs.check()?;
    part::check(args)?;
    let stop = context::stop_flag()?;
    if args.find_max.is_some() {
        return find_max::find_max(args, &settings, &stop);
    }
    output::notice(load_report::page::announcement(
        &settings.url,
        &settings.plan,
    ));
    if is_elsewhere {
        let order = order(args, &loaded, inputs)?;
        if args.cluster.kubernetes {
            return kubernetes::kubernetes(&args.cluster, settings, &order, &outputs, &stop);
        }
        return on::on(args, &loaded, settings, &order, &outputs, &stop);
    }
    here(args, settings, &outputs, &stop)
}

/// Sends the load, or one part of several, from the current process.
fn here(
    args: &LoadArgs,
    mut settings: Settings,
    outputs: &Outputs<'_>,
    stop: &Arc<AtomicBool>,
) -> Result<Exit, Failure> {
    try_out(&settings)?;
    if let Some(start) = &args.start_at {
        match start.wait(stop)? {
            Some(start) => settings.plan.start_at = Some(start),
            None => return Ok(Exit::Interrupted),
        }
    }
    let started_at_unix_ms = now_unix_ms();
    let (kept, logged) = measure(&settings, args.hdr.as_deref(), args.result.is_some(), stop)?;
    let steps = StepLabel::all(&settings.scenario);
    let stored = match &args.result {
        Some(path) => part::keep(path, &settings, &steps, &kept),
        None => Ok(()),
    };
    // What is expected of all generators is not judged by what one of them saw.
    let judged = match settings.plan.part.is_whole() {
        true => settings.goals.as_slice(),
        false => &[],
    };
    let goals: Vec<GoalResult> = judged
        .iter()
        .map(|goal| goal.check(&kept.measured))
        .collect();
    let view = View {
        url: &settings.url,
        started_at_unix_ms,
        plan: &settings.plan,
        steps: &steps,
        measured: &kept.measured,
        goals: &goals,
        rows: &kept.rows,
        generators: &[],
    };
    if !args.result.as_deref().is_some_and(is_stdout) {
        show::show(&view, outputs)?;
    }
    // What was measured is shown also where a file could not be written.
    stored.and(logged)?;
    Ok(exit(match settings.plan.part.is_whole() {
        true => LoadEnd::of(&kept.measured, &settings.goals, &goals),
        // `load merge` says what came of all.
        false => LoadEnd::of_part(&kept.measured),
    }))
}

/// Returns the order for the generators elsewhere.
fn order(args: &LoadArgs, loaded: &Loaded, inputs: Inputs) -> Result<Order, Failure> {
    Ok(Order {
        words: args.for_generator(),
        config: loaded.of_load()?,
        folder: loaded.folder.to_string_lossy().into_owned(),
        run_token: inputs.run_token.clone(),
        files: inputs.kept(),
    })
}

/// Prints a notice when nobody listens: the load is sent all the same. A name without an address
/// fails before anybody waits for the start.
fn try_out(settings: &Settings) -> Result<(), Failure> {
    match load::can_connect(&settings.plan, &settings.scenario, CONNECT_TRY) {
        Err(ProbeError::Resolve(error)) => return Err(Failure::new(Exit::Failed, error)),
        Err(error) => output::notice(text!(
            "hakaru: {url} accepts no connection ({error}); is the server started, and is this its port?",
            url = settings.url,
            error = Text::named(&error.to_string())
        )),
        Ok(()) => {}
    }
    Ok(())
}

/// Fails unless the load stays on this machine, or the host is allowed by name.
fn ask(args: &LoadArgs, loaded: &Loaded, settings: &Settings) -> Result<(), Failure> {
    let allowed = Allowed {
        targets: [loaded.config.target.host_ok.clone(), args.host_ok.clone()].concat(),
        ..Allowed::default()
    };
    let host = match &settings.plan.via {
        Some(Via::Unix(_)) => None,
        Some(Via::Host { host, .. }) => Some(host.as_str()),
        proxy => {
            // To the proxy, a local name is its own machine.
            if let Some(Via::Proxy { host, .. }) = proxy {
                consent::target(host, &allowed)?;
            }
            Some(settings.scenario.base_url().host.as_str())
        }
    };
    match host {
        Some(host) if args.on.is_empty() || !is_own_of_each(host) => {
            consent::target(host, &allowed)
        }
        // Each generator loads a server on its own host. To be named with --on is consent to send
        // load, not to bear it.
        _ => (args.on.iter()).try_for_each(|name| consent::target(own_name(name), &allowed)),
    }
}

/// Whether a host is another one on each machine.
fn is_own_of_each(host: &str) -> bool {
    let address: Result<IpAddr, _> = host.trim_matches(['[', ']']).parse();
    address.map_or_else(
        |_| host.eq_ignore_ascii_case("localhost"),
        |address| address.is_loopback(),
    )
}

/// Returns the host's name or address of a destination of `ssh`, such as `ssh://user@host:2222`.
fn own_name(destination: &str) -> &str {
    let (scheme, rest) = match destination.strip_prefix("ssh://") {
        Some(rest) => (true, rest),
        None => (false, destination),
    };
    let host = rest.rsplit_once('@').map_or(rest, |(_user, host)| host);
    match scheme {
        true => host.split_once(':').map_or(host, |(host, _port)| host),
        false => host,
    }
}

/// Figures of a load, with rows and intervals.
struct Kept {
    measured: Measured,
    rows: Vec<Row>,
    /// All stretches, warm-up included, where a result is written.
    intervals: Vec<Interval>,
    /// Length of a stretch.
    length: Nanos,
}

/// Runs the load with the live page on a terminal, or a line of progress where the terminal is too
/// small. The second result is that of the log of latencies.
fn measure(
    settings: &Settings,
    hdr: Option<&Path>,
    keeps_intervals: bool,
    stop: &AtomicBool,
) -> Result<(Kept, Result<(), Failure>), Failure> {
    let plan = &settings.plan;
    let length = stretch_length(plan);
    let (mut rows, mut intervals) = (Vec::new(), Vec::new());
    let mut screen = Screen::open(Live::new(
        &settings.url,
        plan,
        plan.engine,
        language::chosen(),
    ));
    let mut progress = Progress::new();
    let unwritten = |error: std::io::Error| {
        let path = hdr.unwrap_or(Path::new("")).display();
        Failure::new(Exit::Failed, format!("cannot write {path}: {error}"))
    };
    let mut serializer = V2DeflateSerializer::new();
    let mut file = hdr.map(File::create).transpose().map_err(unwritten)?;
    let start = SystemTime::now() + Duration::from_nanos(plan.warmup.0);
    let log = file
        .as_mut()
        .map(|file| HdrLog::begin(file, &mut serializer, start, length));
    let mut log = log.transpose().map_err(unwritten)?;
    let mut failed = None;
    let measured = load::measure(plan, &settings.scenario, stop, length, &mut |interval| {
        let written = log.as_mut().map_or(Ok(()), |log| log.add(interval));
        failed = failed.take().or(written.err());
        let row = Row::of(interval, length);
        match &mut screen {
            Some(screen) => screen.add(interval, length),
            None => progress.show(line_of(&row)),
        }
        if interval.number >= 0 {
            rows.push(row);
        }
        if keeps_intervals {
            intervals.push(interval.clone());
        }
    });
    drop(screen);
    progress.clear();
    let measured = measured.map_err(|error| Failure::new(Exit::Failed, error))?;
    let kept = Kept {
        measured,
        rows,
        intervals,
        length,
    };
    Ok((kept, failed.map_or(Ok(()), |error| Err(unwritten(error)))))
}

/// Returns the length of the load's intervals.
fn stretch_length(plan: &Plan) -> Nanos {
    Nanos(SECOND * (plan.duration.0 / SECOND).div_ceil(ROWS_MAX).max(1))
}

fn line_of(row: &Row) -> Text {
    text!(
        "  {seconds} s   {rate} requests/s   p50 {p50}   p99 {p99}   {failed} failed   generator {cores} cores",
        seconds = format!("{:>4.0}", row.at_s + row.length_s),
        rate = numbers::plain(row.rps()),
        p50 = numbers::duration_ms_or_unknown(row.latency_ms[0]),
        p99 = numbers::duration_ms_or_unknown(row.latency_ms[2]),
        failed = numbers::count(row.failed),
        cores = numbers::plain(row.generator_cores)
    )
}

fn exit(end: LoadEnd) -> Exit {
    match end {
        LoadEnd::Ok => Exit::Ok,
        LoadEnd::Failed => Exit::Failed,
        LoadEnd::Interrupted => Exit::Interrupted,
        LoadEnd::ExpectationMissed => Exit::EXPECTATION_MISSED,
        LoadEnd::RequestsFailed => Exit::RequestsFailed,
        LoadEnd::Undecided => Exit::Undecided,
    }
}

fn now_unix_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}
