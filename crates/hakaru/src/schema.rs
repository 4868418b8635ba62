//! `hakaru schema`: compares two schemas and brings a server to the wanted one.
//!
//! Flow: a [`place`] is where a schema is; [`sides`] reads two of them; `schema_db::runner` plans; [`page`] and
//! [`document`] show the plan to people and programs; [`apply`] carries it out.

mod apply;
mod document;
mod export;
mod options;
mod page;
pub(crate) mod place;
mod progress;
pub(crate) mod prompt;
mod sides;
mod trouble;
mod unseen;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use schema::Plan;
use words::text;

pub(crate) use page::permission;
pub(crate) use sides::say_notes;
pub(crate) use trouble::of_server;

use crate::exit::{Exit, Failure};
use crate::talk;
use options::{ApplyArgs, CompareArgs, ExportArgs, PlanArgs};

/// The code of `check` when the two differ.
const DIFFERS: u8 = 2;

#[derive(Debug, Args)]
#[command(after_help = "\
A PLACE is one of:
  mysql://user@host:port/database     also mariadb://, mysql2://, trilogy://
  postgres://user@host:port/database
  sqlite:path/to/file.db
  schema.sql                          a file
  schema/                             a folder: all its .sql files, in the order of their paths
  -                                   standard input
  git:REF:path                        a file or a folder as it is in a commit

Passwords: in the URL, MYSQL_PWD or PGPASSWORD, ~/.my.cnf or ~/.pgpass, or asked for with --password-prompt.
docs/schema.md says more.")]
pub(crate) struct SchemaArgs {
    #[command(subcommand)]
    command: SchemaCommand,
}

#[derive(Debug, Subcommand)]
enum SchemaCommand {
    /// Print the statements that lead from one schema to another, and what each can harm
    Plan(PlanArgs),
    /// Bring a database to the wanted schema, or carry out a plan that was kept with `plan --out`
    Apply(ApplyArgs),
    /// Say whether two schemas are the same: exit code 0, or 2 when they differ
    Check(CompareArgs),
    /// Print a schema as SQL
    Export(ExportArgs),
}

/// Runs the command; its code is documented in docs/exit-codes.md.
pub(crate) fn run(args: &SchemaArgs) -> ExitCode {
    let ended = match &args.command {
        SchemaCommand::Plan(args) => plan(args).map(ExitCode::from),
        SchemaCommand::Apply(args) => apply::run(args).map(ExitCode::from),
        SchemaCommand::Check(args) => check(args),
        SchemaCommand::Export(args) => export::run(args).map(ExitCode::from),
    };
    ended.unwrap_or_else(|failure| {
        talk::say(format!("hakaru: {}", failure.message));
        match failure.exit {
            // 2 is what `check` says of schemas that differ.
            Exit::Usage => Exit::Failed.into(),
            exit => exit.into(),
        }
    })
}

fn plan(args: &PlanArgs) -> Result<Exit, Failure> {
    let compared = sides::compare(&args.compare)?;
    let document = document::of(&compared);
    if let Some(path) = &args.out {
        document::write(path, &document)?;
        talk::say(text!(
            "wrote {path}; carry it out with `hakaru schema apply {path}`",
            path = path.display().to_string()
        ));
    }
    show(&compared.plan, &document, args.compare.json);
    let allow = args.compare.how.allow_unseen;
    unseen::say(&compared.unseen, allow);
    Ok(unseen::exit(&compared.unseen, allow))
}

fn check(args: &CompareArgs) -> Result<ExitCode, Failure> {
    let compared = sides::compare(args)?;
    show(&compared.plan, &document::of(&compared), args.json);
    let allow = args.how.allow_unseen;
    unseen::say(&compared.unseen, allow);
    Ok(match compared.plan.statements.len() {
        0 => unseen::exit(&compared.unseen, allow).into(),
        _ => ExitCode::from(DIFFERS),
    })
}

fn show(plan: &Plan, document: &document::Document, json: bool) {
    if json {
        talk::data(&document::text(document));
    } else {
        talk::data(&page::plan(plan, talk::colour()));
        talk::say(page::summary(plan));
    }
}
