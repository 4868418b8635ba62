//! Work of a drop-in: export, show, or apply.

use std::time::Duration;

use schema::{
    Allowed, Dialect, Object, Plan, PlanOptions, Schema, Server, Source, Style, SyntaxError,
};
use schema_db::apply::{Event, Options};
use schema_db::runner::{self, RunError, Scratch, Settings};
use schema_db::{Database, DbError, source};

use super::config::{self, Config};
use super::flags::{Flags, Mode};
use super::page::{self, Script};
use super::scope::Scope;
use super::{Ended, Tool, server};
use schema_commands::of_server;

/// Time limit for another run; sqldef has no lock and would run at the same time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Source of the current schema.
enum Current {
    Server(Box<dyn Database>),
    /// A file, for an unknown server of the kind.
    File(Source, Server),
}

/// Decisions made before a schema is read.
struct Run<'a> {
    tool: Tool,
    flags: &'a Flags,
    config: &'a Config,
    scope: &'a Scope,
}

pub(super) fn run(tool: Tool, flags: &Flags) -> Result<Ended, String> {
    let config = config::read(&flags.configs)?;
    let wanted = match flags.mode {
        Mode::Export => Vec::new(),
        _ => texts(&flags.files)?,
    };
    let current = current(tool, flags, &config)?;
    let server = current.server();
    let default_schema = (server.dialect() == Dialect::Postgres).then(|| {
        let default = server.default_schema.clone();
        default.unwrap_or_else(|| "public".to_owned())
    });
    let scope = Scope::new(flags, &config, default_schema)?;
    let run = Run {
        tool,
        flags,
        config: &config,
        scope: &scope,
    };
    match flags.mode {
        Mode::Export => run.export(current),
        mode => match current {
            Current::Server(database) if mode == Mode::Apply => run.apply(database, &wanted),
            current => run.show(current, &wanted),
        },
    }
}

fn current(tool: Tool, flags: &Flags, config: &Config) -> Result<Current, String> {
    if flags.database.ends_with(".sql") {
        let source = source::file(flags.database.as_ref()).map_err(|error| error.to_string())?;
        return Ok(Current::File(source, tool.assumed()));
    }
    let database = server::open(tool, flags, config);
    database
        .map(Current::Server)
        .map_err(|error| of_database(&error))
}

fn texts(files: &[String]) -> Result<Vec<Source>, String> {
    let read = |file: &String| match file.as_str() {
        "-" => source::standard_input(),
        path => source::file(path.as_ref()),
    };
    let texts: Result<Vec<Source>, _> = files.iter().map(read).collect();
    texts.map_err(|error| format!("Failed to read '[{}]': {error}", files.join(" ")))
}

impl Current {
    fn server(&self) -> Server {
        match self {
            Current::Server(database) => database.server().clone(),
            Current::File(_, server) => server.clone(),
        }
    }

    fn read(&mut self, settings: &Settings<'_>) -> Result<Schema, String> {
        let read = match self {
            Current::Server(database) => runner::current(database.as_mut(), settings),
            Current::File(text, server) => {
                runner::read(std::slice::from_ref(text), server, settings)
            }
        };
        read.map(|(schema, _)| schema)
            .map_err(|error| of_run(&error))
    }
}

impl Run<'_> {
    fn export(&self, mut current: Current) -> Result<Ended, String> {
        let keep = |object: &Object| self.scope.keeps(object);
        let schema = current.read(&self.settings(&keep))?;
        let statements = schema.statements();
        console::data(&match statements.is_empty() {
            true => page::EMPTY.to_owned(),
            false => statements.join(";\n\n") + ";\n",
        });
        Ok(Ended::Ok)
    }

    /// Prints what would be done.
    fn show(&self, mut current: Current, wanted: &[Source]) -> Result<Ended, String> {
        let keep = |object: &Object| self.scope.keeps(object);
        let settings = self.settings(&keep);
        let plan = match &mut current {
            Current::Server(database) => {
                let (from, _) = runner::current(database.as_mut(), &settings)
                    .map_err(|error| of_run(&error))?;
                let mut wanted = self.wanted(wanted, &database.server().clone(), &settings)?;
                runner::plan(&from, &mut wanted, Some(database.as_mut()), &settings)
            }
            Current::File(text, server) => {
                let texts = (std::slice::from_ref(text), wanted);
                let read = runner::read_both(texts, server, &settings);
                let (from, mut wanted, notes) = read.map_err(|error| of_run(&error))?;
                page::say_notes(notes);
                runner::plan(&from, &mut wanted, None, &settings)
            }
        };
        let mut plan = plan.map_err(|error| of_run(&error))?;
        self.finish(&mut plan);
        if plan.statements.is_empty() {
            console::data(page::NOTHING);
            return Ok(Ended::Ok);
        }
        console::data(&(page::DRY_RUN.to_owned() + &self.script(&plan).text()));
        Ok(match self.flags.is_check {
            true => Ended::Differs,
            false => Ended::Ok,
        })
    }

    /// Prints and executes each statement, then compares the server with the wanted schema.
    fn apply(&self, mut database: Box<dyn Database>, wanted: &[Source]) -> Result<Ended, String> {
        let keep = |object: &Object| self.scope.keeps(object);
        let settings = self.settings(&keep);
        let database = database.as_mut();
        database
            .lock(PATIENCE)
            .map_err(|error| of_database(&error))?;
        let mut wanted = self.wanted(wanted, &database.server().clone(), &settings)?;
        let prepared = runner::prepare(database, &mut wanted, &settings);
        let mut prepared = prepared.map_err(|error| of_run(&error))?;
        self.finish(&mut prepared.plan);
        let mut script = self.script(&prepared.plan);
        script.restore(prepared.restored);
        console::data(match script.is_empty() {
            true => page::NOTHING,
            false => page::APPLY,
        });
        let steps = std::mem::take(&mut script.steps);
        let options = Options {
            transaction: self.has_transaction(),
            plan_id: runner::plan_id(steps.iter().map(|step| step.sql.as_str())),
        };
        let had_journal = prepared.cut_off.is_some();
        let done =
            runner::carry_out(
                database,
                &steps,
                options,
                had_journal,
                &mut |event| match event {
                    Event::Statement(index, _) => console::data(&script.up_to(*index)),
                    Event::Rollback => console::data("ROLLBACK;\n"),
                    _ => {}
                },
            );
        done.map_err(|error| of_database(&error))?;
        console::data(&script.remainder());
        let rest = runner::rest(database, &mut wanted, &settings);
        let mut rest = rest.map_err(|error| of_run(&error))?;
        self.finish(&mut rest);
        match rest.applied().next() {
            None => Ok(Ended::Ok),
            Some(_) => Err(format!(
                "all was executed, and yet the database is not as wanted; still missing:\n{}",
                self.script(&rest).text()
            )),
        }
    }

    fn wanted(
        &self,
        texts: &[Source],
        server: &Server,
        settings: &Settings<'_>,
    ) -> Result<Schema, String> {
        let read = runner::read(texts, server, settings);
        let (wanted, notes) = read.map_err(|error| of_run(&error))?;
        page::say_notes(notes);
        Ok(wanted)
    }

    fn script(&self, plan: &Plan) -> Script {
        let before = self.flags.before_apply.as_deref();
        Script::new(self.tool, plan, before, self.has_transaction())
    }

    fn has_transaction(&self) -> bool {
        !self.flags.no_transaction && self.config.disable_ddl_transaction != Some(true)
    }

    fn settings<'a>(&self, keep: &'a dyn Fn(&Object) -> bool) -> Settings<'a> {
        let is = |key: Option<bool>| key == Some(true);
        Settings {
            options: PlanOptions {
                style: Style::Sqldef,
                bulk_alter: self.flags.bulk_alter || is(self.config.bulk_alter),
                index_concurrently: is(self.config.create_index_concurrently),
                managed_roles: self.config.managed_roles.clone().unwrap_or_default(),
                holds_drops: !self.scope.drops(),
                keep_quoting: self.config.legacy_ignore_quotes == Some(false),
                ..PlanOptions::default()
            },
            // What may be dropped is decided by rules, in `finish`.
            allowed: Allowed::default(),
            scratch: Scratch::Auto,
            keep,
        }
    }

    /// Applies the configuration's additions to a plan.
    fn finish(&self, plan: &mut Plan) {
        let suffix = |word: &str, key: &Option<String>| {
            let value = key
                .as_deref()
                .map(str::trim)
                .filter(|value| !value.is_empty());
            value.map_or_else(String::new, |value| format!(", {word}={value}"))
        };
        if self.tool == Tool::Mysqldef {
            let suffix =
                suffix("ALGORITHM", &self.config.algorithm) + &suffix("LOCK", &self.config.lock);
            let alters = plan.statements.iter_mut();
            for statement in alters.filter(|each| each.sql.starts_with("ALTER TABLE")) {
                statement.sql.push_str(&suffix);
            }
        }
        self.scope.hold_back(plan);
    }
}

fn of_run(error: &RunError) -> String {
    match error {
        RunError::Database(error) => of_database(error),
        RunError::Syntax(error) => of_syntax(error),
        RunError::Plan(error) => error.message.clone(),
    }
}

fn of_database(error: &DbError) -> String {
    of_server(error).message
}

/// sqldef's form, with the place in the whole text.
fn of_syntax(error: &SyntaxError) -> String {
    let (excerpt, caret) = error.excerpt();
    let statement = match error.statement.as_str() {
        "" => &excerpt,
        statement => statement,
    };
    format!(
        "found syntax error when parsing DDL \"{statement}\": {} at line {}, column {}\n  {excerpt}\n  {:>caret$}",
        error.message, error.line, error.column, "^"
    )
}
