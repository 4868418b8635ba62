//! Starts real programs: checks readiness, and the error of an app never ready.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::common::{App, LONG, SERVER, argv, error_text, free_port};
use app_process::{Agent, CommandLine, Endpoint, ReadyBy, TargetError};

const HELLO: &str = "run ->(env) { [200, {}, [\"hello\"]] }\n";

fn puma(options: &str) -> App {
    let options = options.to_owned();
    App::new(&[("config.ru", HELLO)], move |port| {
        CommandLine::Shell(format!(
            "puma -q -t 1:1 {options} -b tcp://127.0.0.1:{port} config.ru"
        ))
    })
}

#[test]
fn puma_says_when_it_is_ready() {
    let mut app = puma("");
    app.spec.stop_timeout = Duration::from_secs(2);
    let mut running = app.start().unwrap();
    assert_eq!(running.ready_by(), ReadyBy::Notify);
    assert_eq!(running.exited(), None);
    assert_eq!(
        running.pids().len(),
        1,
        "`exec` leaves no shell between us and Puma"
    );
    let stopped = running.stop();
    // Whether it had to be killed is not asked: Puma may hang when it stops, see tree.rs.
    assert_eq!(stopped.left, []);
    assert_eq!(running.stop(), stopped);
    assert_eq!(running.pids(), []);
}

#[test]
fn a_cluster_is_ready_when_all_its_workers_are() {
    let mut app = App::new(
        &[
            ("config.ru", HELLO),
            (
                "puma.rb",
                "on_worker_boot { |n| File.write(\"booted-#{n}\", $$) }\n",
            ),
        ],
        |port| {
            let bind = format!("tcp://127.0.0.1:{port}");
            argv(&[
                "puma",
                "-C",
                "puma.rb",
                "-w",
                "2",
                "--preload",
                "-t",
                "1:1",
                "-b",
                &bind,
                "config.ru",
            ])
        },
    );
    app.spec.stop_timeout = Duration::from_secs(2);
    let mut running = app.start().unwrap();
    assert_eq!(running.ready_by(), ReadyBy::Notify);
    assert!(
        app.folder.path().join("booted-0").exists() && app.folder.path().join("booted-1").exists()
    );
    let pids = running.pids();
    assert_eq!(pids.len(), 3, "master and two workers");
    assert_eq!(running.stop().left, []);
    assert!(pids.iter().all(|pid| !crate::common::lives(*pid)));
}

#[test]
fn without_word_from_the_app_an_answer_counts() {
    let running = App::ruby(SERVER).start().unwrap();
    assert_eq!(running.ready_by(), ReadyBy::Answer(404));
}

#[test]
fn a_taken_port_is_seen_before_anything_starts() {
    let mut app = App::ruby("File.write('started', '')");
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    app.spec.url.port = socket.local_addr().unwrap().port();
    match app.start() {
        Err(TargetError::PortTaken {
            holder: Some(holder),
            ..
        }) => assert_eq!(holder.pid, std::process::id()),
        other => panic!("{}", error_text(other)),
    }
    assert!(!app.folder.path().join("started").exists());
}

#[test]
fn a_port_held_by_an_app_of_ours_is_called_a_leftover() {
    let first = App::ruby(SERVER);
    let _running = first.start().unwrap();
    let mut second = App::ruby(SERVER);
    second.spec.url = first.spec.url.clone();
    assert!(error_text(second.start()).contains("left over from an earlier run"));
}

/// Writes a script by a separate program: a file open for writing here is also held open by a child
/// of another test starting at the same moment, and such a file cannot be run (`ETXTBSY`).
fn write_script(folder: &Path) {
    let write = "echo '#!/no/such/interpreter' > script; chmod 755 script";
    let mut shell = std::process::Command::new("sh");
    let status = shell.args(["-c", write]).current_dir(folder).status();
    assert!(status.unwrap().success());
}

fn check_not_found(command: &CommandLine, expected: &str) {
    let app = App::new(&[("plain", "")], |_| command.clone());
    write_script(app.folder.path());
    let text = error_text(app.start());
    assert!(
        text.starts_with("cannot run") && text.contains(expected),
        "{text}"
    );
}

#[test]
fn a_command_that_cannot_be_run_is_named() {
    check_not_found(&argv(&["no-such-program"]), "no such program in PATH");
    check_not_found(&argv(&["./no-such-file"]), "no such file");
    check_not_found(&argv(&["./script"]), "interpreter");
    check_not_found(&argv(&["./plain"]), "not executable");
    check_not_found(
        &CommandLine::Shell("no-such-program -x".into()),
        "no-such-program: not found",
    );
}

fn check_death(script: &str, status: &str, last_line: &str) {
    let app = App::ruby(script);
    let text = error_text(app.start());
    assert!(text.contains(&format!("ended with {status}")), "{text}");
    assert!(text.contains(last_line), "{text}");
}

#[test]
fn an_app_that_dies_at_boot_is_quoted() {
    check_death("abort 'no database'", "exit status: 1", "\n  no database\n");
    check_death(
        "Process.kill(:KILL, $$); sleep",
        "signal: 9",
        "it printed nothing",
    );
    check_death(
        "puts 'only this'; exit 3",
        "exit status: 3",
        "\n  only this\n",
    );
    check_death(
        "40.times { |n| warn \"line #{n}\" }; exit 4",
        "exit status: 4",
        "its last lines:\n  line 20\n",
    );
}

#[test]
fn everything_it_prints_is_in_the_log() {
    let app = App::ruby("40.times { |n| warn \"line #{n}\" }");
    app.start().map(drop).unwrap_err();
    let log = app.folder.path().join("app.log");
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 40);
    assert_eq!(
        fs::metadata(&log).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

fn check_never_ready(script: &str, expected: &[&str]) {
    let mut app = App::ruby(script);
    app.spec.ready_timeout = Duration::from_secs(2);
    app.spec.stop_timeout = Duration::from_millis(500);
    let text = error_text(app.start());
    expected
        .iter()
        .for_each(|part| assert!(text.contains(part), "{part:?} is missing in:\n{text}"));
}

#[test]
fn an_app_that_never_gets_ready_is_described() {
    check_never_ready(
        "warn 'waiting'; sleep",
        &["its process is alive, the port is closed", "\n  waiting\n"],
    );
    let silent = "require 'socket'; s = TCPServer.new('127.0.0.1', Integer(ARGV[0])); sleep";
    check_never_ready(
        silent,
        &[
            "the port takes connections, no answer came",
            "first request",
        ],
    );
    let elsewhere = "require 'socket'; s = TCPServer.new('127.0.0.1', 0); sleep";
    check_never_ready(
        elsewhere,
        &[
            "it listens on 127.0.0.1:",
            "set the url to where the app listens",
        ],
    );
}

#[test]
fn a_ready_puma_on_another_port_is_told_at_once() {
    let port = free_port();
    let app = App::new(&[("config.ru", HELLO)], |_| {
        argv(&[
            "puma",
            "-b",
            &format!("tcp://127.0.0.1:{port}"),
            "config.ru",
        ])
    });
    let text = error_text(app.start());
    assert!(
        text.contains("it says it is ready")
            && text.contains(&format!("it listens on 127.0.0.1:{port}")),
        "{text}"
    );
}

#[test]
fn the_agent_comes_first_in_rubyopt() {
    let mut app =
        App::ruby("warn ENV['RUBYOPT'], ENV['HAKARU_RING_DIR'], ENV['MINE'], $stdin.read.inspect");
    let library = app.folder.path().join("agent.rb");
    fs::write(&library, "warn 'agent'").unwrap();
    app.spec.agent = Some(Agent {
        library: library.clone(),
        env: vec![("HAKARU_RING_DIR".into(), "/r".into())],
    });
    app.spec.env = vec![
        ("RUBYOPT".into(), "-W0".into()),
        ("MINE".into(), "1".into()),
    ];
    // -W0 silences `warn`, which is how one sees that it was kept.
    assert!(error_text(app.start()).contains("it printed nothing"));
    app.spec.env[0].1 = "-W1".into();
    let expected = format!(
        "\n  agent\n  -r{} -W1\n  /r\n  1\n  \"\"\n",
        library.display()
    );
    let text = error_text(app.start());
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn a_missing_folder_and_an_empty_command_are_named() {
    let mut app = App::ruby(SERVER);
    app.spec.directory = "/no/such/folder".into();
    assert!(error_text(app.start()).contains("cannot start the app in /no/such/folder"));
    let app = App::new(&[], |_| argv(&[]));
    assert!(error_text(app.start()).contains("the command is empty"));
}

#[test]
fn an_app_of_somebody_else_is_taken_as_it_is() {
    let app = App::ruby(SERVER);
    let running = app.start().unwrap();
    let mut attached =
        app_process::attach((&app.spec.url, app.spec.ask), LONG, &AtomicBool::new(false)).unwrap();
    assert!(attached.is_attached());
    assert_eq!(attached.pids(), running.pids());
    attached.stop();
    drop(attached);
    assert_eq!(running.exited(), None);
}

#[test]
fn an_app_that_should_run_and_does_not_is_named() {
    let url = Endpoint {
        tls: false,
        host: "127.0.0.1".into(),
        port: free_port(),
        path: "/".into(),
    };
    let text = error_text(app_process::attach(
        (&url, |_, _| None),
        Duration::from_millis(100),
        &AtomicBool::new(false),
    ));
    assert!(
        text.contains("refuses connections") && text.contains("start the app first"),
        "{text}"
    );
}

fn check_before(command: &str, limit: Duration, expected: Option<&str>) {
    let app = App::ruby(SERVER);
    let command = CommandLine::Shell(command.into());
    let got = app_process::run_before(&app.spec, &command, limit, None, &AtomicBool::new(false));
    match (got, expected) {
        (Ok(()), None) => {}
        (Err(error), Some(part)) => assert!(error.to_string().contains(part), "{error}"),
        (got, _) => panic!("{command}: {got:?}"),
    }
}

#[test]
fn before_runs_to_its_end_or_says_why_not() {
    check_before("test -f app.rb && true", LONG, None);
    check_before(
        "echo reset failed >&2; exit 5",
        LONG,
        Some("ended with exit status: 5\nits last lines:\n  reset failed"),
    );
    check_before(
        "sleep 1000",
        Duration::from_millis(100),
        Some("did not end within 0."),
    );
    check_before("no-such-reset", LONG, Some("exit status: 127"));
}
