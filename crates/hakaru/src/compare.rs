//! `hakaru compare`: two variants of an app in interleaved blocks, and what may be claimed of them.
//!
//! Order of events: (1) resolve both sides, (2) claim the folder and take back what a killed Hakaru has left,
//! (3) make worktrees, copies and scratch databases, (4) a trial boot of each side: does it start, answer, settle, and
//! what does a measurement cost? (5) blocks of four measurements, A B B A and B A A B in turn, each with a fresh boot,
//! until `stats::comparison` says that it is decided, (6) take everything back, (7) say what was found.

pub(crate) mod copies;
pub(crate) mod experiment;
pub(crate) mod scratch;
pub(crate) mod sides;
pub(crate) mod trial;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use report::comparison::{self as page, Comparison, Decision};
use store::{RunClaim, Store, StoreError, Trial};
use words::text;

use crate::cli::{CompareArgs, HowArgs};
use crate::exit::{Exit, Failure};
use crate::language;
use crate::settings::Settings;
use crate::talk::{self, look};
use crate::{signals, undo};
use experiment::{Experiment, How};
use scratch::Schemas;
use sides::Sides;

/// Measures it, prints the table, and says how the program ends.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let sides = Sides::resolve(args)?;
    sides.guard()?;
    let stop = watch()?;
    let held = Held::claim(&sides.a.settings)?;
    let mut sides = sides.make(args, &stop)?;
    // A revision or a patch may bring another database.
    sides.guard()?;
    let mut schemas = match &args.schema_b {
        Some(file) => Schemas::of_file(&mut sides, file, &stop)?,
        None => Schemas::none(),
    };
    let (comparison, exit) = measure(&sides, &args.how, &mut schemas, &stop)?;
    drop(schemas);
    let remedy = sides.b.name.clone();
    drop(sides);
    held.keep(&Trial {
        remedy,
        ..told(&comparison)
    });
    show(&comparison, &args.how)?;
    Ok(exit)
}

/// Ctrl-C as a flag.
pub(crate) fn watch() -> Result<Arc<AtomicBool>, Failure> {
    signals::watch()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot watch for Ctrl-C: {error}")))
}

/// The folder while nobody else may use it.
pub(crate) struct Held {
    kept: Option<(Store, RunClaim)>,
}

impl Held {
    /// Claims it. Where nothing can be kept, the comparison goes on without, and says so.
    pub(crate) fn claim(settings: &Settings) -> Result<Held, Failure> {
        let claimed = Store::open(&settings.project).and_then(|store| {
            let claim = store.claim()?;
            Ok((store, claim))
        });
        match claimed {
            Ok((store, claim)) => {
                undo::pending(&store, crate::run::facts::database_url(settings).as_deref());
                Ok(Held {
                    kept: Some((store, claim)),
                })
            }
            Err(error @ StoreError::Busy { .. }) => Err(Failure::new(Exit::Busy, error)),
            Err(error @ StoreError::Newer { .. }) => Err(Failure::new(Exit::Failed, error)),
            Err(error) => {
                talk::say(text!(
                    "hakaru: {why}; this comparison will not be kept",
                    why = error.to_string()
                ));
                Ok(Held { kept: None })
            }
        }
    }

    /// The store, where there is one.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.kept.as_ref().map(|(store, _)| store)
    }

    /// Keeps the comparison for `hakaru log`.
    pub(crate) fn keep(&self, trial: &Trial) {
        if let Some(store) = self.store()
            && let Err(error) = store.put_trial(trial)
        {
            talk::say(text!(
                "hakaru: {why}; the journal lacks this comparison",
                why = error.to_string()
            ));
        }
    }
}

/// From two sides to what may be said of them, and the program's end.
pub(crate) fn measure(
    sides: &Sides,
    how: &HowArgs,
    schemas: &mut Schemas,
    stop: &Arc<AtomicBool>,
) -> Result<(Comparison, Exit), Failure> {
    let how = How::resolve(how, &sides.config)?;
    let (comparison, failed) = Experiment::new(sides, how, schemas, stop).run();
    let exit = match failed {
        Some(exit) => exit,
        None if signals::raised(stop) => Exit::Interrupted,
        None if page::decision(&comparison) == Decision::Unclear && !sides.is_noise => {
            Exit::Undecided
        }
        None => Exit::Ok,
    };
    Ok((comparison, exit))
}

/// What the journal keeps of it.
pub(crate) fn told(comparison: &Comparison) -> Trial {
    Trial {
        started_at_unix_ms: comparison.started_at_unix_ms,
        decision: page::decision(comparison).name().to_owned(),
        verdict: page::sentence(comparison).to_string(),
        document: page::compact(comparison, words::Language::English),
        ..Trial::default()
    }
}

/// Prints it, and writes the HTML page where one is wanted.
pub(crate) fn show(comparison: &Comparison, how: &HowArgs) -> Result<(), Failure> {
    match how.json {
        true => talk::data(&page::json(comparison)),
        false if how.html.as_deref().is_some_and(crate::page::is_stdout) => {}
        false => talk::page(&page::text(
            comparison,
            look::page_columns(),
            language::chosen(),
        )),
    }
    match &how.html {
        Some(path) => {
            let language = language::chosen();
            let text = page::text(comparison, report::text::COLUMNS, language);
            let html = report::html::page(&page::compact(comparison, language), &text, language);
            crate::page::write_html(path, &html)
        }
        None => Ok(()),
    }
}
