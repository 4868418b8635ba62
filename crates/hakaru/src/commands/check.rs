//! `hakaru check`: runs flows once, as functional tests, and shows each exchange.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use load::{PassEnd, Plan, Trust};
use load_report::check as page;
use scenario::{FlowSpec, Scenario};

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
    let stop = context::stop_flag()?;
    let mut all = Vec::new();
    let ran = load::check_until(&plan, scenario, &stop, &mut |checked| {
        if !args.form.json {
            output::data(&page::exchange(&checked, args.verbose, language::chosen()));
        }
        all.push(checked);
        // Requests may change data, and nobody would see what came.
        match output::has_reader() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    let end = ran.map_err(|error| Failure::new(Exit::Failed, error))?;
    let is_early = end == PassEnd::Early;
    match args.form.json {
        true => output::data(&page::json(&all, is_early)),
        false => output::notice(page::summary(&all, is_early)),
    }
    Ok(match page::failed(&all) {
        _ if is_early => Exit::Interrupted,
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
