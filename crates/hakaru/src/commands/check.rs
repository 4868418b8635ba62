//! `hakaru check`: runs flows once, as functional tests, and shows each exchange.

use std::path::{Path, PathBuf};

use figures::text::{left, width};
use figures::{counted, numbers};
use load::{Checked, Plan, Trust};
use recording::Outcome;
use scenario::{FlowSpec, Scenario};
use serde::Serialize;
use words::{Text, text};

use crate::cli::CheckArgs;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::settings::config;
use crate::settings::{URL_DEFAULT, nanos, scenario_spec};
use console::language;

/// Runs the flows and shows what came.
pub(crate) fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let scenario = scenario(args)?;
    let default = Plan::default();
    let plan = Plan {
        via: args.reach.via().map_err(Failure::usage)?,
        answer_timeout: args.reach.timeout.map_or(default.answer_timeout, nanos),
        trust: Trust {
            authorities: args.reach.ca.clone(),
            insecure: args.reach.insecure,
        },
        // Of a single pass it says no more than which version is spoken.
        streams: u32::from(args.http2),
        ..default
    };
    let mut all = Vec::new();
    let ran = load::check_once(&plan, &scenario, &mut |checked| {
        if !args.form.json {
            output::data(&shown(&checked, args.verbose));
        }
        all.push(checked);
    });
    ran.map_err(|error| Failure::new(Exit::Failed, error))?;
    let failed = failed(&all);
    match args.form.json {
        true => output::data(&json(&all)),
        false => output::notice(text!(
            "{requests}, {failed} failed",
            requests = counted!(all.len() as u64, "request"),
            failed
        )),
    }
    Ok(match failed {
        0 => Exit::Ok,
        _ => Exit::RequestsFailed,
    })
}

fn scenario(args: &CheckArgs) -> Result<Scenario, Failure> {
    let folder = context::current_folder()?;
    let loaded = config::load(None, &folder)?;
    let url = (args.url.as_deref().or(loaded.config.target.url.as_deref())).unwrap_or(URL_DEFAULT);
    let mut spec = scenario_spec(&[], &loaded.config, &loaded.folder, url)?;
    // Without the rules of the score: a capture that gives points need not be in these flows.
    spec.score = scenario::ScoreSpec::default();
    let feed = args
        .csv
        .as_deref()
        .map(|csv| csv.split_once('=').unwrap_or(("", csv)));
    spec.feed_prefix = feed.map_or_else(String::new, |(prefix, _)| prefix.to_owned());
    if !args.flows.is_empty() {
        let typed = args
            .flows
            .iter()
            .map(|file| known(file, &spec.flows, &folder));
        spec.flows = typed.collect();
    }
    if spec.flows.is_empty() {
        return Err(Failure::usage(
            "which flow? try `hakaru check login.hurl`, or name flows in hakaru.toml",
        ));
    }
    for flow in &mut spec.flows {
        tried(flow, feed.map(|(_, path)| path.into()));
    }
    for variable in &args.variables {
        let (name, value) = variable
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("--variable {variable}: write NAME=VALUE")))?;
        spec.variables.retain(|(known, _)| known != name);
        spec.variables.push((name.to_owned(), value.to_owned()));
    }
    Scenario::read_files(&spec).map_err(Failure::usage)
}

/// Returns a typed flow, completed from the config file.
fn known(file: &Path, flows: &[FlowSpec], folder: &Path) -> FlowSpec {
    let same = |flow: &&FlowSpec| {
        let known = flow.file.as_ref().map(|known| folder.join(known));
        known == Some(folder.join(file))
    };
    FlowSpec {
        file: Some(file.to_owned()),
        ..flows.iter().find(same).cloned().unwrap_or_default()
    }
}

/// Makes a flow run once and without waiting, for a trial.
fn tried(flow: &mut FlowSpec, feed: Option<PathBuf>) {
    flow.weight = 1;
    flow.think = None;
    flow.feed = feed.or(flow.feed.take());
    if let Some(socket) = &mut flow.socket {
        socket.rounds = 1;
        for step in &mut socket.steps {
            step.think = None;
        }
    }
}

/// Returns the number of failures, retried ones excluded.
fn failed(all: &[Checked]) -> usize {
    all.iter()
        .filter(|checked| checked.outcome != Outcome::Ok && !checked.is_tried_again)
        .count()
}

fn shown(checked: &Checked, verbose: bool) -> String {
    let good = checked.outcome == Outcome::Ok;
    let say = |text: Text| text.written_in(language::chosen());
    let marks = [text!("ok"), text!("FAILED"), text!("AGAIN")].map(say);
    let columns = marks.iter().map(|mark| width(mark)).max().unwrap_or(0);
    let [well, badly, again] = &marks;
    let mark = match (good, checked.is_tried_again) {
        (true, _) => well,
        (false, true) => again,
        (false, false) => badly,
    };
    let mark = left(mark, columns);
    let status = match checked.status {
        0 => "–".to_owned(),
        status => status.to_string(),
    };
    let time = numbers::duration_ms(checked.time.as_millis_f64());
    let mut text = format!(
        "{mark}  {status:>3}  {time:>8}  {}   ({})\n",
        checked.line, checked.place
    );
    if !good {
        let outcome = say(Text::named(checked.outcome.name()));
        text.push_str(&format!("        {outcome}\n"));
    }
    for fault in &checked.faults {
        let fault = say(Text::named(fault));
        text.push_str(&format!("        - {fault}\n"));
    }
    if !good || verbose || checked.is_message {
        text.push_str(&quoted(">", &checked.request));
        text.push_str(&quoted("<", &checked.response));
    }
    text
}

/// The lines of a text behind a mark, without what could steer a terminal.
fn quoted(mark: &str, text: &str) -> String {
    let clean = |c: char| match figures::line::steers(c) && c != '\t' {
        true => '?',
        false => c,
    };
    let line = |line: &str| {
        let line: String = line.trim_end_matches('\r').chars().map(clean).collect();
        format!("        {mark} {line}").trim_end().to_owned() + "\n"
    };
    text.trim_end().lines().map(line).collect()
}

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    requests: usize,
    failed: usize,
    exchanges: Vec<Exchange<'a>>,
}

#[derive(Serialize)]
struct Exchange<'a> {
    line: &'a str,
    place: &'a str,
    outcome: &'static str,
    status: u16,
    time_ms: f64,
    body_bytes: u64,
    faults: &'a [String],
    tried_again: bool,
    request: &'a str,
    response: &'a str,
}

fn json(all: &[Checked]) -> String {
    let exchanges: Vec<Exchange<'_>> = all.iter().map(exchange_of).collect();
    let document = Document {
        format: "hakaru-check",
        version: 1,
        requests: all.len(),
        failed: failed(all),
        exchanges,
    };
    let text = serde_json::to_string_pretty(&document);
    text.expect("maps have text keys and nothing else can fail") + "\n"
}

fn exchange_of(checked: &Checked) -> Exchange<'_> {
    Exchange {
        line: &checked.line,
        place: &checked.place,
        outcome: checked.outcome.name(),
        status: checked.status,
        time_ms: checked.time.as_millis_f64(),
        body_bytes: checked.body_bytes,
        faults: &checked.faults,
        tried_again: checked.is_tried_again,
        request: &checked.request,
        response: &checked.response,
    }
}
