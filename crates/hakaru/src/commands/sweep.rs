//! `hakaru sweep`: one run after the other with more and more connections, until throughput no
//! longer grows.
//!
//! Every step is a run like any other, with a fresh start of the app and the data reset before it,
//! and is kept as one. What was measured before a Ctrl-C or a failure is shown all the same.

use experiment::Settings;
use figures::counted;
use recording::Recording;
use report::sweep::{Ended, Step, Sweep, is_saturated};
use words::text;

use crate::cli::SweepArgs;
use crate::commands::run;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output::html;
use crate::output::{self, look, observer};
use crate::runs;
use crate::settings::config;
use console::language;

/// Measures, prints, and says how the program ends.
pub(crate) fn sweep(args: &SweepArgs) -> Result<Exit, Failure> {
    html::check_html(args.html.as_deref(), args.form.json)?;
    let context = observer::of_run()?;
    let mut sweep = Sweep {
        command: String::new(),
        steps: Vec::new(),
        ended: Ended::Complete,
        left_out: Vec::new(),
        notes: Vec::new(),
    };
    let mut worst = Exit::Ok;
    for connections in &args.connections {
        let measured =
            settings(args, *connections).and_then(|settings| run::record(&settings, &context));
        let (recording, number) = match measured {
            Ok(measured) => measured,
            // Steps that were measured are not thrown away for one that was not.
            Err(failure) if !sweep.steps.is_empty() => {
                output::notice(format!("hakaru: {}", failure.message));
                sweep.ended = Ended::Interrupted;
                worst = failure.exit;
                break;
            }
            Err(failure) => return Err(failure),
        };
        let exit = runs::exit_of(&recording, number);
        add(&mut sweep, &recording, number);
        if context.is_stopped() || exit == Exit::TargetDied {
            sweep.ended = Ended::Interrupted;
            worst = exit;
            break;
        }
        if exit != Exit::Ok {
            worst = exit;
        }
        if !args.all && is_saturated(&sweep.steps) {
            sweep.ended = Ended::Saturated;
            break;
        }
    }
    sweep.left_out = args.connections[sweep.steps.len()..].to_vec();
    show(args, &sweep)?;
    Ok(if context.is_stopped() {
        Exit::Interrupted
    } else {
        worst
    })
}

fn settings(args: &SweepArgs, connections: u32) -> Result<Settings, Failure> {
    let folder = context::current_folder()?;
    let loaded = config::load(args.config.file.as_deref(), &folder)?;
    let mut settings = crate::settings::resolve(&args.step(connections), loaded)?;
    // A rate of the config file would be the same whatever the connections are.
    settings.plan.pace = load::Pace::Closed;
    settings.plan.level_up = None;
    settings.part_of = "sweep";
    Ok(settings)
}

fn add(sweep: &mut Sweep, recording: &Recording, number: Option<i64>) {
    sweep.command.clone_from(&recording.meta.target.command);
    let breakdown = breakdown::of(recording);
    let step = Step::of(recording, &breakdown, number);
    let hollow = figures::hollow::warning(recording.statuses());
    if let Some(doubt) = hollow.filter(|_| sweep.notes.is_empty()) {
        sweep.notes.push(doubt);
    }
    let rps = step.rps.unwrap_or(0.0);
    output::notice(text!(
        "{connections}: {rate} requests/s",
        connections = counted!(u64::from(step.connections), "connection"),
        rate = format!("{rps:.1}")
    ));
    sweep.steps.push(step);
}

fn show(args: &SweepArgs, sweep: &Sweep) -> Result<(), Failure> {
    match args.form.json {
        true => output::data(&sweep.json()),
        false if args.html.as_deref().is_some_and(html::is_stdout) => {}
        false => output::page(&sweep.text(look::page_columns(), language::chosen())),
    }
    match &args.html {
        Some(path) => Ok(html::write_html(path, &sweep.html(language::chosen()))?),
        None => Ok(()),
    }
}
