//! The commands on schemas: the two sides of a comparison read from servers, files and commits;
//! plans as pages and documents; execution of plans, exports, lint and drift.
//!
//! Flow: a [`place`] is where a schema is; `sides` reads two of them; [`schema_db::runner`] plans;
//! `page` and `document` show the plan to people and programs; `apply` carries it out. `scope` has
//! the objects looked at. The crate `sqldef` uses the same parts under other names and texts.

mod apply;
mod document;
mod drift;
mod export;
#[expect(
    missing_docs,
    reason = "doc comments here are the help of the command line, which needs none for groups of flags"
)]
pub mod flags;
mod lint;
mod online;
mod options;
mod outside;
mod page;
pub mod place;
mod progress;
pub mod prompt;
mod report;
mod scope;
mod sides;
mod texts;
mod trouble;
mod unseen;

use schema::Plan;
use words::text;

pub use ending::{Cause, Ended, Failure};
pub use page::permission;
pub use sides::say_notes;
pub use trouble::of_server;

use crate::flags::{CompareArgs, PlanArgs, SchemaCommand};

/// Runs a command, with the settings of the config file filled in.
///
/// # Errors
/// The command line, a place, a server or the schema; [`Failure::cause`] says which.
pub fn run(command: &SchemaCommand) -> Result<Ended, Failure> {
    match command {
        SchemaCommand::Plan(args) => plan(args),
        SchemaCommand::Apply(args) => apply::run(args),
        SchemaCommand::Check(args) => check(args),
        SchemaCommand::Export(args) => export::run(args),
        SchemaCommand::Lint(args) => lint::run(args),
        SchemaCommand::Drift(args) => drift::run(args),
    }
}

fn plan(args: &PlanArgs) -> Result<Ended, Failure> {
    let compared = sides::compare(&args.compare)?;
    // Writing two schemas takes longer than comparing them.
    let is_wanted = args.compare.json || args.out.is_some();
    let document = is_wanted.then(|| document::of(&compared));
    if let (Some(path), Some(document)) = (&args.out, &document) {
        document::write(path, document)?;
        console::notice(text!(
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

fn check(args: &CompareArgs) -> Result<Ended, Failure> {
    let compared = sides::compare(args)?;
    let document = args.json.then(|| document::of(&compared));
    show(&compared.plan, &compared.sizes, document.as_ref());
    let allow = args.how.allow_unseen;
    unseen::say(&compared.unseen, allow);
    Ok(ended(compared, |compared| {
        match compared.plan.statements.len() {
            0 => unseen::exit(&compared.unseen, allow),
            _ => Ended::Differs,
        }
    }))
}

/// Runs the last work on a comparison. The program ends afterwards, and the operating system frees
/// the memory at once instead of object by object.
fn ended(compared: sides::Compared, last: impl Fn(&sides::Compared) -> Ended) -> Ended {
    let ended = last(&compared);
    std::mem::forget(compared);
    ended
}

fn show(plan: &Plan, sizes: &online::Sizes, document: Option<&document::Document>) {
    match document {
        Some(document) => console::data(&document::text(document)),
        None => {
            console::data(&page::plan(plan, sizes, console::colour()));
            console::notice(page::summary(plan));
        }
    }
}
