//! `hakaru predict`: what other numbers of workers and threads would give, from a recorded run.

use recording::Nanos;
use report::forecast::{Forecast, Row};
use store::StoredRun;
use whatif::{Arrivals, Load, Model, Setup};
use words::text;

use crate::cli::{ArrivalsArg, PredictArgs};
use crate::exit::{Exit, Failure};
use crate::output::{self, look};
use crate::runs;
use console::language;

/// Prints the prediction.
pub(crate) fn predict(args: &PredictArgs) -> Result<Exit, Failure> {
    let stored = runs::stored(&args.run)?;
    let mut model = model_of(&stored)?;
    if let Some(second) = &args.second_run {
        learn(&mut model, second)?;
    }
    let mut setup = Setup {
        workers: args.workers.unwrap_or(model.recorded.workers),
        threads: args.threads.unwrap_or(model.recorded.threads),
        cores: args.cores.unwrap_or(model.recorded.cores),
        load: load(args, &model)?,
        ..model.recorded
    };
    let goal_met = match &args.goal {
        Some(goal) => {
            let found = whatif::capacity::fewest_workers(&model, &setup, goal, args.cores);
            setup = found.setup;
            Some((*goal, found.held))
        }
        None => None,
    };
    let forecast = Forecast {
        run: stored.entry.number,
        command: &stored.recording.meta.target.command,
        model: &model,
        row: Row::of(&model, &setup),
        replay_error: model.error(),
        goal: goal_met,
    };
    match args.json {
        true => output::data(&forecast.json()),
        false => output::page(&forecast.text(look::page_columns(), language::chosen())),
    }
    Ok(match goal_met {
        Some((_, false)) => Exit::EXPECTATION_MISSED,
        _ => Exit::Ok,
    })
}

fn learn(model: &mut Model, second: &str) -> Result<(), Failure> {
    let second = runs::stored(second)?;
    if !model.learn_from(&model_of(&second)?) {
        output::notice(text!(
            "hakaru: run {run} says nothing new of the database: no SQL in one of both runs, or something else slowed it down",
            run = second.entry.number
        ));
    }
    Ok(())
}

/// Returns the model of a recorded run, for predictions of other settings.
pub(crate) fn model_of(stored: &StoredRun) -> Result<Model, Failure> {
    let recording = &stored.recording;
    let (joined, breakdown) = (breakdown::join(recording), breakdown::of(recording));
    Model::of(recording, &joined, &breakdown).map_err(|error| {
        let number = stored.entry.number;
        Failure::new(
            Exit::Failed,
            format!("run {number} predicts nothing: {error}"),
        )
    })
}

fn load(args: &PredictArgs, model: &Model) -> Result<Load, Failure> {
    let recorded = model.recorded.load;
    let connections = args.connections.unwrap_or(match recorded {
        Load::Closed { clients, .. } => clients,
        Load::Open { connections, .. } => connections,
    });
    let arrivals = match args.arrivals {
        ArrivalsArg::Even => Arrivals::Even,
        ArrivalsArg::Poisson => Arrivals::Poisson,
    };
    match args.rate {
        Some(rate) if rate > 0.0 && rate.is_finite() => Ok(Load::Open {
            rate,
            arrivals,
            connections,
        }),
        Some(rate) => Err(Failure::new(
            Exit::Usage,
            format!("a rate of {rate} requests per second cannot be sent"),
        )),
        None => Ok(match recorded {
            Load::Closed { think, .. } => Load::Closed {
                clients: connections,
                think,
            },
            // Connections alone ask for a closed load.
            Load::Open { .. } if args.connections.is_some() => Load::Closed {
                clients: connections,
                think: Nanos::ZERO,
            },
            open @ Load::Open { .. } => open,
        }),
    }
}
