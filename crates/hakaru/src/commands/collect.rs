//! `hakaru collect`: what several hosts saw of the same stretch of time, whoever sent the load.

pub(super) mod during;

use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use collect::follow::{Followed, Moment, follow_all};
use collect::message::Begin;
use logs::access::Format;
use logs_report::collected::{Collected, View, json, page};
use words::text;

use console::language;

use crate::cli::CollectArgs;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::hosts::{self, LOOK};
use crate::output;
use crate::settings::config::{self, host::Host};

/// Collects, and prints the page.
///
/// # Errors
/// [`Exit::Usage`] without hosts; [`Exit::Failed`] when none can be reached.
pub(crate) fn collect(args: &CollectArgs) -> Result<Exit, Failure> {
    output::html::check_html(args.page.html.as_deref(), args.page.json)?;
    if let Some(path) = &args.page.html {
        output::html::check_writable(path)?;
    }
    let loaded = config::load(args.config.as_deref(), &context::current_folder()?)?;
    let hosts = loaded.config.hosts;
    if hosts.is_empty() {
        return Err(Failure::usage(
            "there are no hosts; name them in hakaru.toml, each as [[host]] with name, ssh and logs (`hakaru help hosts`)",
        ));
    }
    let grouping = super::logs::grouping(&args.matching, false)?;
    let formats: Vec<Option<Format>> = hosts.iter().map(format).collect::<Result<_, _>>()?;
    let stop = context::stop_flag()?;
    let sessions = hosts::open(&hosts, &loaded.folder, hosts::Part::Collector)?;
    let begun = Instant::now();
    let (waited, followed) = follow_all(
        &wanted(&hosts),
        &formats,
        &grouping,
        &sessions,
        |count, happened| wait(args, count, happened, &stop),
    );
    waited?;
    let all = collected(hosts, followed);
    let is_whole = all.iter().all(|one| one.missing().is_empty());
    for one in &all {
        say_what_is_missing(one);
    }
    if all.iter().all(|one| one.followed.is_err()) {
        return Err(Failure::new(Exit::Failed, "no host could be followed"));
    }
    let view = View::of(all, begun.elapsed(), None);
    let is_html_out = args
        .page
        .html
        .as_deref()
        .is_some_and(output::html::is_stdout);
    let text = page::of(&view, args.limit);
    match args.page.json {
        true => output::data(&format!("{:#}\n", json::of(&view))),
        false if is_html_out => {}
        false => output::page(&text),
    }
    if let Some(path) = &args.page.html {
        let language = language::chosen();
        let document = json::in_language(&view, language).to_string();
        output::html::write_html(path, &report::html::page(&document, &text, language))?;
    }
    Ok(match is_whole {
        _ if context::raised(&stop) => Exit::Interrupted,
        true => Exit::Ok,
        false => Exit::Failed,
    })
}

/// `hakaru collector`: the remote side of `hakaru collect`.
///
/// # Errors
/// [`Exit::Failed`] when the near side goes or is not understood.
pub(crate) fn collector() -> Result<Exit, Failure> {
    let served = collect::collector::serve(remote::Shift::of_environment());
    served.map_err(|error| Failure::new(Exit::Failed, format!("the collector ends: {error}")))?;
    Ok(Exit::Ok)
}

fn format(host: &Host) -> Result<Option<Format>, Failure> {
    let key = format!("host {}: log_format", host.name);
    super::logs::format(host.log_format.as_deref(), &key)
}

/// Waits until all hosts have begun, then for the time to be over, the command to end, Ctrl-C, or
/// the last host to be lost.
fn wait(
    args: &CollectArgs,
    hosts: usize,
    happened: &Receiver<Moment>,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let (mut begun, mut ended) = (0, 0);
    while begun + ended < hosts && !context::raised(stop) {
        match happened.recv_timeout(LOOK) {
            Ok(Moment::Begun) => begun += 1,
            Ok(Moment::Ended) => ended += 1,
            Err(_) => {}
        }
    }
    if ended == hosts {
        return Ok(());
    }
    output::notice(text!(
        "hakaru: collecting on {hosts}",
        hosts = figures::counted!(begun as u64, "host")
    ));
    let mut command = start(&args.command)?;
    let deadline = args.duration.map(|duration| Instant::now() + duration);
    while ended < begun && !context::raised(stop) {
        let left = deadline.map_or(LOOK, |deadline| {
            deadline.saturating_duration_since(Instant::now())
        });
        let is_over = command
            .as_mut()
            .is_some_and(|command| !matches!(command.try_wait(), Ok(None)));
        if left.is_zero() || is_over {
            break;
        }
        if let Ok(Moment::Ended) = happened.recv_timeout(left.min(LOOK)) {
            ended += 1;
        }
    }
    if let Some(mut command) = command {
        // One that goes on by itself when the time is over is ended; of one that has ended nothing
        // is left to end.
        let _ = command.kill();
        let _ = command.wait();
    }
    Ok(())
}

/// Starts the command; output goes to standard error, since standard output is the page's.
fn start(command: &[String]) -> Result<Option<Child>, Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Ok(None);
    };
    let child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::from(std::io::stderr()))
        .spawn();
    child
        .map(Some)
        .map_err(|error| Failure::usage(format!("{program} cannot be started: {error}")))
}

fn wanted(hosts: &[Host]) -> Vec<Begin> {
    hosts.iter().map(Host::wanted).collect()
}

/// Joins hosts and the records collected there.
fn collected(hosts: Vec<Host>, followed: Vec<Result<Followed, String>>) -> Vec<Collected> {
    let all = hosts.into_iter().zip(followed);
    let all = all.map(|(host, followed)| Collected {
        name: host.name,
        roles: host.roles,
        followed,
    });
    all.collect()
}

fn say_what_is_missing(one: &Collected) {
    for error in one.missing() {
        output::notice(format!("hakaru: {error}"));
    }
}
