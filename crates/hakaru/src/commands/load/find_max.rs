//! `hakaru load --find-max`: the highest rate at which goals hold.

use std::sync::atomic::AtomicBool;

use load::{LoadEnd, Trial};
use load_report::search;

use super::settings::Settings;
use crate::cli::LoadArgs;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output;
use console::language;

/// Searches, prints what was found, and says how the program ends.
pub(crate) fn find_max(
    args: &LoadArgs,
    settings: &Settings,
    stop: &AtomicBool,
) -> Result<Exit, Failure> {
    let (plan, goals) = (&settings.plan, &settings.goals);
    output::notice(search::announcement(&settings.url, plan, goals));
    let mut tell = |trial: &Trial| output::notice(search::line_of(trial));
    let found = load::find_max(plan, &settings.scenario, goals, stop, &mut tell)
        .map_err(|error| Failure::new(Exit::Failed, error))?;
    match args.form.json {
        true => output::data(&search::document(&settings.url, goals, &found)),
        false => output::page(&search::summary(&found, language::chosen())),
    }
    let end = LoadEnd::of_search(&found, context::raised(stop));
    Ok(super::exit(end))
}
