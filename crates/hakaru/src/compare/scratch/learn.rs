//! Where the app's database is, from the app itself: its driver knows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use capture::Rings;
use load::Plan;
use words::text;

use super::super::sides::Side;
use crate::exit::{Exit, Failure};
use crate::run::places::Places;
use crate::segment::{Trouble, nanos, reset};
use crate::{run, signals, talk};

/// Time for the first request that asks the database.
const LIMIT: Duration = Duration::from_secs(10);

/// How often the rings are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Boots the app once with the agent and loads it until it has used its database. `None` when it never did.
pub(super) fn address(side: &Side, stop: &Arc<AtomicBool>) -> Result<Option<String>, Failure> {
    talk::say(text!(
        "starting the app once to learn where its database is"
    ));
    let mut settings = side.settings.clone();
    settings.agent = true;
    let failure = |trouble: Trouble| match trouble.ending {
        report::comparison::Ending::Failed(why) => Failure::new(trouble.exit, why),
        _ => Failure::new(
            Exit::Interrupted,
            "interrupted before anything was measured",
        ),
    };
    reset(&side.subject(), stop).map_err(failure)?;
    let places = Places::new(&settings, &mut Vec::new())?;
    let Some(spec) = &mut settings.start else {
        return Ok(None);
    };
    spec.agent = places.agent();
    spec.remove_when_killed.extend(places.private_folders());
    let mut app = target::start(spec, stop).map_err(|error| match error {
        target::TargetError::Interrupted => Failure::new(
            Exit::Interrupted,
            "interrupted before anything was measured",
        ),
        error => Failure::new(Exit::TargetFailed, error),
    })?;
    let scenario = run::read_scenario(&settings)?;
    let plan = Plan {
        duration: nanos(LIMIT),
        drain: recording::Nanos::ZERO,
        ..settings.plan.clone()
    };
    let mut rings = Rings::new(places.rings());
    let over = AtomicBool::new(false);
    let mut looked = Instant::now();
    let loaded = load::run(&plan, &scenario, &over, &mut |_| {
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            rings.poll();
        }
        let is_known = rings.database_url().is_some();
        if is_known || signals::raised(stop) || app.exited().is_some() {
            over.store(true, Ordering::Relaxed);
        }
    });
    app.stop();
    rings.poll();
    loaded.map_err(|error| Failure::new(Exit::Failed, error))?;
    if signals::raised(stop) {
        return Err(Failure::new(
            Exit::Interrupted,
            "interrupted before anything was measured",
        ));
    }
    Ok(rings.database_url().map(str::to_owned))
}
