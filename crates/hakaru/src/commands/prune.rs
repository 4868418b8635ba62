//! `hakaru prune`: removes old runs.

use std::time::{SystemTime, UNIX_EPOCH};

use figures::{counted, numbers};
use store::{Old, StoreError};
use words::text;

use crate::cli::PruneArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::runs;

/// Prints the runs to remove, asks, and removes the runs.
pub(crate) fn prune(args: &PruneArgs) -> Result<Exit, Failure> {
    let failed = |error| Failure::new(Exit::Failed, error);
    let mut store = runs::open()?;
    let claim = store.claim().map_err(|error| match error {
        StoreError::Busy { .. } => Failure::new(Exit::Busy, error),
        error => failed(error),
    })?;
    let all = store.list().map_err(failed)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let old = Old {
        runs: &args.runs,
        keep: args.keep,
        age: args.older_than,
    };
    let going = old
        .of(&all, now.unwrap_or_default())
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    if going.is_empty() {
        output::notice(text!("hakaru: no run is so old; nothing was removed"));
        return Ok(Exit::Ok);
    }
    output::notice(text!(
        "hakaru: {runs} would go, with remarks and profiles: {numbers}; {left} would stay. There is no way back.",
        runs = counted!(going.len() as u64, "run"),
        numbers = numbers::ranges(&going),
        left = (all.len() - going.len()).to_string()
    ));
    if !args.yes && !output::confirm(text!("Remove them? [y/N]")) {
        let why = "nothing was removed; say --yes where nobody can be asked";
        return Err(Failure::new(Exit::Usage, why));
    }
    let removed = store.remove(&going, &claim).map_err(failed)?;
    output::notice(text!(
        "removed {runs} and {profiles}",
        runs = counted!(removed.runs as u64, "run"),
        profiles = counted!(removed.profiles as u64, "profile")
    ));
    if let Err(error) = store.shrink() {
        let why = error.to_string();
        output::notice(text!(
            "the file stays as large as it is, and later runs use the room: {why}",
            why
        ));
    }
    Ok(Exit::Ok)
}
