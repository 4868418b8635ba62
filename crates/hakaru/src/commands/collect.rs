//! `hakaru collect`: what several hosts saw of the same stretch of time, whoever sent the load.

pub(super) mod during;

use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use collect::follow::{Followed, Moment, follow};
use collect::message;
use logs::access::{Format, Grouping};
use logs_report::collected::{Collected, View, json, page};
use remote::Session;
use words::text;

use crate::cli::CollectArgs;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::hosts::{self, LOOK, PATIENCE};
use crate::output;
use crate::settings::config::{self, host::Host};

/// Collects, and prints the page.
///
/// # Errors
/// [`Exit::Usage`] without hosts; [`Exit::Failed`] when none can be reached.
pub(crate) fn collect(args: &CollectArgs) -> Result<Exit, Failure> {
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
    let sessions = hosts::open(&hosts, &loaded.folder, &["collector"])?;
    let begun = Instant::now();
    let (waited, followed) =
        follow_all(&hosts, &formats, &grouping, sessions, |count, happened| {
            wait(args, count, happened, &stop)
        });
    waited?;
    let all: Vec<Collected> = (hosts.into_iter().zip(followed))
        .map(|(host, followed)| Collected {
            name: host.name,
            roles: host.roles,
            followed,
        })
        .collect();
    let is_whole = all.iter().all(is_whole);
    for one in &all {
        say_what_is_missing(one);
    }
    if all.iter().all(|one| one.followed.is_err()) {
        return Err(Failure::new(Exit::Failed, "no host could be followed"));
    }
    let view = View::of(all, begun.elapsed(), None);
    match args.form.json {
        true => output::data(&format!("{:#}\n", json::of(&view))),
        false => output::page(&page::of(&view, args.limit)),
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
    let served = collect::collector::serve(context::clock_shift());
    served.map_err(|error| Failure::new(Exit::Failed, format!("the collector ends: {error}")))?;
    Ok(Exit::Ok)
}

fn format(host: &Host) -> Result<Option<Format>, Failure> {
    let key = format!("host {}: log_format", host.name);
    super::logs::format(host.log_format.as_deref(), &key)
}

/// Follows each host on a separate thread, from a common start until `wait` returns; `wait` has the
/// number of hosts, and the moments of all.
fn follow_all<T>(
    hosts: &[Host],
    formats: &[Option<Format>],
    grouping: &Grouping,
    sessions: Vec<Result<Session, String>>,
    wait: impl FnOnce(usize, &Receiver<Moment>) -> T,
) -> (T, Vec<Result<Followed, String>>) {
    thread::scope(|scope| {
        let (moments, happened) = mpsc::channel();
        let mut threads = Vec::new();
        for ((host, format), session) in hosts.iter().zip(formats).zip(&sessions) {
            let moments = moments.clone();
            threads.push(session.as_ref().map_err(Clone::clone).map(|session| {
                scope.spawn(move || {
                    let followed = follow(session, &host.logs, format.as_ref(), grouping, &moments);
                    // Nobody listens any more once all is over.
                    let _ = moments.send(Moment::Ended);
                    followed
                })
            }));
        }
        drop(moments);
        let count = threads.iter().filter(|thread| thread.is_ok()).count();
        let waited = wait(count, &happened);
        for session in sessions.iter().flatten() {
            // A host that is lost is named by its own thread.
            let _ = session.send(message::END, &[], PATIENCE);
        }
        let followed = threads.into_iter().map(|thread| match thread?.join() {
            Ok(followed) => followed.map_err(|error| error.to_string()),
            Err(panic) => std::panic::resume_unwind(panic),
        });
        (waited, followed.collect())
    })
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

fn is_whole(one: &Collected) -> bool {
    let Ok(followed) = &one.followed else {
        return false;
    };
    followed.lost.is_none() && followed.logs.iter().all(|log| log.error.is_none())
}

fn say_what_is_missing(one: &Collected) {
    let name = &one.name;
    match &one.followed {
        Err(error) => output::notice(format!("hakaru: {error}")),
        Ok(followed) => {
            if let Some(error) = &followed.lost {
                output::notice(format!("hakaru: {error}"));
            }
            for log in &followed.logs {
                if let Some(error) = &log.error {
                    output::notice(format!("hakaru: host {name}: {}: {error}", log.path));
                }
            }
        }
    }
}
