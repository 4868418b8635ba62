//! No way out leaves a process behind.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{App, SERVER, error_text, lives, read_pid, wait_for};
use app_process::{CommandLine, ReadyBy};

/// Variable set in the copy of the test program acting as the killed hakaru.
const PLAY_HAKARU: &str = "HAKARU_TEST_PLAY";

/// Leaves a process in another session whose parents are gone, then serves.
fn with_daemon() -> App {
    let daemon = r##"
        fork do
          Process.setsid
          fork do
            $stdout.reopen("/dev/null"); $stderr.reopen("/dev/null")
            trap(:TERM, "IGNORE")
            File.write("daemon.pid", "#{$$}\n")
            sleep
          end
          exit!
        end
        Process.wait
    "##;
    let mut app = App::ruby(&format!("{daemon}\n{SERVER}"));
    app.spec.stop_timeout = Duration::from_millis(500);
    app
}

#[test]
fn a_daemonised_grandchild_is_stopped_too() {
    let app = with_daemon();
    let mut running = app.start().unwrap();
    let daemon = app.pid_in("daemon.pid");
    let pids = running.pids();
    assert!(
        lives(daemon) && pids.contains(&daemon),
        "{daemon} among {pids:?}"
    );
    let stopped = running.stop();
    assert_eq!(stopped.killed, [daemon], "it ignores SIGTERM");
    assert!(stopped.left.is_empty());
    assert!(pids.iter().all(|pid| !lives(*pid)));
}

#[test]
fn an_app_that_puts_itself_into_the_background_lives_on_until_it_is_stopped() {
    let app = App::ruby(&format!("Process.daemon(true, true)\n{SERVER}"));
    let mut running = app.start().unwrap();
    assert_eq!(running.ready_by(), ReadyBy::Answer(404));
    assert_eq!(running.exited(), None);
    let pids = running.pids();
    assert_eq!(pids.len(), 1);
    assert!(running.stop().left.is_empty());
    assert!(!lives(pids[0]));
}

#[test]
fn an_app_that_ignores_the_request_to_stop_is_killed() {
    let mut app = App::ruby(&format!("trap(:TERM, 'IGNORE')\n{SERVER}"));
    app.spec.stop_timeout = Duration::from_millis(300);
    let mut running = app.start().unwrap();
    let stopped = running.stop();
    assert_eq!(stopped.killed.len(), 1);
    assert_eq!(stopped.status.unwrap().to_string(), "signal: 9 (SIGKILL)");
}

#[test]
fn a_death_in_the_middle_is_noticed() {
    let app = App::ruby(&format!("warn 'about to fall'\n{SERVER}"));
    let running = app.start().unwrap();
    let pid = running.pids()[0].cast_signed();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    let status = wait_for(|| running.exited(), "the end of the app");
    assert!(!status.success());
    assert_eq!(running.log_tail()[0], "about to fall");
}

#[test]
fn ctrl_c_while_waiting_stops_the_app() {
    let app = App::ruby("File.write('app.pid', \"#{$$}\\n\"); sleep");
    let stop = Arc::new(AtomicBool::new(false));
    let path = app.folder.path().join("app.pid");
    let raise = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            wait_for(|| read_pid(&path), "the app's start");
            stop.store(true, Ordering::Relaxed);
        }
    });
    assert!(error_text(app_process::start(&app.spec, &stop)).contains("interrupted"));
    raise.join().unwrap();
    assert!(!lives(app.pid_in("app.pid")));
}

#[test]
fn ctrl_c_stops_the_before_command() {
    let app = App::ruby(SERVER);
    let stop = Arc::new(AtomicBool::new(false));
    let path = app.folder.path().join("before.pid");
    let raise = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            wait_for(|| read_pid(&path), "the command's start");
            stop.store(true, Ordering::Relaxed);
        }
    });
    let command = CommandLine::Shell("echo $$ > before.pid; sleep 1000".into());
    app_process::run_before(&app.spec, &command, crate::common::LONG, None, &stop).unwrap_err();
    raise.join().unwrap();
    assert!(!lives(app.pid_in("before.pid")));
}

#[test]
fn a_panic_stops_the_app() {
    let app = with_daemon();
    let pids = std::thread::spawn(move || {
        let running = app.start().unwrap();
        let pids = running.pids();
        std::panic::panic_any(pids);
    })
    .join()
    .unwrap_err()
    .downcast::<Vec<u32>>()
    .unwrap();
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| !lives(*pid)));
}

#[test]
fn the_app_outlives_the_thread_that_started_it() {
    let app = Arc::new(App::ruby(SERVER));
    let starter = Arc::clone(&app);
    let running = std::thread::spawn(move || starter.start().unwrap())
        .join()
        .unwrap();
    let url = (&app.spec.url, app.spec.ask);
    let again = app_process::attach(url, crate::common::LONG, &AtomicBool::new(false));
    assert!(again.is_ok());
    assert_eq!(running.exited(), None);
}

#[test]
fn the_app_ends_when_hakaru_is_killed() {
    if std::env::var_os(PLAY_HAKARU).is_some() {
        let app = App::ruby(SERVER);
        let running = app.start().unwrap();
        println!("pid {}", running.pids()[0]);
        loop {
            std::thread::park();
        }
    }
    // What a killed program cannot remove stays in here.
    let folder = tempfile::tempdir().unwrap();
    let mut hakaru = Command::new(std::env::current_exe().unwrap())
        .args([
            "stopping::the_app_ends_when_hakaru_is_killed",
            "--exact",
            "--nocapture",
        ])
        .env(PLAY_HAKARU, "1")
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(hakaru.stdout.take().unwrap()).lines();
    // The test harness prints its own words on the same line, before ours.
    let pid = lines
        .map_while(Result::ok)
        .find_map(|line| line.split_once("pid ")?.1.trim().parse::<u32>().ok())
        .expect("the app's pid");
    assert!(lives(pid));
    hakaru.kill().unwrap();
    hakaru.wait().unwrap();
    wait_for(|| (!lives(pid)).then_some(()), "the end of the app");
}
