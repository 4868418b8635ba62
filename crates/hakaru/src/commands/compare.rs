//! `hakaru compare`: two variants of an app in interleaved blocks, and the supported claims.
//!
//! Order of events: (1) resolve both sides, (2) claim the folder and take back what a killed Hakaru
//! has left, (3) make worktrees, copies and scratch databases, (4) measure (`experiment::compare`),
//! (5) take everything back, (6) show the result.

pub(crate) mod sides;

use comparison::Comparison;
use experiment::Context;
use experiment::compare::{Compared, Schemas, Sides, limits, measure as measured};
use experiment::lifecycle::{ProjectLock, Purpose};
use report::comparison as page;
use stats::design::Request;
use store::Trial;

use crate::cli::{CompareArgs, HowArgs};
use crate::exit::{Exit, Failure};
use crate::output::{self, look, observer};
use crate::settings::config;
use console::language;

/// Measures the comparison, prints the table, and returns the exit code.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let (sides, config) = sides::resolve(args)?;
    sides::guard(&sides)?;
    let context = observer::of_series()?;
    let lock = ProjectLock::claim(&sides.a.settings, Purpose::Comparison, &context)?;
    let mut sides = sides.make(&sides::variants(args, &config)?, &context)?;
    // A revision or a patch may bring another database.
    sides::guard(&sides)?;
    let mut schemas = match &args.schema_b {
        Some(file) => Schemas::of_file(&mut sides, file, &context)?,
        None => Schemas::none(),
    };
    let (comparison, exit) = measure(&sides, &args.how, &config, &mut schemas, &context)?;
    drop(schemas);
    let remedy = sides.b.name.clone();
    drop(sides);
    let trial = Trial {
        remedy,
        ..journal_entry(&comparison)
    };
    let is_kept = lock.keep(&trial, &context);
    show(&comparison, &args.how)?;
    Ok(exit.of_kept(is_kept))
}

/// Runs a comparison of two sides; returns the result and the exit code.
pub(crate) fn measure(
    sides: &Sides,
    how: &HowArgs,
    config: &config::Compare,
    schemas: &mut Schemas,
    context: &Context,
) -> Result<(Comparison, Exit), Failure> {
    let limits = limits(Request {
        budget: how.budget.or(config.budget),
        blocks: how.blocks.or(config.blocks),
        segment: how.segment.or(config.segment),
        warmup: how.warmup.or(config.warmup),
    })?;
    let compared: Compared = measured(sides, limits, schemas, context);
    let exit = match compared.cause {
        Some(cause) => cause.into(),
        None if compared.is_undecided() => Exit::Undecided,
        None => Exit::Ok,
    };
    Ok((compared.comparison, exit))
}

/// Entry of the comparison in the journal.
pub(crate) fn journal_entry(comparison: &Comparison) -> Trial {
    Trial {
        started_at_unix_ms: comparison.started_at_unix_ms,
        decision: comparison.decision().name().to_owned(),
        verdict: page::sentence(comparison).to_string(),
        document: page::compact(comparison, words::Language::English),
        ..Trial::default()
    }
}

/// Prints the comparison, and writes the HTML page if requested.
pub(crate) fn show(comparison: &Comparison, how: &HowArgs) -> Result<(), Failure> {
    match how.page.json {
        true => output::data(&page::json(comparison)),
        false
            if how
                .page
                .html
                .as_deref()
                .is_some_and(output::html::is_stdout) => {}
        false => output::page(&page::text(
            comparison,
            look::page_columns(),
            language::chosen(),
        )),
    }
    match &how.page.html {
        Some(path) => {
            let language = language::chosen();
            let text = page::text(comparison, figures::text::COLUMNS, language);
            let html = report::html::page(&page::compact(comparison, language), &text, language);
            Ok(output::html::write_html(path, &html)?)
        }
        None => Ok(()),
    }
}
