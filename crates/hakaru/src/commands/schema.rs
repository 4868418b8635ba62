//! `hakaru schema`: compares two schemas and brings a server to the wanted one.
//!
//! Flow: a [`place`] is where a schema is; [`sides`] reads two of them; `schema_db::runner` plans;
//! [`page`] and [`document`] show the plan to people and programs; [`apply`] carries it out.

mod apply;
mod document;
mod drift;
mod export;
mod lint;
mod online;
mod options;
mod outside;
mod page;
pub(crate) mod place;
mod progress;
mod project;
pub(crate) mod prompt;
mod report;
mod scope;
mod sides;
mod texts;
mod trouble;
mod unseen;

use std::process::ExitCode;

use schema::Plan;
use words::text;

pub(crate) use page::permission;
pub(crate) use sides::say_notes;
pub(crate) use trouble::of_server;

use crate::cli::schema::{CompareArgs, PlanArgs, SchemaArgs, SchemaCommand};
use crate::exit::{Exit, Failure};
use crate::output;

/// The code of `check` when the two differ.
const DIFFERS: u8 = 2;

/// Runs the command; docs/exit-codes.md has the exit codes.
pub(crate) fn run(mut args: SchemaArgs) -> ExitCode {
    let configured = project::configure(&mut args.command);
    let ended = configured.and_then(|()| match &args.command {
        SchemaCommand::Plan(args) => plan(args).map(ExitCode::from),
        SchemaCommand::Apply(args) => apply::run(args).map(ExitCode::from),
        SchemaCommand::Check(args) => check(args),
        SchemaCommand::Export(args) => export::run(args).map(ExitCode::from),
        SchemaCommand::Lint(args) => lint::run(args),
        SchemaCommand::Drift(args) => drift::run(args),
    });
    ended.unwrap_or_else(|failure| {
        output::notice(format!("hakaru: {}", failure.message));
        match failure.exit {
            // 2 is what `check` says of schemas that differ.
            Exit::Usage => Exit::Failed.into(),
            exit => exit.into(),
        }
    })
}

fn plan(args: &PlanArgs) -> Result<Exit, Failure> {
    let compared = sides::compare(&args.compare)?;
    // Writing two schemas takes longer than comparing them.
    let is_wanted = args.compare.json || args.out.is_some();
    let document = is_wanted.then(|| document::of(&compared));
    if let (Some(path), Some(document)) = (&args.out, &document) {
        document::write(path, document)?;
        output::notice(text!(
            "wrote {path}; carry it out with `hakaru schema apply {path}`",
            path = path.display().to_string()
        ));
    }
    show(
        &compared.plan,
        &compared.sizes,
        document.as_ref().filter(|_| args.compare.json),
    );
    let allow = args.compare.how.allow_unseen;
    unseen::say(&compared.unseen, allow);
    Ok(ended(compared, |compared| {
        unseen::exit(&compared.unseen, allow)
    }))
}

fn check(args: &CompareArgs) -> Result<ExitCode, Failure> {
    let compared = sides::compare(args)?;
    let document = args.json.then(|| document::of(&compared));
    show(&compared.plan, &compared.sizes, document.as_ref());
    let allow = args.how.allow_unseen;
    unseen::say(&compared.unseen, allow);
    Ok(ended(compared, |compared| {
        match compared.plan.statements.len() {
            0 => unseen::exit(&compared.unseen, allow).into(),
            _ => ExitCode::from(DIFFERS),
        }
    }))
}

/// Runs the last work on a comparison. The program ends afterwards, and the operating system frees
/// the memory at once instead of object by object.
fn ended<T>(compared: sides::Compared, last: impl Fn(&sides::Compared) -> T) -> T {
    let ended = last(&compared);
    std::mem::forget(compared);
    ended
}

fn show(plan: &Plan, sizes: &online::Sizes, document: Option<&document::Document>) {
    match document {
        Some(document) => output::data(&document::text(document)),
        None => {
            output::data(&page::plan(plan, sizes, output::colour()));
            output::notice(page::summary(plan));
        }
    }
}
