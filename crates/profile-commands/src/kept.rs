//! Stored profiles: in the folder's store, or in files.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use stacks::Profile;
use store::{RunRef, Store};
use words::text;

use ending::{Cause, Failure};

/// A profile with the source.
pub(super) struct Found {
    pub(super) profile: Profile,
    /// Number of the profile in the store.
    pub(super) number: Option<i64>,
    /// Number of the profiled run.
    pub(super) run: Option<i64>,
}

/// Returns the profile with the number, or in the named file.
pub(super) fn find(text: &str) -> Result<Found, Failure> {
    match text.parse::<RunRef>() {
        Ok(wanted) => from_store(wanted),
        Err(_) => from_file(Path::new(text)).map(|profile| Found {
            profile,
            number: None,
            run: None,
        }),
    }
}

fn from_store(wanted: RunRef) -> Result<Found, Failure> {
    let folder = super::take::folder()?;
    let missing = || {
        Failure::new(
            Cause::Usage,
            format!(
                "no profile {wanted} was kept in this folder; `hakaru profile -- COMMAND` makes one"
            ),
        )
    };
    if !Store::path_in(&folder).exists() {
        return Err(missing());
    }
    let failed = |error: &dyn std::fmt::Display| Failure::new(Cause::Failed, error);
    let kept = Store::open(&folder)
        .and_then(|store| store.profile(wanted))
        .map_err(|error| failed(&error))?
        .ok_or_else(missing)?;
    let profile = Profile::decode(&kept.data).map_err(|error| failed(&error))?;
    Ok(Found {
        profile,
        number: Some(kept.number),
        run: kept.run,
    })
}

fn from_file(path: &Path) -> Result<Profile, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(
            Cause::Usage,
            format!("cannot read {} as a profile: {error}", path.display()),
        )
    };
    let bytes = std::fs::read(path).map_err(|error| failed(&error))?;
    let read = stacks::import::read(&bytes).map_err(|error| failed(&error))?;
    for sentence in &read.left_out {
        console::notice(format!("{}: {sentence}", path.display()));
    }
    let mut profile = read.profile;
    if profile.command.is_empty() {
        profile.command = path.display().to_string();
    }
    Ok(profile)
}

/// Stores a profile in the project's store, with the number of the profiled run if there is one;
/// returns the profile's number, or prints the reason of the failure.
pub(super) fn keep(folder: &Path, profile: &Profile, run: Option<i64>) -> Option<i64> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64);
    let started = now - (profile.duration / 1_000_000) as i64;
    let kept = Store::open(folder)
        .and_then(|store| store.add_profile(started, &profile.command, &profile.encode(), run));
    kept.inspect_err(|error| {
        console::notice(text!(
            "hakaru: {error}; this profile is not kept",
            error = error.to_string()
        ));
    })
    .ok()
}
