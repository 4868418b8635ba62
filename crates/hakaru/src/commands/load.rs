//! `hakaru load`: sends requests, adds up, says what came of it.

mod find_max;
mod screen;
mod settings;

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use figures::numbers;
use load::{GoalResult, Measured, Via};
use load_report::View;
use load_report::hdr_log::{HdrLog, V2DeflateSerializer};
use load_report::live::Live;
use load_report::rows::{self, Row};
use recording::Nanos;
use words::{Text, text};

use crate::cli::LoadArgs;
use crate::consent;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::language;
use crate::output::html::{check_html, check_writable, is_stdout, write_html};
use crate::output::{self, Progress, look};
use crate::settings::config;
use crate::settings::config::Loaded;
use guard::Allowed;
use screen::Screen;
use settings::Settings;

/// Rows that a run may leave; a longer one has longer stretches.
const ROWS_MAX: u64 = 3_600;
const SECOND: u64 = 1_000_000_000;
/// How long the server may take for a first connection before the user is told.
const CONNECT_TRY: Duration = Duration::from_millis(500);

/// Runs it, prints the summary, and says how the program ends.
pub(crate) fn load(args: &LoadArgs) -> Result<Exit, Failure> {
    let folder = context::current_folder()?;
    let loaded = config::load(None, &folder)?;
    let settings = Settings::resolve(args, &loaded)?;
    ask(args, &loaded, &settings)?;
    check_html(args.html.as_deref(), args.json)?;
    for path in args.html.iter().chain(&args.series) {
        check_writable(path)?;
    }
    let stop = context::stop_flag()?;
    if args.find_max.is_some() {
        return find_max::find_max(args, &settings, &stop);
    }
    output::notice(load_report::page::announcement(
        &settings.url,
        &settings.plan,
    ));
    if let Err(error) = load::can_connect(&settings.plan, &settings.scenario, CONNECT_TRY) {
        output::notice(text!(
            "hakaru: {url} accepts no connection ({error}); is the server started, and is this its port?",
            url = settings.url,
            error = Text::named(&error.to_string())
        ));
    }
    let started_at_unix_ms = now_unix_ms();
    let (measured, rows) = measure(&settings, args.hdr.as_deref(), &stop)?;
    let goals: Vec<GoalResult> = (settings.goals.iter())
        .map(|goal| goal.check(&measured))
        .collect();
    let view = View {
        url: &settings.url,
        started_at_unix_ms,
        plan: &settings.plan,
        scenario: &settings.scenario,
        measured: &measured,
        goals: &goals,
        rows: &rows,
    };
    match args.json {
        true => output::data(&load_report::json::document(
            &view,
            words::Language::English,
        )),
        false if args.html.as_deref().is_some_and(is_stdout) => {}
        false => output::page(&load_report::page::summary(
            &view,
            look::page_columns(),
            language::chosen(),
        )),
    }
    if let Some(path) = &args.series {
        write_html(path, &rows::csv(&rows))?;
    }
    if let Some(path) = &args.html {
        let (json, text) = (
            load_report::json::document(&view, language::chosen()),
            load_report::page::summary(&view, report::text::COLUMNS, language::chosen()),
        );
        write_html(path, &report::html::page(&json, &text, language::chosen()))?;
    }
    Ok(exit(&settings, &measured, &goals))
}

/// Stops unless the load stays on this machine, or its host is named.
fn ask(args: &LoadArgs, loaded: &Loaded, settings: &Settings) -> Result<(), Failure> {
    let allowed = Allowed {
        targets: [loaded.config.target.host_ok.clone(), args.host_ok.clone()].concat(),
        ..Allowed::default()
    };
    match &settings.plan.via {
        Some(Via::Unix(_)) => Ok(()),
        Some(Via::Host { host, .. }) => consent::target(host, &allowed),
        None => consent::target(&settings.scenario.base_url().host, &allowed),
    }
}

/// Runs the load with the live page on a terminal, or a line of progress where there is no room for
/// it.
fn measure(
    settings: &Settings,
    hdr: Option<&Path>,
    stop: &AtomicBool,
) -> Result<(Measured, Vec<Row>), Failure> {
    let plan = &settings.plan;
    let length = Nanos(SECOND * (plan.duration.0 / SECOND).div_ceil(ROWS_MAX).max(1));
    let mut rows = Vec::new();
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
    });
    drop(screen);
    progress.clear();
    let measured = measured.map_err(|error| Failure::new(Exit::Failed, error))?;
    match failed {
        Some(error) => Err(unwritten(error)),
        None => Ok((measured, rows)),
    }
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

/// Ctrl-C first; then what was expected; then failed requests, unless what was expected speaks of
/// them.
fn exit(settings: &Settings, measured: &Measured, goals: &[GoalResult]) -> Exit {
    if measured.stopped {
        return Exit::Interrupted;
    }
    if goals.iter().any(|goal| !goal.held) {
        return Exit::EXPECTATION_MISSED;
    }
    let allowed = settings.goals.iter().any(load::Goal::is_about_errors);
    match measured.figures.outcomes.failed() {
        0 => Exit::Ok,
        _ if allowed => Exit::Ok,
        _ => Exit::RequestsFailed,
    }
}

fn now_unix_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}
