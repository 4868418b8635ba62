//! The order of events: check, spawn, wait until ready.

use std::fs;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::address::Endpoint;
use crate::by_hand;
use crate::error::{Printed, TargetError};
use crate::failure;
use crate::log::Log;
use crate::procfs;
use crate::ready::{self, Ask, Probe, ReadyBy, TICK};
use crate::running::Running;
use crate::spec::{CommandLine, Spec};
use crate::tree::{Launch, Tree};

/// Exit codes by which a shell says "not found" and "found, but cannot be run".
const SHELL_NOT_FOUND: [i32; 2] = [127, 126];

/// Time for the last words of a dead app to arrive.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Starts the app and waits until the app is ready. When `stop` is raised meanwhile, or anything
/// fails, the app is stopped before this returns.
///
/// # Errors
/// Any [`TargetError`] but [`TargetError::BeforeFailed`] and [`TargetError::NotAnswering`].
pub fn start(spec: &Spec, stop: &AtomicBool) -> Result<Running, TargetError> {
    check_port_free(spec)?;
    let log = Log::create(spec.log.as_deref()).map_err(|source| TargetError::Log {
        path: spec.log.clone().unwrap_or_default(),
        source,
    })?;
    let environment = spec.environment()?;
    let tree = spawn(
        spec,
        &spec.command,
        Extras {
            environment,
            notify: true,
        },
        log,
    )?;
    let command = spec.command.shown();
    match ready::wait(
        &tree,
        (&spec.url, spec.ask),
        spec.ready_timeout,
        &command,
        stop,
    )? {
        Some(ready_by) => Ok(Running::started(
            spec.url.clone(),
            ready_by,
            tree,
            spec.stop_timeout,
        )),
        None => Err(died(spec, &tree)),
    }
}

/// Attaches to a running app: waits up to `limit` for a response from the URL, where `ask` requests
/// one of https.
///
/// # Errors
/// [`TargetError::NotAnswering`], [`TargetError::Unresolved`], [`TargetError::Interrupted`].
pub fn attach(
    (url, ask): (&Endpoint, Ask),
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Running, TargetError> {
    let mut probe = Probe::new(url, ask)?;
    let begin = Instant::now();
    loop {
        if let Some(status) = probe.answer() {
            let holder = probe
                .open_address()
                .filter(|address| is_local(*address))
                .and_then(procfs::holder_of);
            let roots = holder.map(|holder| holder.pid).into_iter().collect();
            return Ok(Running::attached(
                url.clone(),
                ReadyBy::Answer(status),
                roots,
            ));
        }
        // Relaxed: the flag carries no other data.
        if stop.load(Ordering::Relaxed) {
            return Err(TargetError::Interrupted);
        }
        if begin.elapsed() > limit {
            let port_open = probe.port_open();
            return Err(TargetError::NotAnswering {
                url: url.clone(),
                port_open,
                waited: begin.elapsed(),
            });
        }
        thread::sleep(TICK);
    }
}

/// Runs the command for resetting the app's data, in the app's folder and environment but without
/// the agent. What it leaves running in the background is stopped.
///
/// # Errors
/// [`TargetError::BeforeFailed`] when it fails or does not end within `limit`, and what
/// [`start`] returns for a command that cannot be run.
pub fn run_before(
    spec: &Spec,
    command: &CommandLine,
    limit: Duration,
    log: Option<&Path>,
    stop: &AtomicBool,
) -> Result<(), TargetError> {
    let opened = Log::create(log).map_err(|source| TargetError::Log {
        path: log.map(Path::to_owned).unwrap_or_default(),
        source,
    })?;
    let environment = spec
        .env
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let tree = spawn(
        spec,
        command,
        Extras {
            environment,
            notify: false,
        },
        opened,
    )?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = tree.leader_status() {
            break Some(status);
        }
        // Relaxed: the flag carries no other data.
        if stop.load(Ordering::Relaxed) {
            return Err(TargetError::Interrupted);
        }
        if begin.elapsed() > limit {
            break None;
        }
        thread::sleep(TICK);
    };
    if status.is_some_and(|status| status.success()) {
        return Ok(());
    }
    if status.is_some() {
        tree.log().settle(LAST_WORDS);
    }
    Err(TargetError::BeforeFailed {
        command: command.shown(),
        status,
        ran: begin.elapsed(),
        printed: Box::new(printed(spec, command, &tree, log)),
    })
}

struct Extras {
    environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    notify: bool,
}

fn spawn(
    spec: &Spec,
    command: &CommandLine,
    extras: Extras,
    log: Log,
) -> Result<Tree, TargetError> {
    let is_folder = fs::metadata(&spec.directory).and_then(|data| {
        if data.is_dir() {
            Ok(())
        } else {
            Err(io::Error::from(io::ErrorKind::NotADirectory))
        }
    });
    is_folder.map_err(|source| TargetError::Directory {
        path: spec.directory.clone(),
        source,
    })?;
    let words = command.words().ok_or(TargetError::NoCommand)?;
    let launch = Launch {
        words: &words,
        directory: &spec.directory,
        env: extras.environment,
        notify: extras.notify,
        grace: spec.stop_timeout,
        folders: spec.remove_when_killed.clone(),
    };
    Tree::spawn(launch, log).map_err(|source| spawn_error(spec, command, source))
}

fn spawn_error(spec: &Spec, command: &CommandLine, source: io::Error) -> TargetError {
    let program = command.program();
    let detail = match source.kind() {
        io::ErrorKind::NotFound
            if program.contains('/') && spec.directory.join(&program).exists() =>
        {
            "the interpreter named in its first line does not exist".to_owned()
        }
        io::ErrorKind::NotFound if program.contains('/') => "there is no such file".to_owned(),
        io::ErrorKind::NotFound => "there is no such program in PATH".to_owned(),
        io::ErrorKind::PermissionDenied => "it is not executable".to_owned(),
        _ => {
            return TargetError::Spawn {
                command: command.shown(),
                source,
            };
        }
    };
    TargetError::CommandNotFound {
        program,
        directory: spec.directory.clone(),
        detail,
    }
}

/// Returns the error for an app which ended before becoming ready.
fn died(spec: &Spec, tree: &Tree) -> TargetError {
    tree.log().settle(LAST_WORDS);
    let status = tree.leader_status().unwrap_or_default();
    let tail = tree.log().tail();
    let not_found = status
        .code()
        .is_some_and(|code| SHELL_NOT_FOUND.contains(&code));
    if not_found && matches!(spec.command, CommandLine::Shell(_)) {
        return TargetError::CommandNotFound {
            program: spec.command.program(),
            directory: spec.directory.clone(),
            detail: tail
                .last()
                .cloned()
                .unwrap_or_else(|| ExitStatus::to_string(&status)),
        };
    }
    TargetError::DiedAtBoot {
        command: spec.command.shown(),
        status,
        printed: Box::new(printed(spec, &spec.command, tree, spec.log.as_deref())),
    }
}

fn printed(spec: &Spec, command: &CommandLine, tree: &Tree, log: Option<&Path>) -> Printed {
    let folder = spec.directory.canonicalize();
    let folder = folder.unwrap_or_else(|_| spec.directory.clone());
    Printed {
        cause: failure::cause(&tree.log().lines(), &folder),
        tail: tree.log().tail(),
        log: log.map(Path::to_owned),
        by_hand: by_hand::line(spec, command),
    }
}

/// Returns an error when the URL's port is taken: the app would die with a stack trace at best, and
/// at worst another app would respond and be measured.
fn check_port_free(spec: &Spec) -> Result<(), TargetError> {
    match Probe::new(&spec.url, spec.ask)?.open_address() {
        Some(address) => Err(TargetError::PortTaken {
            address,
            holder: if is_local(address) {
                procfs::holder_of(address)
            } else {
                None
            },
        }),
        None => Ok(()),
    }
}

/// Returns whether an address belongs to the local host: no other address can be bound.
fn is_local(address: SocketAddr) -> bool {
    UdpSocket::bind((address.ip(), 0)).is_ok()
}
