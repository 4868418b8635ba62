//! `hakaru run`: starts the app, sends load, records, explains.
//!
//! Order of events: (1) check that nobody else's servers are meant, (2) `experiment::record`: claim
//! the folder, read the flows, reset the data, start the app, (3) try a flow that nobody tried yet,
//! (4) load the app while facts are kept every second, ask the database for its plans, stop the
//! app, (5) explain. Ctrl-C in any phase leads on to the next that still makes sense: before (4) to
//! the end, afterwards to the plans.

use experiment::record::{Measured, Prepared};
use experiment::{Context, Settings};
use recording::Recording;

use crate::cli::RunArgs;
use crate::commands::collect;
use crate::commands::report::{self, Form, Outputs};
use crate::consent;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output::html;
use crate::output::observer;
use crate::runs;
use crate::settings;
use crate::settings::config;
use store::revision;

/// Runs the app under load, prints the page, and returns the exit code.
pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let folder = context::current_folder()?;
    let loaded = config::load(args.config.file.as_deref(), &folder)?;
    let observed = collect::during::hosts_of(&loaded)?;
    let mut settings = settings::resolve(args, loaded)?;
    settings.profile = settings.agent && !args.no_profile;
    settings.asks_again = !args.no_ask_again;
    html::check_html(args.page.html.as_deref(), args.page.json)?;
    let context = observer::of_run()?;
    let ((recording, number), hosts) =
        observed.during(&context, |context| record(&settings, context))?;
    hosts.keep(&settings.project, number);
    let hosts = hosts.part(&recording);
    let exit = runs::exit_of(&recording, number);
    let form = match args.page.json {
        true => Form::Json,
        false => Form::of(args.full),
    };
    let outputs = Outputs {
        print: Some(form),
        html: args.page.html.as_deref(),
        hosts: hosts.as_ref(),
    };
    report::show(&recording, number, outputs)?;
    // Also a Ctrl-C that came too late to cut anything off: who repeats runs in a loop wants it to
    // end.
    Ok(match exit {
        Exit::TargetDied => exit,
        _ if context.is_stopped() => Exit::Interrupted,
        _ => exit,
    })
}

/// Makes a stored recording from settings: everything but the page.
pub(crate) fn record(
    settings: &Settings,
    context: &Context,
) -> Result<(Recording, Option<i64>), Failure> {
    consent::check(settings)?;
    let revision = revision::of(&settings.project);
    let mut prepared = Prepared::new(settings, context)?;
    if starter::prove::flows(&settings.scenario, &settings.plan, &context.stop)? {
        prepared.read_flows_again()?;
    }
    let Measured {
        recording,
        number,
        profile,
    } = prepared.measure()?;
    profile_commands::keep_of_run(settings, number, profile);
    if let Some(number) = number {
        runs::keep(settings, revision, number, &recording);
    }
    Ok((recording, number))
}
