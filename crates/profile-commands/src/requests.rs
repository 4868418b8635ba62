//! Profiles of runs, with the request of each sample.

use std::collections::{BTreeSet, HashSet};

use capture::ProfileCollector;
use stacks::Profile;
use store::{RunRef, Store};
use words::text;

use super::kept::{self, Found};
use crate::flags::FilterArgs;
use ending::{Cause, Failure};
use experiment::Settings;
use experiment::workspace::PROFILE_RATE;

/// Stores the samples of a stored run.
pub fn keep_of_run(settings: &Settings, run: Option<i64>, collector: ProfileCollector) {
    if collector.is_empty() {
        return;
    }
    let (mut profile, _) = collector.end("wall", 1_000_000_000 / PROFILE_RATE);
    // Outside of requests the server's threads wait for the next.
    profile = stacks::filter::only(&profile, |sample| sample.request != 0);
    let command = settings.start.as_ref().map(|spec| spec.command.to_string());
    profile.command = command.unwrap_or_default();
    if let (Some(run), false) = (run, profile.samples.is_empty())
        && let Some(number) = kept::keep(&settings.project, &profile, Some(run))
    {
        console::notice(text!(
            "the stacks of run {run} are kept as profile {number}; `hakaru profile show {number}` shows them, \
             `--route` those of one route",
            run,
            number
        ));
    }
}

/// The profile of a run; none when none was taken, or is not to be had.
pub fn kept_of_run(run: i64) -> Option<Profile> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(Cause::Failed, error);
    let kept = super::take::folder().and_then(|folder| {
        let store = Store::open_existing(&folder).map_err(|error| failed(&error))?;
        let kept = store.profile_of_run(run).map_err(|error| failed(&error))?;
        let read = kept.map(|kept| Profile::decode(&kept.data)).transpose();
        read.map_err(|error| failed(&error))
    });
    match kept {
        Ok(profile) => profile,
        Err(failure) => {
            console::notice(text!(
                "the run's profile is left out: {why}",
                why = failure.message
            ));
            None
        }
    }
}

/// A request with possible samples.
struct Known {
    route: String,
    id: u64,
    length: u64,
}

/// Returns the samples of the requests chosen by the filter.
pub(super) fn only(found: &Found, filter: &FilterArgs) -> Result<Profile, Failure> {
    let mut known = told(&found.profile);
    if let Some(run) = found.run {
        known.extend(measured(run)?);
    }
    if known.is_empty() {
        return Err(Failure::new(
            Cause::Usage,
            "this profile is not of a run and saw no messages, so its samples know no route; leave out --route \
             and --slow",
        ));
    }
    let is_wanted = |request: &&Known| {
        let named = filter.route.as_deref();
        named.is_none_or(|named| named == request.route)
    };
    let wanted = known.iter().filter(is_wanted);
    let mut wanted: Vec<(u64, u64)> = wanted.map(|request| (request.length, request.id)).collect();
    if wanted.is_empty() {
        let names: BTreeSet<&str> = known.iter().map(|request| &*request.route).collect();
        let names: Vec<&str> = names.into_iter().collect();
        return Err(Failure::new(
            Cause::Usage,
            format!(
                "it has no request of that route; there are: {}",
                names.join(", ")
            ),
        ));
    }
    if filter.slow {
        wanted.sort_unstable();
        wanted.drain(..wanted.len() * 95 / 100);
    }
    let ids: HashSet<u64> = wanted.into_iter().map(|(_, id)| id).collect();
    Ok(stacks::filter::only(&found.profile, |sample| {
        ids.contains(&sample.request)
    }))
}

/// Requests reported by the app itself, such as messages of WebSockets.
fn told(profile: &Profile) -> Vec<Known> {
    let told = profile.requests.iter().map(|request| Known {
        route: profile.route(request.route).to_owned(),
        id: request.id,
        length: request.length,
    });
    told.collect()
}

/// Requests of the run's measured window.
fn measured(run: i64) -> Result<Vec<Known>, Failure> {
    let folder = super::take::folder()?;
    let stored = Store::open(&folder)
        .and_then(|store| store.load(RunRef::Number(run)))
        .map_err(|error| Failure::new(Cause::Failed, error))?;
    let joined = breakdown::join(&stored.recording);
    let seen = joined.requests.iter().filter_map(|request| {
        let handled = request.handled?;
        Some(Known {
            route: joined.routes[request.route].clone(),
            id: handled.id.0,
            length: handled.end.since(handled.start).0,
        })
    });
    Ok(seen.collect())
}
