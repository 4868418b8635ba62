//! `hakaru collect`: what several hosts saw of the same stretch of time, whoever sent the load.

pub(super) mod during;

use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use collect::follow::{Followed, follow_all};
use collect::message::Begin;
use collect::moments::{Beginning, Moment};
use logs::access::Format;
use logs_report::collected::{Collected, View, json, page};
use rustix::process::{Pid, Signal, kill_process_group};
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
    let beginning = Beginning::wait(hosts, happened, LOOK, || context::raised(stop));
    if beginning.ended == hosts {
        return Ok(());
    }
    output::notice(text!(
        "hakaru: collecting on {hosts}",
        hosts = figures::counted!(beginning.begun as u64, "host")
    ));
    let mut command = start(&args.command)?;
    let deadline = args.duration.map(|duration| Instant::now() + duration);
    wait_for_end(
        hosts - beginning.ended,
        deadline,
        &mut command,
        happened,
        stop,
    );
    if let Some(command) = command {
        end(command);
    }
    Ok(())
}

/// Waits until the time is over, the command ends, Ctrl-C, or the last of `hosts` is lost. Each
/// host ends once, also one that never began.
fn wait_for_end(
    mut hosts: usize,
    deadline: Option<Instant>,
    command: &mut Option<Child>,
    happened: &Receiver<Moment>,
    stop: &AtomicBool,
) {
    while hosts > 0 && !context::raised(stop) {
        let left = deadline.map_or(LOOK, |deadline| {
            deadline.saturating_duration_since(Instant::now())
        });
        let is_over = command
            .as_mut()
            .is_some_and(|command| !matches!(command.try_wait(), Ok(None)));
        if left.is_zero() || is_over {
            return;
        }
        match happened.recv_timeout(left.min(LOOK)) {
            Ok(Moment::Ended { .. }) => hosts -= 1,
            Ok(Moment::Begun) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Ends a command still running after the time, with all processes of the group.
fn end(mut command: Child) {
    // One that has ended by itself may have left something behind on purpose.
    if matches!(command.try_wait(), Ok(None)) {
        let _ = kill_process_group(Pid::from_child(&command), Signal::KILL);
    }
    let _ = command.wait();
}

/// Starts the command in a separate process group; output goes to standard error, since standard
/// output is the page's. A terminal's input is for the group of this program only.
fn start(command: &[String]) -> Result<Option<Child>, Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Ok(None);
    };
    let input = match std::io::stdin().is_terminal() {
        true => Stdio::null(),
        false => Stdio::inherit(),
    };
    let child = Command::new(program)
        .args(arguments)
        .stdin(input)
        .stdout(Stdio::from(std::io::stderr()))
        .process_group(0)
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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::sync::mpsc;

    use clap::Parser;

    use super::*;
    use crate::cli::{self, Cli};

    #[test]
    fn a_host_that_is_lost_before_it_begins_ends_nobodys_time() {
        let cli = Cli::try_parse_from(["hakaru", "collect", "--for", "100ms"]);
        let cli::Command::Collect(args) = cli.unwrap_or_else(|error| panic!("{error}")).command
        else {
            panic!("another command")
        };
        let (moments, happened) = mpsc::channel();
        let lost = Moment::Ended { has_begun: false };
        for moment in [Moment::Begun, lost] {
            moments.send(moment).expect("taken");
        }
        let begun = Instant::now();
        wait(&args, 2, &happened, &AtomicBool::new(false)).expect("waited");
        assert!(Some(begun.elapsed()) >= args.duration);
        drop(moments);
    }

    #[test]
    fn what_a_command_has_started_is_ended_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        let script = format!("(sleep 3; echo alive) > '{}' & wait", pipe.display());
        let command = ["sh".to_owned(), "-c".to_owned(), script];
        let command = start(&command).expect("sh starts");
        // Opened as soon as the inner process has opened it too.
        let mut pipe = File::open(pipe).expect("opened");
        end(command.expect("a command"));
        let mut said = String::new();
        pipe.read_to_string(&mut said).expect("read");
        assert_eq!(said, "");
    }
}
