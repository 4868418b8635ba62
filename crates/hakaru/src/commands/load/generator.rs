//! `hakaru generator`: the far side of `load --on` and of `load --kubernetes`. Reads an order,
//! waits for the start, sends a part of the load, and writes the result.
//!
//! Nothing is written to disk there, and the process ends with its connection.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clap::Parser;
use generators::Order;
use load::{Interval, Part};
use load_hosts::far::{FarError, listen, order, say, start, tell};
use load_hosts::message::{self, Failed, Ready, Stretch};
use load_report::StepLabel;
use remote::{Far, Shift};

use super::inputs::Inputs;
use super::settings::Settings;
use super::{CONNECT_TRY, Kept, part, stretch_length};
use crate::cli::{Cli, Command, GeneratorArgs, LoadArgs};
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::settings::config::{self, FILE_NAME, Loaded};
use crate::settings::start::StartAt;

/// Speaks with the near side over standard input and output.
///
/// # Errors
/// [`Exit::Failed`] when the near side goes or is not understood.
pub(crate) fn generator(args: &GeneratorArgs) -> Result<Exit, Failure> {
    if let GeneratorArgs {
        order: Some(order),
        part: Some(part),
        start_at: Some(start_at),
    } = args
    {
        return pod(order, *part, start_at);
    }
    let shift = Shift::of_environment();
    let far = Far::start(shift).map_err(FarError::from)?;
    let speaker = far.speaker();
    let Some((text, part)) = order(&far)? else {
        return Ok(Exit::Ok);
    };
    let mut settings = match resolve(&text, &part) {
        Ok(settings) => settings,
        Err(failure) => {
            let error = Some(failure.message);
            let ready = Ready {
                error,
                ..Ready::default()
            };
            say(&speaker, message::READY, &ready)?;
            // The near side ends the connection when it has read this.
            while far.receive().is_some() {}
            return Ok(Exit::Failed);
        }
    };
    let connected = load::can_connect(&settings.plan, &settings.scenario, CONNECT_TRY);
    let ready = Ready {
        error: None,
        unreachable: connected.err().map(|error| error.to_string()),
    };
    say(&speaker, message::READY, &ready)?;
    let Some(start) = start(&far, shift) else {
        return Ok(Exit::Interrupted);
    };
    settings.plan.start_at = Some(start);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        // Ends when the near side does, which is when it has the result.
        scope.spawn(|| listen(&far, &stop));
        let mut tell_stretch = |stretch: &Stretch| {
            // Whoever has gone is noticed by the thread that listens.
            let _ = say(&speaker, message::STRETCH, stretch);
        };
        match measure(&settings, shift, &stop, &mut tell_stretch) {
            Ok(text) => tell(&speaker, &text),
            Err(error) => say(&speaker, message::ENDED, &Failed { error }),
        }
    })?;
    Ok(Exit::Ok)
}

/// Carries out a part of the order in a file, and prints the result.
fn pod(order: &Path, part: Part, start_at: &StartAt) -> Result<Exit, Failure> {
    let text = std::fs::read_to_string(order)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", order.display())))?;
    let mut settings = resolve(&text, &part.to_string())?;
    let stop = context::stop_flag()?;
    // A cluster's name server may know a new name a little later.
    if let Err(failure) = super::try_out(&settings) {
        output::notice(failure.message);
    }
    let Some(start) = start_at.wait(&stop)? else {
        return Ok(Exit::Interrupted);
    };
    settings.plan.start_at = Some(start);
    let called_off = Arc::new(AtomicBool::new(false));
    start_at.follow(&called_off, &stop)?;
    let measured = measure(&settings, Shift::default(), &stop, &mut |_| {});
    output::data(&measured.map_err(|error| Failure::new(Exit::Failed, error))?);
    // Whoever deletes a pod or drains its node ends it so: the Job is to see that a part is
    // missing.
    Ok(
        match context::raised(&stop) && !called_off.load(Ordering::Acquire) {
            true => Exit::Interrupted,
            false => Exit::Ok,
        },
    )
}

fn resolve(text: &str, part: &str) -> Result<Settings, Failure> {
    let order = Order::of_text(text).map_err(Failure::usage)?;
    let args = flags(&order.words)?;
    let loaded = Loaded {
        config: config::of_text(&order.config, Path::new(FILE_NAME))?,
        folder: PathBuf::from(&order.folder),
        path: None,
    };
    let args = LoadArgs {
        part: Some(Part::parse(part).map_err(Failure::usage)?),
        ..*args
    };
    Settings::resolve(
        &args,
        &loaded,
        &Inputs::of_order(order.files, order.run_token),
    )
}

fn flags(words: &[String]) -> Result<Box<LoadArgs>, Failure> {
    let typed = ["hakaru".to_owned(), "load".to_owned()];
    match Cli::try_parse_from(typed.iter().chain(words)).map(|cli| cli.command) {
        Ok(Command::Load(args)) => Ok(args),
        Ok(_) => Err(Failure::usage("the order is for another command")),
        Err(error) => Err(Failure::usage(error)),
    }
}

/// Sends the load, and returns the result's text.
fn measure(
    settings: &Settings,
    shift: Shift,
    stop: &AtomicBool,
    tell_stretch: &mut dyn FnMut(&Stretch),
) -> Result<String, String> {
    let length = stretch_length(&settings.plan);
    let mut intervals: Vec<Interval> = Vec::new();
    let measured = load::measure(
        &settings.plan,
        &settings.scenario,
        stop,
        length,
        &mut |interval| {
            let stretch = Stretch {
                number: interval.number,
                seconds: length.as_secs_f64(),
                requests: interval.outcomes.all(),
                failed: interval.outcomes.failed(),
            };
            tell_stretch(&stretch);
            intervals.push(interval.clone());
        },
    );
    let kept = Kept {
        measured: measured.map_err(|error| error.to_string())?,
        rows: Vec::new(),
        intervals,
        length,
    };
    let steps = StepLabel::all(&settings.scenario);
    let mut result = part::result(settings, &steps, &kept);
    result.started_unix_ns = result.started_unix_ns.saturating_add_signed(shift.nanos);
    Ok(result.to_text())
}

impl From<FarError> for Failure {
    fn from(error: FarError) -> Failure {
        Failure::new(Exit::Failed, error)
    }
}
