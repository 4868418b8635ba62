//! The flags of `hakaru schema` as typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use schema::{Allowed, Object, PlanOptions, Product, Server};
use schema_db::runner::{Scratch, Settings};

use super::place::Access;
use crate::cli::parse_duration;

/// What every comparison needs.
#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// What there is now
    #[arg(value_name = "PLACE", required_unless_present = "from")]
    pub(super) place: Option<String>,

    /// The same, as a flag
    #[arg(long, value_name = "PLACE", conflicts_with = "place")]
    pub(super) from: Option<String>,

    /// What is wanted
    #[arg(long, value_name = "PLACE")]
    pub(super) to: String,

    #[command(flatten)]
    pub(super) how: How,

    /// Print JSON on standard output, and nothing after it
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    pub(super) compare: CompareArgs,

    /// Also keep the plan in this file, for `hakaru schema apply FILE`
    #[arg(long, value_name = "FILE.json")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru schema apply sqlite:app.db --to schema.sql
  hakaru schema apply postgres://me@db/app --to schema/ --allow drop-column:users.nick
  hakaru schema apply plan.json          what `plan --out plan.json` kept; refused when the server changed meanwhile

Exit codes: 0 as wanted, 3 as wanted but for what was held back, 7 another run is at work or a lock was not given,
9 the server, 10 applied and yet not as wanted, 13 some objects are not compared, 1 anything else; docs/exit-codes.md says more.")]
pub(super) struct ApplyArgs {
    /// The server to change, or a plan that was kept (a name that ends in .json)
    #[arg(value_name = "PLACE|PLAN.json", required_unless_present = "from")]
    pub(super) place: Option<String>,

    /// The server to change; beside a plan that was kept, instead of the server that the plan names
    #[arg(long, value_name = "PLACE")]
    pub(super) from: Option<String>,

    /// What is wanted
    #[arg(long, value_name = "PLACE")]
    pub(super) to: Option<String>,

    #[command(flatten)]
    pub(super) how: How,

    /// How long to wait for another run to end, and each statement for a lock
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub(super) lock_timeout: Duration,

    /// Apply statement by statement with a journal, also where DDL can be rolled back
    #[arg(long)]
    pub(super) no_transaction: bool,

    /// Print the plan and what came of it as JSON on standard output, and nothing after it
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Where the schema is
    #[arg(value_name = "PLACE")]
    pub(super) place: String,

    /// Write one file for each table (with its indexes and triggers), view and so on into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(super) split: Option<PathBuf>,

    /// Which SQL the texts are, when the place is no server
    #[arg(long)]
    pub(super) dialect: Option<Dialect>,

    /// End with 0 although there are objects that are neither compared nor written, such as owners; they are named in any case
    #[arg(long)]
    pub(super) allow_unseen: bool,

    /// Ask for the password
    #[arg(long)]
    pub(super) password_prompt: bool,
}

/// How schemas are compared.
#[derive(Debug, Args)]
pub(super) struct How {
    /// Which SQL the texts are, when no place is a server
    #[arg(long)]
    pub(super) dialect: Option<Dialect>,

    /// Apply everything, also what destroys something
    #[arg(long)]
    pub(super) enable_drop: bool,

    /// Apply this although it destroys something, such as drop-column:users.nick or drop-index; may be repeated
    #[arg(long, value_name = "KIND[:OBJECT]")]
    pub(super) allow: Vec<String>,

    /// Ask the server how it would store what is wanted, in a scratch place that is gone afterwards
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(super) scratch: ScratchArg,

    /// Build indexes while others write (PostgreSQL)
    #[arg(long)]
    pub(super) concurrently: bool,

    /// Compare the counters of AUTO_INCREMENT too (MySQL)
    #[arg(long)]
    pub(super) auto_increment: bool,

    /// A role whose privileges are part of the schema (PostgreSQL); may be repeated
    #[arg(long, value_name = "ROLE")]
    pub(super) managed_role: Vec<String>,

    /// End with 0 although there are objects that are neither compared nor written, such as owners; they are named in any case
    #[arg(long)]
    pub(super) allow_unseen: bool,

    /// Ask for the password
    #[arg(long)]
    pub(super) password_prompt: bool,
}

/// When the server is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ScratchArg {
    /// It is not.
    Never,
    /// When something that is there would change.
    Auto,
    /// Always; it is an error when it cannot be asked.
    Always,
}

/// A kind of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Dialect {
    Mysql,
    Mariadb,
    #[value(alias = "postgresql")]
    Postgres,
    Sqlite,
}

impl Dialect {
    /// The server that speaks it.
    pub(super) fn server(self) -> Server {
        Server::unknown(match self {
            Dialect::Mysql => Product::Mysql,
            Dialect::Mariadb => Product::MariaDb,
            Dialect::Postgres => Product::Postgres,
            Dialect::Sqlite => Product::Sqlite,
        })
    }
}

impl How {
    /// What comparing needs; `server` is what texts are read for.
    pub(super) fn settings(&self, server: &Server) -> Settings<'static> {
        Settings {
            options: PlanOptions {
                server: Some(server.clone()),
                index_concurrently: self.concurrently,
                auto_increment: self.auto_increment,
                managed_roles: self.managed_role.clone(),
                ..PlanOptions::default()
            },
            allowed: Allowed {
                all: self.enable_drop,
                named: self.allow.clone(),
            },
            scratch: match self.scratch {
                ScratchArg::Never => Scratch::Never,
                ScratchArg::Auto => Scratch::Auto,
                ScratchArg::Always => Scratch::Always,
            },
            keep: &everything,
        }
    }

    pub(super) fn access(&self) -> Access {
        Access {
            prompt: self.password_prompt,
            create: false,
        }
    }
}

/// `hakaru schema` leaves nothing out.
pub(super) fn everything(_: &Object) -> bool {
    true
}
