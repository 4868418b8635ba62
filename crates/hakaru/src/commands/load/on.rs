//! `hakaru load --on`: one load from several hosts over SSH, from the copies of the program to one
//! report.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use figures::{counted, numbers};
use generators::Order;
use load::Part;
use load_hosts::message::{self, Stretch};
use load_hosts::near::{self, Generator};
use words::{Text, text};

use super::merge;
use super::settings::Settings;
use super::show::Outputs;
use super::stretch_length;
use crate::cli::LoadArgs;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::hosts;
use crate::output::{self, Progress};
use crate::settings::config::{Loaded, host::Host};

/// Sends the load from all hosts, prints the result, and returns the exit code.
///
/// # Errors
/// [`Exit::Failed`] with the names of hosts that could not be used or were lost.
pub(super) fn on(
    args: &LoadArgs,
    loaded: &Loaded,
    mut settings: Settings,
    order: &Order,
    outputs: &Outputs<'_>,
    stop: &AtomicBool,
) -> Result<Exit, Failure> {
    let chosen = chosen(&args.on, &loaded.config.hosts)?;
    check_parts(&mut settings, chosen.len() as u32)?;
    let text = order.to_text();
    if text.len() > message::TEXT_BYTES_MAX {
        let (bytes, most) = (text.len() >> 20, message::TEXT_BYTES_MAX >> 20);
        return Err(Failure::usage(format!(
            "the files of this load have {bytes} MiB, and {most} MiB at most are brought to other hosts; take shorter feeds"
        )));
    }
    let sessions = hosts::open(&chosen, &loaded.folder, hosts::Part::Generator)?;
    let sessions = near::all_of(sessions).map_err(failed)?;
    let generators: Vec<Generator<'_>> = (chosen.iter().zip(sessions))
        .zip(Part::all(chosen.len() as u32))
        .map(|((host, session), part)| Generator {
            host: &host.name,
            part,
            session,
        })
        .collect();
    for (generator, ready) in generators
        .iter()
        .zip(near::prepare(&generators, &text).map_err(failed)?)
    {
        if let Some(error) = ready.unreachable {
            output::notice(text!(
                "hakaru: host {host}: the target accepts no connection from there ({error})",
                host = generator.host,
                error = Text::named(&error)
            ));
        }
    }
    if context::raised(stop) {
        return Ok(Exit::Interrupted);
    }
    let started_ns = near::start(&generators).map_err(failed)?;
    output::notice(text!(
        "hakaru: the load is sent from {hosts}",
        hosts = counted!(generators.len() as u64, "host")
    ));
    let mut progress = Progress::new();
    let followed = near::follow_all(
        &generators,
        quiet(&settings),
        &|| context::raised(stop),
        &mut |sum| progress.show(line_of(sum)),
    );
    progress.clear();
    let followed = followed.map_err(failed)?;
    let given = generators.iter().zip(followed);
    let given = given.map(|(generator, result)| generator.given(result, started_ns));
    merge::finish(given.collect(), outputs)
}

/// Fails for a load with too many generators to share.
///
/// # Errors
/// [`Exit::Usage`] with what does not fit.
pub(super) fn check_parts(settings: &mut Settings, of: u32) -> Result<(), Failure> {
    for part in Part::all(of) {
        settings.plan.part = part;
        (settings.plan.check(&settings.scenario)).map_err(Failure::usage)?;
    }
    Ok(())
}

/// Returns the hosts by the config file; other names are resolved by `ssh`.
fn chosen(names: &[String], known: &[Host]) -> Result<Vec<Host>, Failure> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Failure::usage(format!(
            "--on names {} twice; a host has one generator, and --threads says how many cores it uses",
            pair[0]
        )));
    }
    if let Some(wrong) = names
        .iter()
        .find(|name| name.is_empty() || name.starts_with('-'))
    {
        return Err(Failure::usage(format!(
            "--on: {wrong:?} is no host; separate hosts by commas, such as --on load1,load2"
        )));
    }
    let host = |name: &String| {
        let found = known.iter().find(|host| host.name == *name);
        found.cloned().unwrap_or_else(|| Host::new(name))
    };
    Ok(names.iter().map(host).collect())
}

fn failed(message: String) -> Failure {
    Failure::new(Exit::Failed, message)
}

/// Returns how long a generator waits between the last stretch and the result, for what is under
/// way.
fn quiet(settings: &Settings) -> Duration {
    let plan = &settings.plan;
    let quiet = stretch_length(plan) + plan.drain + plan.answer_timeout + plan.connect_timeout;
    Duration::from_nanos(quiet.0)
}

fn line_of(sum: &Stretch) -> Text {
    text!(
        "  {seconds} s   {rate} requests/s   {failed} failed",
        seconds = format!("{:>4.0}", (sum.number + 1) as f64 * sum.seconds),
        rate = numbers::plain(sum.requests as f64 / sum.seconds),
        failed = numbers::count(sum.failed)
    )
}
