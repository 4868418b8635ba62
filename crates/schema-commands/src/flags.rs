//! The flags of `hakaru schema` as typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use figures::duration::parse as parse_duration;

#[derive(Debug, Args)]
#[command(after_help = "\
A PLACE is one of:
  mysql://user@host:port/database     also mariadb://, mysql2://, trilogy://
  postgres://user@host:port/database
  sqlite:path/to/file.db
  schema.sql                          a file
  db/schema.rb, Schemafile            Rails' or Ridgepole's; read, not run
  schema/                             a folder: all its .sql files, in the order of their paths
  -                                   standard input
  git:REF:path                        a file or a folder as it is in a commit

Passwords: in the URL, MYSQL_PWD or PGPASSWORD, ~/.my.cnf or ~/.pgpass, or asked for with --password-prompt.
`hakaru help schema` says more.")]
pub struct SchemaArgs {
    #[command(subcommand)]
    pub command: SchemaCommand,
}

#[derive(Debug, Subcommand)]
pub enum SchemaCommand {
    /// Print the statements that lead from one schema to another, and what each can harm
    Plan(PlanArgs),
    /// Bring a database to the wanted schema, or carry out a plan that was kept with `plan --out`
    Apply(ApplyArgs),
    /// Say whether two schemas are the same: exit code 0, or 2 when they differ
    Check(CompareArgs),
    /// Print a schema as SQL
    Export(ExportArgs),
    /// Find what is likely to hurt about a schema: missing keys, foreign keys without an index,
    /// needless indexes …
    Lint(LintArgs),
    /// Say whether a database is still what its file says, for jobs: exit code 0, or 2 when it is
    /// not
    Drift(DriftArgs),
}

/// What every comparison needs.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// What there is now; without it `place` in hakaru.toml
    #[arg(value_name = "PLACE")]
    pub place: Option<String>,

    /// The same, as a flag
    #[arg(long, value_name = "PLACE", conflicts_with = "place")]
    pub from: Option<String>,

    /// What is wanted; without it `to` in hakaru.toml
    #[arg(long, value_name = "PLACE")]
    pub to: Option<String>,

    #[command(flatten)]
    pub how: How,

    /// Print JSON on standard output, and nothing after it
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub compare: CompareArgs,

    /// Also keep the plan in this file, for `hakaru schema apply FILE`
    #[arg(long, value_name = "FILE.json")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru schema apply sqlite:app.db --to schema.sql
  hakaru schema apply postgres://me@db/app --to schema/ --allow drop-column:users.nick
  hakaru schema apply plan.json          what `plan --out plan.json` kept; refused when the server changed meanwhile

Ended codes: 0 as wanted, 3 as wanted but for what was held back, 7 another run is at work or a lock was not given,
9 the server, 10 applied and yet not as wanted, 13 some objects are not compared, 1 anything else; `hakaru help exit-codes` says more.")]
pub struct ApplyArgs {
    /// The server to change, or a plan that was kept (a name that ends in .json); without it
    /// `place` in hakaru.toml
    #[arg(value_name = "PLACE|PLAN.json")]
    pub place: Option<String>,

    /// The server to change; beside a plan that was kept, instead of the server that the plan names
    #[arg(long, value_name = "PLACE")]
    pub from: Option<String>,

    /// What is wanted
    #[arg(long, value_name = "PLACE")]
    pub to: Option<String>,

    #[command(flatten)]
    pub how: How,

    /// How long to wait for another run to end, and each statement for a lock
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub lock_timeout: Duration,

    /// With --online, how long a statement waits for a lock that others queue behind (MySQL: whole
    /// seconds)
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = parse_duration)]
    pub online_wait: Duration,

    /// With --online, how often a statement is tried when it gets no lock
    #[arg(long, value_name = "NUMBER", default_value_t = 30)]
    pub online_tries: u32,

    /// Apply statement by statement with a journal, also where DDL can be rolled back
    #[arg(long)]
    pub no_transaction: bool,

    /// Print the plan and what came of it as JSON on standard output, and nothing after it
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Where the schema is; without it `place` in hakaru.toml
    #[arg(value_name = "PLACE")]
    pub place: Option<String>,

    /// What is printed
    #[arg(long, default_value = "sql", conflicts_with = "split")]
    pub format: Format,

    /// Write one file for each table (with its indexes and triggers), view and so on into this
    /// folder
    #[arg(long, value_name = "FOLDER")]
    pub split: Option<PathBuf>,

    /// Which SQL the texts are, when the place is not a server
    #[arg(long)]
    pub dialect: Option<Dialect>,

    /// A role, or user of MySQL or MariaDB, to be written too, without the password; may be
    /// repeated
    #[arg(long, value_name = "ROLE")]
    pub role: Vec<String>,

    /// End with 0 although there are objects that are neither compared nor written, such as owners;
    /// they are named in any case
    #[arg(long)]
    pub allow_unseen: bool,

    #[command(flatten)]
    pub filter: Filter,

    /// Ask for the password
    #[arg(long)]
    pub password_prompt: bool,
}

/// What an export is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Statements.
    Sql,
    /// Rails' schema.rb.
    #[value(name = "schema.rb")]
    Ruby,
}

/// What is left out.
#[derive(Debug, Args)]
pub struct Filter {
    /// Look only at these, such as 'app_*', 'table:users' or 'billing.*'; may be repeated
    #[arg(long, value_name = "[KIND:]GLOB")]
    pub include: Vec<String>,

    /// Leave these out, such as schema_migrations, 'partman.*' or 'table:events_p[0-9]*'; may be
    /// repeated
    #[arg(long, value_name = "[KIND:]GLOB")]
    pub exclude: Vec<String>,

    /// Take what hakaru.toml says under [schema.environments.NAME]
    #[arg(long, short = 'e', value_name = "NAME")]
    pub environment: Option<String>,
}

/// What `lint` needs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru schema lint postgres://me@db/app
  hakaru schema lint db/schema.rb --dialect postgres --ignore timestamp-without-zone
  hakaru schema lint … --ignore 'missing-primary-key:legacy_*' --format sarif > lint.sarif

Ended codes: 0 nothing, or only notes; 2 warnings; docs/schema.md lists the rules.")]
pub struct LintArgs {
    /// Where the schema is; without it `place` in hakaru.toml. A server also says sizes, and which
    /// indexes are used
    #[arg(value_name = "PLACE")]
    pub place: Option<String>,

    /// What is printed
    #[arg(long, default_value = "human")]
    pub format: ReportFormat,

    /// A rule that is not looked at, everywhere or on some objects; may be repeated
    #[arg(long, value_name = "RULE[:GLOB]")]
    pub ignore: Vec<String>,

    /// From what on the exit code is 2
    #[arg(long, value_name = "LEVEL", default_value = "warning")]
    pub fail_on: FailOn,

    /// Which SQL the texts are, when the place is not a server
    #[arg(long)]
    pub dialect: Option<Dialect>,

    #[command(flatten)]
    pub filter: Filter,

    /// Ask for the password
    #[arg(long)]
    pub password_prompt: bool,
}

/// What `drift` needs.
#[derive(Debug, Args)]
pub struct DriftArgs {
    #[command(flatten)]
    pub compare: CompareArgs,

    /// What is printed
    #[arg(long, default_value = "human", conflicts_with = "json")]
    pub format: ReportFormat,
}

/// What a report is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Lines.
    Human,
    /// JSON.
    Json,
    /// A table, for pull requests and summaries of jobs.
    Markdown,
    /// SARIF 2.1.0, for code hosts.
    Sarif,
}

/// What makes `lint` end with 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Nothing.
    Never,
    /// A warning.
    Warning,
    /// A note, too.
    Note,
}

/// How schemas are compared.
#[derive(Debug, Args)]
pub struct How {
    /// Which SQL the texts are, when no place is a server
    #[arg(long)]
    pub dialect: Option<Dialect>,

    /// Apply everything, also what destroys something
    #[arg(long)]
    pub enable_drop: bool,

    /// Apply this although it destroys something, such as drop-column:users.nick or drop-index; may
    /// be repeated
    #[arg(long, value_name = "KIND[:OBJECT]")]
    pub allow: Vec<String>,

    /// Ask the server how it would store what is wanted, in a scratch place that is gone afterwards
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub scratch: ScratchArg,

    /// Build indexes while others write (PostgreSQL)
    #[arg(long)]
    pub concurrently: bool,

    /// Change tables that are in use: in steps for which nobody waits long; what has no such way is
    /// held back
    #[arg(long)]
    pub online: bool,

    /// With --online, the program that takes an ALTER TABLE which MySQL or MariaDB would only do by
    /// copying; words in braces are replaced: {host} {port} {user} {database} {table} {alter}. The
    /// password is in MYSQL_PWD
    #[arg(long, value_name = "COMMAND", requires = "online")]
    pub online_command: Option<String>,

    /// Compare the counters of AUTO_INCREMENT too (MySQL)
    #[arg(long)]
    pub auto_increment: bool,

    /// A role whose privileges are part of the schema; may be repeated
    #[arg(long, value_name = "ROLE")]
    pub managed_role: Vec<String>,

    /// A role, or user of MySQL or MariaDB, as part of the schema: created or altered if created by
    /// the text, never dropped, and without the password; may be repeated
    #[arg(long, value_name = "ROLE")]
    pub role: Vec<String>,

    /// End with 0 although there are objects that are neither compared nor written, such as owners;
    /// they are named in any case
    #[arg(long)]
    pub allow_unseen: bool,

    #[command(flatten)]
    pub filter: Filter,

    /// Ask for the password
    #[arg(long)]
    pub password_prompt: bool,
}

/// When the server is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScratchArg {
    /// It is not.
    Never,
    /// When something that is there would change.
    Auto,
    /// Always; it is an error when it cannot be asked.
    Always,
}

/// A kind of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Dialect {
    Mysql,
    Mariadb,
    #[value(alias = "postgresql")]
    Postgres,
    Sqlite,
}
