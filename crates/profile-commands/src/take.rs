//! Runs a command with the sampler inside and reads the samples.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use capture::{Counted, ProfileCollector, Rings};
use report::profile::{CountedView, ProfileView};
use stacks::Profile;
use words::{Text, text};

use super::kept;
use crate::flags::{Mode, ProfileArgs};
use console::language;
use console::look;
use console::process;
use ending::{Cause, Ended, Failure};
use experiment::workspace::Inside;

/// Interval of reading the rings, short enough for no ring to fill up.
const POLL: Duration = Duration::from_millis(20);

/// Runs the command to the end, prints the profile and stores the profile.
pub(super) fn take(args: &ProfileArgs) -> Result<Ended, Failure> {
    let folder = folder()?;
    let stop = process::stop_flag()?;
    let places = Inside::new(&folder).map_err(|error| {
        Failure::new(
            Cause::Failed,
            format!("no place for the agent: {error}; set TMPDIR to a folder without spaces that can be written"),
        )
    })?;
    let mut child = spawn(args, &places)?;
    let mut rings = Rings::new(places.rings());
    let mut collector = ProfileCollector::default();
    let status = watch(&mut child, &mut rings, &mut collector, args.standby, &stop)?;
    if args.standby {
        return Ok(exit_of(status, &stop));
    }
    if collector.is_empty() {
        return Err(nothing_seen(&rings));
    }
    let (mut profile, counted) = collector.end(args.mode.name(), interval(args));
    profile.command = args.command.join(" ");
    show(args, &rings, &profile, &counted)?;
    Ok(exit_of(status, &stop))
}

/// The folder for stored profiles: the current one.
pub(super) fn folder() -> Result<PathBuf, Failure> {
    Ok(process::current_folder()?)
}

/// Nanoseconds between two samples, as asked for.
pub(super) fn interval(args: &ProfileArgs) -> u64 {
    match args.mode {
        Mode::Alloc => 0,
        _ => 1_000_000_000 / u64::from(args.rate),
    }
}

/// Keeps and prints a profile.
pub(super) fn show(
    args: &ProfileArgs,
    rings: &Rings,
    profile: &Profile,
    counted: &Counted,
) -> Result<(), Failure> {
    for process in rings.processes() {
        for trouble in &process.troubles {
            console::notice(text!(
                "process {pid}: {trouble}",
                pid = process.pid,
                trouble = Text::named(trouble)
            ));
        }
    }
    let number = folder()
        .ok()
        .and_then(|folder| kept::keep(&folder, profile, None));
    let counted = args.count.as_ref().map(|method| CountedView {
        method: method.clone(),
        sites: counted
            .sites
            .iter()
            .map(|site| (site.caller.clone(), site.calls, site.repeats))
            .collect(),
        missed: counted.missed,
    });
    let view = ProfileView {
        number,
        profile,
        counted: counted.as_ref(),
    };
    console::data(&if args.json {
        report::profile::json(&view)
    } else {
        report::profile::page(&view, look::page_columns(), language::chosen())
    });
    if let Some(path) = &args.html {
        console::html::write_html(path, &report::profile::to_html(&view, language::chosen()))?;
    }
    Ok(())
}

fn spawn(args: &ProfileArgs, places: &Inside) -> Result<Child, Failure> {
    let (program, arguments) = args
        .command
        .split_first()
        .ok_or_else(|| Failure::new(Cause::Usage, "no command to profile"))?;
    let begin = if args.standby { "told" } else { "now" };
    let mut command = Command::new(program);
    command.args(arguments).envs(places.environment());
    command.env(
        "HAKARU_PROFILE",
        format!("{} {} {begin}", args.mode.name(), args.rate),
    );
    if let Some(method) = &args.count {
        command.env("HAKARU_PROFILE_COUNT", method);
    }
    if args.json {
        // Standard output is for the JSON alone.
        let error = std::io::stderr().as_fd().try_clone_to_owned();
        command.stdout(error.map_or_else(|_| Stdio::null(), Stdio::from));
    }
    let child = command.spawn().map_err(|error| {
        Failure::new(
            Cause::TargetFailed,
            format!("cannot start {program}: {error}; is it in PATH?"),
        )
    })?;
    if args.standby {
        console::notice(text!(
            "process {pid} stands by; from another terminal: hakaru profile --pid {pid}",
            pid = child.id()
        ));
    }
    Ok(child)
}

/// Reads rings until the command ends. Ctrl-C reaches it too, and it decides when it ends.
fn watch(
    child: &mut Child,
    rings: &mut Rings,
    collector: &mut ProfileCollector,
    standby: bool,
    stop: &AtomicBool,
) -> Result<ExitStatus, Failure> {
    let mut told = false;
    loop {
        // Asked before reading: what was written before the end is then surely read.
        let ended = child.try_wait().map_err(|error| {
            Failure::new(
                Cause::Failed,
                format!("cannot wait for the command: {error}"),
            )
        })?;
        if !standby {
            read(rings, collector);
        }
        if let Some(status) = ended {
            return Ok(status);
        }
        if process::raised(stop) && !std::mem::replace(&mut told, true) {
            // Our own SIGTERM does not reach it by the terminal.
            forward(child);
        }
        std::thread::sleep(POLL);
    }
}

/// Takes what has come.
pub(super) fn read(rings: &mut Rings, collector: &mut ProfileCollector) {
    for (pid, record) in rings.poll().profile {
        collector.add(pid, record);
    }
}

fn forward(child: &Child) {
    if let Some(pid) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}

fn nothing_seen(rings: &Rings) -> Failure {
    let processes = rings.processes();
    let troubles: Vec<&str> = processes
        .iter()
        .flat_map(|process| process.troubles.iter().map(String::as_str))
        .collect();
    let why = match (&troubles[..], processes.is_empty()) {
        ([first, ..], _) => (*first).to_owned(),
        (_, true) => "no Ruby process loaded the agent: is it Ruby 3.2 or later, and does the \
                      command keep RUBYOPT?"
            .to_owned(),
        (_, false) => "Ruby ended before the first sample".to_owned(),
    };
    Failure::new(Cause::Failed, format!("nothing was profiled: {why}"))
}

fn exit_of(status: ExitStatus, stop: &AtomicBool) -> Ended {
    if process::raised(stop) {
        Ended::Interrupted
    } else if status.success() {
        Ended::Ok
    } else {
        console::notice(text!(
            "the command ended with {status}",
            status = status.to_string()
        ));
        Ended::TargetDied
    }
}
