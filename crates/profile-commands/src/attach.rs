//! `--pid`: arms the standby sampler of a running process.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use capture::{ProfileCollector, Rings};
use words::text;

use super::take;
use crate::flags::ProfileArgs;
use console::process;
use ending::{Cause, Ended, Failure};

const POLL: Duration = Duration::from_millis(20);
/// Wait after the requested length, until the process has noticed the order and written the rest.
const PATIENCE: Duration = Duration::from_secs(5);

/// Profiles the process for as long as asked.
pub(super) fn attach(args: &ProfileArgs) -> Result<Ended, Failure> {
    let pid = args.pid.unwrap_or_default();
    let folder = ring_folder(pid)?;
    let stop = process::stop_flag()?;
    let mut rings = Rings::new(&folder);
    // What others asked for before is not ours.
    rings.poll();
    order(args, pid, &folder)?;
    console::notice(text!(
        "profiling process {pid} for {seconds} s",
        pid,
        seconds = format!("{:.1}", args.length.as_secs_f64())
    ));
    let mut collector = ProfileCollector::default();
    let wanted = u64::try_from(args.length.as_nanos()).unwrap_or(u64::MAX);
    let deadline = Instant::now() + args.length + PATIENCE;
    while Instant::now() < deadline && !process::raised(&stop) && collector.watched() < wanted {
        take::read(&mut rings, &mut collector);
        std::thread::sleep(POLL);
    }
    take::read(&mut rings, &mut collector);
    if collector.is_empty() {
        return Err(Failure::new(
            Cause::Failed,
            format!(
                "process {pid} told nothing: did it end, or does it never come back to Ruby code?"
            ),
        ));
    }
    let (mut profile, counted) = collector.end(args.mode.name(), take::interval(args));
    profile.command = format!("process {pid}");
    take::show(args, &rings, &profile, &counted)?;
    Ok(if process::raised(&stop) {
        Ended::Interrupted
    } else {
        Ended::Ok
    })
}

/// Folder of the rings of a process, if the process has an agent on standby.
fn ring_folder(pid: u32) -> Result<PathBuf, Failure> {
    let path = format!("/proc/{pid}/environ");
    let environment = std::fs::read(&path).map_err(|error| {
        Failure::new(
            Cause::Usage,
            format!("cannot look into process {pid}: {error}; is it yours, and does it still run?"),
        )
    })?;
    let value = |name: &str| {
        environment
            .split(|byte| *byte == 0)
            .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    };
    match (value("HAKARU_RING_DIR"), value("HAKARU_PROFILE")) {
        (Some(folder), Some(asked)) if asked.ends_with(b"told") => {
            Ok(PathBuf::from(OsStr::from_bytes(folder)))
        }
        _ => Err(Failure::new(
            Cause::Usage,
            format!(
                "process {pid} has no sampler inside that waits for orders; start it with \
                 `hakaru profile --standby -- COMMAND` and ask again, or profile it from its start \
                 with `hakaru profile -- COMMAND`"
            ),
        )),
    }
}

/// Writes the order under a temporary name and renames the file, so the agent never reads half of
/// an order.
fn order(args: &ProfileArgs, pid: u32, folder: &std::path::Path) -> Result<(), Failure> {
    let text = format!(
        "{} {} told {}",
        args.mode.name(),
        args.rate,
        args.length.as_millis()
    );
    let aside = folder.join(format!("{pid}.order"));
    std::fs::write(&aside, text)
        .and_then(|()| std::fs::rename(&aside, folder.join(format!("{pid}.profile"))))
        .map_err(|error| {
            Failure::new(
                Cause::Failed,
                format!("cannot ask process {pid}: {}: {error}", folder.display()),
            )
        })
}
