//! Schema settings of `hakaru.toml`, used where no flag is given.

use std::path::Path;

use clap::ValueEnum;

use crate::exit::{Exit, Failure};
use crate::settings::config::schema::Schema;
use crate::settings::config::{self, FILE_NAME};
use schema_commands::flags::{CompareArgs, Dialect, Filter, How, SchemaCommand};

/// Fills in what was not typed; names what is missing still.
pub(super) fn configure(command: &mut SchemaCommand) -> Result<(), Failure> {
    let filter = match command {
        SchemaCommand::Plan(args) => &args.compare.how.filter,
        SchemaCommand::Apply(args) => &args.how.filter,
        SchemaCommand::Check(args) => &args.how.filter,
        SchemaCommand::Export(args) => &args.filter,
        SchemaCommand::Lint(args) => &args.filter,
        SchemaCommand::Drift(args) => &args.compare.how.filter,
    };
    let schema = schema(filter.environment.as_deref())?;
    match command {
        SchemaCommand::Plan(args) => compare(&mut args.compare, &schema)?,
        SchemaCommand::Check(args) => compare(args, &schema)?,
        SchemaCommand::Drift(args) => compare(&mut args.compare, &schema)?,
        SchemaCommand::Apply(args) => {
            let is_typed = args.place.is_some() || args.from.is_some();
            let is_kept = args
                .place
                .as_deref()
                .is_some_and(|place| place.ends_with(".json"));
            place(&mut args.place, is_typed, &schema)?;
            online_command(&mut args.how, &schema);
            // A plan that was kept says itself what it allows and what is wanted.
            if !is_kept {
                args.to = args.to.take().or(schema.to.clone());
                how(&mut args.how, &schema)?;
            }
        }
        SchemaCommand::Export(args) => {
            place(&mut args.place, false, &schema)?;
            filters(&mut args.filter, &schema);
            args.allow_unseen |= schema.allow_unseen;
            args.role.extend(schema.roles.iter().cloned());
            args.dialect = args.dialect.or(dialect(&schema)?);
        }
        SchemaCommand::Lint(args) => {
            place(&mut args.place, false, &schema)?;
            filters(&mut args.filter, &schema);
            args.ignore.extend(schema.lint_ignore.iter().cloned());
            args.dialect = args.dialect.or(dialect(&schema)?);
        }
    }
    Ok(())
}

fn usage(message: String) -> Failure {
    Failure::new(Exit::Usage, message)
}

fn schema(environment: Option<&str>) -> Result<Schema, Failure> {
    let loaded = config::load(None, Path::new(""))?;
    loaded.config.schema.of(environment).map_err(|known| {
        let name = environment.unwrap_or_default();
        usage(match known.is_empty() {
            true => format!(
                "{FILE_NAME} has no environments; write one under [schema.environments.{name}]"
            ),
            false => format!(
                "{FILE_NAME} has no environment {name}; it has {}",
                known.join(", ")
            ),
        })
    })
}

fn place(typed: &mut Option<String>, has_other: bool, schema: &Schema) -> Result<(), Failure> {
    if typed.is_none() && !has_other {
        typed.clone_from(&schema.place);
    }
    match typed.is_some() || has_other {
        true => Ok(()),
        false => Err(usage(format!(
            "which schema? name a place, such as a server or a file, or write `place` under [schema] into {FILE_NAME}"
        ))),
    }
}

fn compare(args: &mut CompareArgs, schema: &Schema) -> Result<(), Failure> {
    place(&mut args.place, args.from.is_some(), schema)?;
    args.to = args.to.take().or(schema.to.clone());
    how(&mut args.how, schema)?;
    match args.to {
        Some(_) => Ok(()),
        None => Err(usage(format!(
            "what is wanted? say --to PLACE, or write `to` under [schema] into {FILE_NAME}"
        ))),
    }
}

fn how(how: &mut How, schema: &Schema) -> Result<(), Failure> {
    filters(&mut how.filter, schema);
    how.allow.extend(schema.allow.iter().cloned());
    how.managed_role
        .extend(schema.managed_roles.iter().cloned());
    how.role.extend(schema.roles.iter().cloned());
    how.allow_unseen |= schema.allow_unseen;
    how.dialect = how.dialect.or(dialect(schema)?);
    online_command(how, schema);
    Ok(())
}

/// The program counts with `--online` only, and for stored plans too.
fn online_command(how: &mut How, schema: &Schema) {
    let command = &mut how.online_command;
    *command = command.take().or(schema.online_command.clone());
}

fn filters(filter: &mut Filter, schema: &Schema) {
    filter.include.extend(schema.include.iter().cloned());
    filter.exclude.extend(schema.exclude.iter().cloned());
}

fn dialect(schema: &Schema) -> Result<Option<Dialect>, Failure> {
    let Some(name) = &schema.dialect else {
        return Ok(None);
    };
    let known = <Dialect as ValueEnum>::from_str(name, true);
    known.map(Some).map_err(|_| {
        usage(format!(
            "{FILE_NAME}: there is no dialect {name}; say mysql, mariadb, postgres or sqlite"
        ))
    })
}
