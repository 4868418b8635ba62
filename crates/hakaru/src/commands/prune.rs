//! `hakaru prune`: removes old runs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use figures::counted;
use store::{RunEntry, StoreError};
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
    let numbers = chosen(&all, args, now.unwrap_or_default())
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    if numbers.is_empty() {
        output::notice(text!("hakaru: no run is so old; nothing was removed"));
        return Ok(Exit::Ok);
    }
    output::notice(text!(
        "hakaru: {runs} would go, with remarks and profiles: {numbers}; {left} would stay. There is no way back.",
        runs = counted!(numbers.len() as u64, "run"),
        numbers = ranges(&numbers),
        left = (all.len() - numbers.len()).to_string()
    ));
    if !args.yes && !output::confirm(text!("Remove them? [y/N]")) {
        let why = "nothing was removed; say --yes where nobody can be asked";
        return Err(Failure::new(Exit::Usage, why));
    }
    let removed = store.remove(&numbers, &claim).map_err(failed)?;
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

/// Returns the numbers of the runs to remove, ascending. Every given number must be a run's.
fn chosen(all: &[RunEntry], args: &PruneArgs, now: Duration) -> Result<Vec<i64>, String> {
    let is_known = |number: &&i64| all.iter().any(|run| run.number == **number);
    if let Some(unknown) = args.runs.iter().find(|number| !is_known(number)) {
        return Err(format!(
            "there is no run {unknown}; `hakaru log` lists those that are kept"
        ));
    }
    let begun_before = args
        .older_than
        .map(|age| now.saturating_sub(age).as_millis() as i64);
    // The newest come first.
    let goes = |(place, run): &(usize, &RunEntry)| {
        let by_number = args.runs.is_empty() || args.runs.contains(&run.number);
        let by_place = args.keep.is_none_or(|keep| *place >= keep);
        let by_age = begun_before.is_none_or(|before| run.started_at_unix_ms < before);
        by_number && by_place && by_age
    };
    let going = all.iter().enumerate().filter(goes);
    let mut numbers: Vec<i64> = going.map(|(_, run)| run.number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Ranges of numbers, such as `1 to 4, 7`.
fn ranges(numbers: &[i64]) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let written = ranges.into_iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}–{last}"),
    });
    written.collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;

    fn args(runs: &[i64], keep: Option<usize>, days: Option<u64>) -> PruneArgs {
        PruneArgs {
            runs: runs.to_vec(),
            keep,
            older_than: days.map(|days| Duration::from_secs(days * 86_400)),
            yes: false,
        }
    }

    #[test]
    fn runs_are_chosen_by_number_place_and_age() {
        let run = |number: i64| RunEntry {
            number,
            started_at_unix_ms: number * DAY_MS,
            complete: true,
            target: String::new(),
            requests: 0,
            part_of: String::new(),
        };
        // Begun on days 1, 2, 3, 5 and 9; today is day 10.
        let all = [9, 5, 3, 2, 1].map(run);
        let now = Duration::from_millis(10 * DAY_MS as u64);
        let check = |args: &PruneArgs, expected: &[i64]| {
            assert_eq!(chosen(&all, args, now).as_deref(), Ok(expected), "{args:?}");
        };
        check(&args(&[3, 1], None, None), &[1, 3]);
        check(&args(&[], Some(2), None), &[1, 2, 3]);
        check(&args(&[], Some(9), None), &[]);
        check(&args(&[], None, Some(7)), &[1, 2]);
        check(&args(&[], Some(4), Some(7)), &[1]);
        let unknown = chosen(&all, &args(&[4], None, None), now);
        assert!(unknown.is_err_and(|why| why.contains("no run 4")));
    }

    #[test]
    fn neighbours_are_one_range() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1–3, 7, 9–10");
    }
}
