//! `--start-at`: the common start of several generators.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kubernetes::watch::{ACCOUNT, Api, GO, STOP, WatchError, Watched};
use recording::{Nanos, Timestamp};

use crate::exit::{Exit, Failure};
use crate::output;

/// Time from the sign to the start of a load, more than each generator's remaining work takes.
const AFTER: Nanos = Nanos(1_000_000_000);
/// Interval of polling for the sign.
const LOOK: Duration = Duration::from_millis(2);
/// Pause between two watches.
const WATCH_AGAIN: Duration = Duration::from_secs(1);
/// Nobody waits longer for a start.
const WAIT_MAX: Duration = Duration::from_secs(600);

/// The sign to start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StartAt {
    /// Time after 1970 by the clock of the host.
    Time(Duration),
    /// A line on standard input. When standard input ends, the load ends.
    Input,
    /// An existing file.
    File(PathBuf),
    /// The sign in a ConfigMap of the cluster in which the pod runs.
    ConfigMap(String),
}

impl StartAt {
    /// Reads what was typed. The error is a sentence.
    pub(crate) fn parse(text: &str) -> Result<StartAt, String> {
        let time = |text: &str| Duration::try_from_secs_f64(text.parse().ok()?).ok();
        if let Some(name) = text.strip_prefix("configmap:") {
            return Ok(StartAt::ConfigMap(name.to_owned()));
        }
        match text {
            "" => Err("write a time in seconds since 1970, - or a file".to_owned()),
            "-" => Ok(StartAt::Input),
            _ => Ok(time(text).map_or_else(|| StartAt::File(text.into()), StartAt::Time)),
        }
    }

    /// Waits for the sign, and returns when to start; `None` when `stop` was set.
    ///
    /// # Errors
    /// The sign did not come, or lies too far ahead.
    pub(crate) fn wait(&self, stop: &Arc<AtomicBool>) -> Result<Option<Timestamp>, Failure> {
        match self {
            StartAt::Time(time) => at_time(*time).map(Some),
            StartAt::Input => {
                let sign = Arc::new(AtomicBool::new(false));
                listen(Arc::clone(&sign), Arc::clone(stop))?;
                // Whoever started this process reads it, and gives the sign when all are ready.
                output::data("hakaru-load-ready\n");
                until(stop, "no line on standard input", || {
                    sign.load(Ordering::Relaxed)
                })
            }
            StartAt::ConfigMap(name) => watch(name, stop),
            StartAt::File(path) => until(stop, "the file did not appear", || path.exists()),
        }
    }

    /// Sets `called_off` and then `stop` when the near side ends the load early by the ConfigMap. A
    /// thread watches as long as the process lives; other starts have no such sign.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn follow(
        &self,
        called_off: &Arc<AtomicBool>,
        stop: &Arc<AtomicBool>,
    ) -> Result<(), Failure> {
        let StartAt::ConfigMap(name) = self else {
            return Ok(());
        };
        let (name, called_off, stop) = (name.clone(), Arc::clone(called_off), Arc::clone(stop));
        let watcher = thread::Builder::new().name("hakaru-stop".to_owned());
        let spawned = watcher.spawn(move || {
            // An API server that is away for a while is no reason to end a load.
            while !matches!(
                api().and_then(|api| api.watch(&name, STOP, &|| false)),
                Ok(Watched::Go)
            ) {
                thread::sleep(WATCH_AGAIN);
            }
            called_off.store(true, Ordering::Release);
            stop.store(true, Ordering::Release);
        });
        spawned.map(drop).map_err(|error| no_thread(&error))
    }
}

fn at_time(time: Duration) -> Result<Timestamp, Failure> {
    let now = load::now();
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let left = time.saturating_sub(since);
    match left > WAIT_MAX {
        true => Err(Failure::usage(format!(
            "--start-at {}: that is {} s ahead; a start lies {} s ahead at most",
            time.as_secs(),
            left.as_secs(),
            WAIT_MAX.as_secs()
        ))),
        false => Ok(now + Nanos(left.as_nanos() as u64)),
    }
}

/// Returns the API server as found by the pod, with the account's present token.
fn api() -> Result<Api, WatchError> {
    let variable = |name| std::env::var(name).ok();
    let (host, port) = (
        variable("KUBERNETES_SERVICE_HOST"),
        variable("KUBERNETES_SERVICE_PORT"),
    );
    Api::of_pod(Path::new(ACCOUNT), host, port)
}

/// Watches a ConfigMap until the sign is there.
fn watch(name: &str, stop: &AtomicBool) -> Result<Option<Timestamp>, Failure> {
    let failed = |error| Failure::new(Exit::Failed, format!("--start-at: {error}"));
    let api = api().map_err(failed)?;
    let began = Instant::now();
    let is_late = || began.elapsed() > WAIT_MAX;
    let is_over = || stop.load(Ordering::Relaxed) || is_late();
    while !is_over() {
        match api.watch(name, GO, &is_over).map_err(failed)? {
            Watched::Go => return Ok(Some(load::now() + AFTER)),
            Watched::Ended | Watched::Stopped => {}
        }
    }
    match is_late() {
        true => Err(late("the ConfigMap had no sign")),
        false => Ok(None),
    }
}

/// Waits until `sign` is there, and returns when to start.
fn until(
    stop: &AtomicBool,
    missing: &str,
    sign: impl Fn() -> bool,
) -> Result<Option<Timestamp>, Failure> {
    let began = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        if sign() {
            return Ok(Some(load::now() + AFTER));
        }
        if began.elapsed() > WAIT_MAX {
            return Err(late(missing));
        }
        thread::sleep(LOOK);
    }
    Ok(None)
}

fn late(missing: &str) -> Failure {
    let limit = WAIT_MAX.as_secs();
    let why = format!("--start-at: {missing} within {limit} s; start all generators anew");
    Failure::new(Exit::Failed, why)
}

/// Reads standard input to the end: a line is the sign to start, the end of input stops the load,
/// since the starting process is gone.
fn listen(sign: Arc<AtomicBool>, stop: Arc<AtomicBool>) -> Result<(), Failure> {
    let listener = thread::Builder::new().name("hakaru-start".to_owned());
    let spawned = listener.spawn(move || {
        for line in io::stdin().lock().lines() {
            if line.is_err() {
                break;
            }
            sign.store(true, Ordering::Relaxed);
        }
        stop.store(true, Ordering::Relaxed);
    });
    spawned.map(drop).map_err(|error| no_thread(&error))
}

fn no_thread(error: &io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("cannot start a thread: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_a_time_standard_input_or_a_file() {
        let time = StartAt::Time(Duration::from_millis(1_764_090_000_250));
        assert_eq!(StartAt::parse("1764090000.25"), Ok(time));
        assert_eq!(StartAt::parse("-"), Ok(StartAt::Input));
        assert_eq!(StartAt::parse("go"), Ok(StartAt::File("go".into())));
        assert!(StartAt::parse("").is_err());
    }

    #[test]
    fn a_time_far_ahead_is_refused_and_one_in_the_past_is_now() {
        let stop = Arc::new(AtomicBool::new(false));
        let wait = |text: &str| StartAt::parse(text).expect(text).wait(&stop);
        assert!(wait("99999999999").is_err());
        let before = load::now();
        let start = wait("1").expect("a time").expect("a start");
        assert!(start >= before);
    }
}
