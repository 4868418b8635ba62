//! Sessions over a real `ssh` and `sshd`.

mod sshd;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use remote::clock::offset_at;
use remote::{Host, Program, RemoteError, Session, Why, monotonic_ns, open_all, wall_ns};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use sshd::Hosts;

const ECHO: u8 = 16;
const PID: u8 = 17;
const FLOOD: u8 = 18;
const WAIT: Duration = Duration::from_secs(60);

/// The program of both ends, which cargo builds beside the tests.
fn far_side() -> PathBuf {
    let own = std::env::current_exe().expect("this test");
    let target = own
        .parent()
        .and_then(Path::parent)
        .expect("the build folder");
    target.join("examples/far_side")
}

fn program() -> Program {
    Program::read(&far_side()).expect("the example")
}

fn host(hosts: &Hosts, name: &str) -> Host {
    Host {
        config: Some(hosts.config()),
        ..Host::new(name, name)
    }
}

fn open(hosts: &Hosts, name: &str) -> Result<Session, RemoteError> {
    Session::open(&host(hosts, name), &program(), &["far"], WAIT)
}

fn ask(session: &Session, kind: u8, body: &[u8]) -> Vec<u8> {
    session.send(kind, body, WAIT).expect("sent");
    let frame = session.receive(WAIT).expect("a reply").expect("in time");
    assert_eq!(frame.kind, kind);
    frame.body
}

fn pid(session: &Session) -> u32 {
    u32::from_le_bytes(ask(session, PID, &[]).try_into().expect("a number"))
}

/// Waits for the end of a process, which need not be ours.
fn wait_for_end(pid: u32) {
    let pid = Pid::from_raw(pid as i32).expect("a process id");
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    let deadline = rustix::time::Timespec {
        tv_sec: 60,
        tv_nsec: 0,
    };
    let mut waiting = [PollFd::new(&process, PollFlags::IN)];
    assert_eq!(
        poll(&mut waiting, Some(&deadline)),
        Ok(1),
        "process {pid:?} did not end"
    );
}

fn kill(pid: u32) {
    kill_process(
        Pid::from_raw(pid as i32).expect("a process id"),
        Signal::KILL,
    )
    .expect("killed");
}

fn assert_empty(folder: &Path) {
    let left: Vec<_> = fs::read_dir(folder).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn frames_of_all_sizes_come_back_and_no_file_is_left() {
    let mut hosts = Hosts::new();
    hosts.add(
        "app1",
        "",
        "ForceCommand echo Welcome; echo hakaru; eval \"$SSH_ORIGINAL_COMMAND\"",
    );
    let session = open(&hosts, "app1").expect("a session");
    assert_empty(&hosts.tmp("app1"));
    for size in [0, 1, 1000, 1 << 20] {
        let body = vec![7; size];
        assert_eq!(ask(&session, ECHO, &body), body);
    }
    let (far, ssh) = (pid(&session), session.ssh_pid());
    session.close(WAIT);
    wait_for_end(far);
    wait_for_end(ssh);
    assert_empty(&hosts.tmp("app1"));
}

#[test]
fn a_reader_that_is_slow_stops_the_writer() {
    let mut hosts = Hosts::new();
    hosts.add("app1", "", "");
    let session = open(&hosts, "app1").expect("a session");
    let far = pid(&session);
    let frames = 4096u32;
    session
        .send(FLOOD, &frames.to_le_bytes(), WAIT)
        .expect("sent");
    for number in 0..frames {
        let frame = session.receive(WAIT).expect("a frame").expect("in time");
        assert_eq!(frame.body[..4], number.to_le_bytes());
        if number == 1000 {
            // What is under way lies in queues and pipes and in ssh's window of 2 MiB.
            let counts = fs::read_to_string(format!("/proc/{far}/io")).expect("counts");
            let written = counts
                .lines()
                .find_map(|line| line.strip_prefix("wchar: "))
                .expect("bytes");
            let ahead = written
                .parse::<u64>()
                .expect("a number")
                .saturating_sub(1000 * 65536);
            assert!(ahead < 32 << 20, "{ahead} bytes ahead");
        }
    }
}

#[test]
fn killing_the_near_side_leaves_no_process_and_no_file() {
    let mut hosts = Hosts::new();
    hosts.add("app1", "", "");
    let mut near = Command::new(far_side())
        .arg("near")
        .arg(hosts.config())
        .arg("app1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the near side");
    let mut line = String::new();
    BufReader::new(near.stdout.take().expect("a pipe"))
        .read_line(&mut line)
        .expect("a line");
    let pids: Vec<u32> = line
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    assert_eq!(pids.len(), 2, "{line}");
    near.kill().expect("killed");
    near.wait().expect("ended");
    pids.into_iter().for_each(wait_for_end);
    assert_empty(&hosts.tmp("app1"));
}

#[test]
fn killing_the_far_side_is_named_and_leaves_no_process_and_no_file() {
    let mut hosts = Hosts::new();
    hosts.add("app1", "", "");
    hosts.add("app2", "", "");
    let (first, second) = (
        open(&hosts, "app1").expect("a session"),
        open(&hosts, "app2").expect("a session"),
    );
    kill(pid(&first));
    let error = first.receive(WAIT).expect_err("it is dead");
    assert!(matches!(error.why, Why::Lost(_)), "{error:?}");
    assert!(
        error
            .to_string()
            .starts_with("host app1: the connection ended"),
        "{error}"
    );
    wait_for_end(first.ssh_pid());
    assert_eq!(ask(&second, ECHO, b"still here"), b"still here");
    assert_empty(&hosts.tmp("app1"));
}

#[test]
fn hosts_that_cannot_be_used_are_named_and_the_others_go_on() {
    let mut hosts = Hosts::new();
    for name in ["good", "changed", "unknown"] {
        hosts.add(name, "", "");
    }
    hosts.key("other");
    hosts.know(
        "changed",
        &fs::read_to_string(hosts.path("other.pub")).expect("a key"),
    );
    hosts.know("unknown", "");
    hosts.add("refused", "", "PubkeyAuthentication no");
    let path = hosts.shim(
        "full",
        "head",
        "#!/bin/sh\n[ \"$1\" = -c ] && exit 1\nexec /usr/bin/head \"$@\"\n",
    );
    hosts.add("full", &path, "");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    drop(listener);
    hosts.add_client("away", &format!("HostName 127.0.0.1\n  Port {port}"));
    let names = ["changed", "unknown", "refused", "full", "away", "good"];
    let all: Vec<_> = names
        .iter()
        .map(|name| (host(&hosts, name), program()))
        .collect();
    let opened = open_all(&all, &["far"], WAIT);
    let why: Vec<Option<&Why>> = opened
        .iter()
        .map(|one| one.as_ref().err().map(|error| &error.why))
        .collect();
    assert_eq!(why[0], Some(&Why::HostKey { is_changed: true }));
    assert_eq!(why[1], Some(&Why::HostKey { is_changed: false }));
    assert!(matches!(why[2], Some(Why::Refused(_))), "{:?}", why[2]);
    assert_eq!(why[3], Some(&Why::DiskFull));
    assert!(matches!(why[4], Some(Why::Unreachable(_))), "{:?}", why[4]);
    assert_eq!(
        ask(opened[5].as_ref().expect("a session"), ECHO, b"here"),
        b"here"
    );
}

#[test]
fn a_host_without_a_folder_for_the_program_says_which_were_tried() {
    let mut hosts = Hosts::new();
    let path = hosts.shim("full", "df", "#!/bin/sh\necho Filesystem 1024-blocks Used Available Capacity Mounted on\necho /dev/x 1 1 0 100% /\n");
    hosts.add("full", &path, "");
    let error = open(&hosts, "full").expect_err("there is no room");
    assert!(matches!(error.why, Why::NoFolder(_)), "{error:?}");
    assert!(error.to_string().contains("/dev/shm (full)"), "{error}");
}

#[test]
fn a_program_for_another_architecture_is_not_sent() {
    let mut hosts = Hosts::new();
    hosts.add("app1", "", "");
    let mut bytes = fs::read(far_side()).expect("the example");
    bytes[18] = if bytes[18] == 0x3e { 0xb7 } else { 0x3e };
    fs::write(hosts.path("other"), bytes).expect("a program");
    let other = Program::read(&hosts.path("other")).expect("a program");
    let error = Session::open(&host(&hosts, "app1"), &other, &["far"], WAIT)
        .expect_err("it does not run there");
    let text = error.to_string();
    assert!(text.contains("get the program for Linux on"), "{text}");
    assert!(text.contains("`program`"), "{text}");
}

#[test]
fn words_that_a_shell_would_read_are_refused() {
    let error = Session::open(&Host::new("a", "a"), &program(), &["$(reboot)"], WAIT)
        .expect_err("a shell's word");
    assert_eq!(error.why, Why::Word("$(reboot)".to_owned()));
}

#[test]
fn a_program_runs_through_sudo_although_that_closes_files() {
    let mut hosts = Hosts::new();
    let sudo = "#!/bin/bash\n[ \"$1\" = -n ] || exit 1\nshift\nfor fd in 3 4 5 6 7 8 9; do eval \"exec $fd>&-\"; done\nexec \"$@\"\n";
    let path = hosts.shim("app1", "sudo", sudo);
    hosts.add("app1", &path, "");
    let with_sudo = |name| Host {
        sudo: true,
        ..host(&hosts, name)
    };
    let session = Session::open(&with_sudo("app1"), &program(), &["far"], WAIT).expect("a session");
    assert_eq!(ask(&session, ECHO, b"root"), b"root");
    drop(session);
    hosts.shim(
        "app1",
        "sudo",
        "#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n",
    );
    let error =
        Session::open(&with_sudo("app1"), &program(), &["far"], WAIT).expect_err("no password");
    assert_eq!(
        error.why,
        Why::Sudo("sudo: a password is required".to_owned())
    );
}

#[test]
fn clocks_that_are_off_are_found_within_the_bound() {
    let mut hosts = Hosts::new();
    for (name, millis) in [("late", -300i64), ("early", 300)] {
        hosts.add(name, &format!("HAKARU_CLOCK_SHIFT_MS={millis}"), "");
        let session = open(&hosts, name).expect("a session");
        session.ask_clocks(16, WAIT).expect("round trips");
        let trips = session.trips();
        let monotonic: Vec<_> = trips.iter().map(|trip| trip.monotonic).collect();
        let wall: Vec<_> = trips.iter().map(|trip| trip.wall).collect();
        for (trips, now) in [(monotonic, monotonic_ns()), (wall, wall_ns())] {
            let offset = offset_at(&trips, now).expect("an offset");
            let error = (offset.nanos - millis * 1_000_000).unsigned_abs();
            assert!(error <= offset.bound_ns, "{offset:?} of {millis} ms");
        }
    }
}

#[test]
fn twenty_hosts_reply_at_once() {
    let mut hosts = Hosts::new();
    let names: Vec<String> = (1..=20).map(|number| format!("app{number}")).collect();
    names.iter().for_each(|name| hosts.add(name, "", ""));
    let all: Vec<_> = names
        .iter()
        .map(|name| (host(&hosts, name), program()))
        .collect();
    let opened = open_all(&all, &["far"], WAIT);
    let sessions: Vec<Session> = opened
        .into_iter()
        .map(|one| one.expect("a session"))
        .collect();
    for session in &sessions {
        session
            .send(ECHO, session.host().name.as_bytes(), WAIT)
            .expect("sent");
    }
    for session in &sessions {
        let frame = session.receive(WAIT).expect("a reply").expect("in time");
        assert_eq!(frame.body, session.host().name.as_bytes());
    }
    drop(sessions);
    names.iter().for_each(|name| assert_empty(&hosts.tmp(name)));
}
