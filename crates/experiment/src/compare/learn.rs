//! The address of the app's database, learned from the driver inside the app.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use capture::Rings;
use load::Plan;
use words::text;

use super::Side;
use crate::failure;
use crate::lifecycle::{self, Load, Subject, reset};
use crate::observer::Context;
use crate::settings::nanos;
use crate::workspace::RunFolders;
use ending::{Cause, Failure};

/// Time limit for the first request with a query.
const LIMIT: Duration = Duration::from_secs(10);

/// How often the rings are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Boots the app once with the agent and loads the app until the first use of a database. `None`
/// when none was used.
pub(super) fn address(side: &Side, context: &Context) -> Result<Option<String>, Failure> {
    context.notice(text!(
        "starting the app once to learn where its database is"
    ));
    let mut settings = side.settings.clone();
    settings.agent = true;
    reset(&side.subject(), context).map_err(unnamed)?;
    let folders = RunFolders::new(&settings, &mut Vec::new())?;
    let Some(spec) = &settings.start else {
        return Ok(None);
    };
    let subject = Subject {
        name: None,
        log: spec.log.clone(),
        folders: Some(&folders),
        settings: &settings,
    };
    let mut app = lifecycle::start(&subject, context).map_err(unnamed)?;
    let scenario = settings.read_scenario()?;
    let plan = Plan {
        duration: nanos(LIMIT),
        drain: recording::Nanos::ZERO,
        ..settings.plan.clone()
    };
    let mut rings = Rings::new(folders.rings());
    let mut looked = Instant::now();
    let load = Load {
        plan: &plan,
        scenario: &scenario,
        allowed: &settings.allowed,
    };
    let loaded = lifecycle::load(load, &mut app.running, context, &mut |_| {
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            rings.poll();
        }
        match rings.database_url() {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    });
    app.running.stop();
    rings.poll();
    loaded?.map_err(Failure::failed)?;
    if context.is_stopped() {
        return Err(failure::interrupted());
    }
    Ok(rings.database_url().map(str::to_owned))
}

/// Returns interruptions without the name of a phase: the user learns only of the missing
/// measurement.
fn unnamed(failure: Failure) -> Failure {
    match failure.cause {
        Cause::Interrupted => failure::interrupted(),
        _ => failure,
    }
}
