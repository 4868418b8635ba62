//! `hakaru predict`: what other numbers of workers and threads would give, from a recorded run.

use report::forecast::{Forecast, Row};
use store::StoredRun;
use whatif::question::Question;
use whatif::{Arrivals, Model};
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
    let question = Question {
        workers: args.workers,
        threads: args.threads,
        cores: args.cores,
        connections: args.connections,
        rate: args.open.rate,
        arrivals: match args.arrivals {
            ArrivalsArg::Even => Arrivals::Even,
            ArrivalsArg::Poisson => Arrivals::Poisson,
        },
        goal: args.goal,
    };
    let answer = question.answer(&model).map_err(Failure::usage)?;
    let forecast = Forecast {
        run: stored.entry.number,
        command: &stored.recording.meta.target.command,
        model: &model,
        row: Row::of(&model, &answer.setup),
        replay_error: model.error(),
        goal: answer.goal,
    };
    match args.form.json {
        true => output::data(&forecast.json()),
        false => output::page(&forecast.text(look::page_columns(), language::chosen())),
    }
    Ok(match answer.goal {
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
