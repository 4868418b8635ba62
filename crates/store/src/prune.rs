//! Choice of old runs, and the removal of named ones.

use std::time::Duration;

use rusqlite::params;

use crate::{RunClaim, RunEntry, Store, StoreError};

/// Runs to be removed: the ones with all of what is said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Old<'a> {
    /// Numbers of runs; of all runs, where there is none.
    pub runs: &'a [i64],
    /// Number of the newest runs to keep; `None` for none.
    pub keep: Option<usize>,
    /// Time since the start; `None` for any.
    pub age: Option<Duration>,
}

impl Old<'_> {
    /// Returns the numbers of such runs, ascending. Of `all`, the newest come first; `now` counts
    /// from 1970.
    ///
    /// # Errors
    /// A given number which is no run's.
    pub fn of(&self, all: &[RunEntry], now: Duration) -> Result<Vec<i64>, String> {
        let is_known = |number: &&i64| all.iter().any(|run| run.number == **number);
        if let Some(unknown) = self.runs.iter().find(|number| !is_known(number)) {
            return Err(format!(
                "there is no run {unknown}; `hakaru log` lists those that are kept"
            ));
        }
        let begun_before = self
            .age
            .map(|age| now.saturating_sub(age).as_millis() as i64);
        let goes = |(place, run): &(usize, &RunEntry)| {
            let by_number = self.runs.is_empty() || self.runs.contains(&run.number);
            let by_place = self.keep.is_none_or(|keep| *place >= keep);
            let by_age = begun_before.is_none_or(|before| run.started_at_unix_ms < before);
            by_number && by_place && by_age
        };
        let going = all.iter().enumerate().filter(goes);
        let mut numbers: Vec<i64> = going.map(|(_, run)| run.number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Runs, with the journal lines and remarks of each.
    pub runs: usize,
    /// Profiles taken during the runs.
    pub profiles: usize,
}

impl Store {
    /// Removes runs by number, all or none, with all dependent rows. Comparisons stay, also of a
    /// finding of such a run. The claim says that no run is being written meanwhile. Numbers are
    /// not given again.
    ///
    /// # Errors
    /// When the file cannot be written. Then nothing is removed.
    pub fn remove(&mut self, numbers: &[i64], _claim: &RunClaim) -> Result<Removed, StoreError> {
        let path = self.path();
        let mut remove = || {
            let mut removed = Removed::default();
            let removal = self.database.transaction()?;
            for number in numbers {
                removed.profiles +=
                    removal.execute("DELETE FROM profile WHERE run = ?1", params![number])?;
                removed.runs +=
                    removal.execute("DELETE FROM run WHERE number = ?1", params![number])?;
            }
            removal.commit()?;
            Ok(removed)
        };
        remove().map_err(|error| StoreError::sqlite(&path, 0, error))
    }

    /// Gives the room of what was removed back to the disk, which takes as much room as the rest
    /// for the time being.
    ///
    /// # Errors
    /// When there is not so much room. Then later runs use it.
    pub fn shrink(&self) -> Result<(), StoreError> {
        let shrunk = self
            .database
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
        shrunk.map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;

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
        let old = |runs: &[i64], keep: Option<usize>, days: Option<u64>| {
            let age = days.map(|days| Duration::from_secs(days * 86_400));
            Old { runs, keep, age }.of(&all, now)
        };
        let check = |found: Result<Vec<i64>, String>, expected: &[i64]| {
            assert_eq!(found.as_deref(), Ok(expected));
        };
        check(old(&[3, 1], None, None), &[1, 3]);
        check(old(&[], Some(2), None), &[1, 2, 3]);
        check(old(&[], Some(9), None), &[]);
        check(old(&[], None, Some(7)), &[1, 2]);
        check(old(&[], Some(4), Some(7)), &[1]);
        let unknown = old(&[4], None, None);
        assert!(unknown.is_err_and(|why| why.contains("no run 4")));
    }
}
