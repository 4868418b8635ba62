//! Measurements of a server in the test's own process: no program, no terminal.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use app_process::{CommandLine, Endpoint, Spec};
use comparison::{Decision, Ending};
use ending::Cause;
use experiment::compare::{self, Label, Request, Schemas, Side, Sides};
use experiment::lifecycle::{ProjectLock, Purpose};
use experiment::record::Prepared;
use experiment::trial::Change;
use experiment::{Context, Observer, Phase, PhaseGuard, Settings};
use findings::Exact;
use load::Plan;
use recording::{Nanos, Typed};
use words::Text;

/// Keeps what goes on.
#[derive(Default)]
struct Notes {
    lines: Mutex<Vec<String>>,
    requests: Mutex<usize>,
}

impl Observer for Notes {
    fn notice(&self, line: Text) {
        self.lines.lock().expect("lines").push(line.to_string());
    }

    fn enter(&self, phase: Phase<'_>) -> PhaseGuard {
        let name = format!("{phase:?}");
        let name = name.split('(').next().unwrap_or_default().to_owned();
        self.lines.lock().expect("lines").push(name);
        Box::new(())
    }

    fn loaded(&self, exchanges: &[recording::Exchange], _passed: Nanos) {
        *self.requests.lock().expect("requests") += exchanges.len();
    }
}

fn watched() -> (Context, Arc<Notes>) {
    let notes = Arc::new(Notes::default());
    let context = Context {
        observer: notes.clone(),
        stop: Arc::new(AtomicBool::new(false)),
    };
    (context, notes)
}

/// Starts a server with an immediate response to every request; returns the address.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            thread::spawn(move || answer(client));
        }
    });
    format!("http://{address}/")
}

fn answer(mut client: TcpStream) {
    let reader = client.try_clone().expect("a second handle");
    for line in BufReader::new(reader).lines() {
        let Ok(line) = line else { return };
        let sent = match line.as_str() {
            "" => client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            _ => Ok(()),
        };
        if sent.is_err() {
            return;
        }
    }
}

fn settings(project: &Path, url: &str) -> Settings {
    Settings {
        project: project.to_owned(),
        part_of: "",
        start: None,
        endpoint: Endpoint::parse(url).expect("an address"),
        url: url.to_owned(),
        before: None,
        agent: false,
        profile: false,
        scenario: scenario::Spec {
            base_url: url.to_owned(),
            ..scenario::Spec::default()
        },
        plan: Plan {
            connections: 2,
            warmup: Nanos(100_000_000),
            duration: Nanos(300_000_000),
            ..Plan::default()
        },
        database: None,
        database_pool: None,
        allowed: guard::Allowed::default(),
        typed: Typed::default(),
    }
}

#[test]
fn a_run_is_recorded_and_kept() {
    let project = tempfile::tempdir().expect("a folder");
    let settings = settings(project.path(), &server());
    let (context, notes) = watched();
    let prepared = Prepared::new(&settings, &context).expect("the server answers");
    // While it is measured, nobody else has the folder.
    let second = ProjectLock::claim(&settings, Purpose::Run, &context);
    assert_eq!(second.err().map(|failure| failure.cause), Some(Cause::Busy));
    let measured = prepared.measure().expect("it is measured");
    assert_eq!(measured.number, Some(1));
    let exchanges = &measured.recording.exchanges;
    assert!(!exchanges.is_empty());
    assert_eq!(exchanges.len(), *notes.requests.lock().expect("requests"));
    assert_eq!(measured.recording.meta.ended_early, None);
    let lines = notes.lines.lock().expect("lines");
    assert_eq!(*lines, ["Load", "Explain", "Stop"]);
}

#[test]
fn two_servers_are_compared_in_blocks() {
    let project = tempfile::tempdir().expect("a folder");
    let (a, b) = (server(), server());
    let side = |label, url: &str| Side::new(label, url.to_owned(), settings(project.path(), url));
    let sides = Sides {
        a: side(Label::A, &a),
        b: side(Label::B, &b),
        is_noise: false,
        is_live: true,
    };
    let (context, notes) = watched();
    let limits = compare::limits(Request {
        blocks: Some(1),
        segment: Some(Duration::from_millis(300)),
        warmup: Some(Duration::from_millis(100)),
        ..Request::default()
    });
    let limits = limits.expect("one block can be measured");
    let compared = compare::measure(&sides, limits, &mut Schemas::none(), &context);
    assert_eq!(compared.cause, None, "{:?}", compared.comparison.ending);
    let comparison = &compared.comparison;
    assert_eq!((comparison.blocks, &comparison.ending), (1, &Ending::Full));
    assert_eq!(comparison.measured[0].order, "ABBA");
    assert!(comparison.rows[0].a > 0.0 && comparison.rows[0].b > 0.0);
    assert_eq!(
        comparison.decision(),
        Decision::Unclear,
        "one block claims nothing"
    );
    assert!(compared.is_undecided());
    let lines = notes.lines.lock().expect("lines");
    assert!(lines[0].starts_with("trial of A"), "{lines:?}");
}

#[test]
fn a_server_that_is_not_there_and_a_user_who_has_enough_are_told_apart() {
    let project = tempfile::tempdir().expect("a folder");
    let unused = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = unused.local_addr().expect("its address");
    drop(unused);
    let settings = settings(project.path(), &format!("http://{address}/"));
    let (context, _) = watched();
    context
        .stop
        .store(true, std::sync::atomic::Ordering::Relaxed);
    let stopped = Prepared::new(&settings, &context).err();
    let cause = stopped.map(|failure| failure.cause);
    assert_eq!(cause, Some(Cause::Interrupted));
    let refused = compare::limits(Request {
        blocks: Some(0),
        ..Request::default()
    });
    assert_eq!(
        refused.err().map(|failure| failure.cause),
        Some(Cause::Usage)
    );
}

#[test]
fn another_environment_is_not_tried_on_another_database() {
    let project = tempfile::tempdir().expect("a folder");
    let mut settings = settings(project.path(), "http://127.0.0.1:1/");
    let command = CommandLine::Shell("puma".to_owned());
    let mut spec = Spec::new(command, settings.endpoint.clone());
    spec.directory = project.path().to_owned();
    settings.start = Some(spec.clone());
    let production = Change::Remedy(Exact::variables([("RAILS_ENV", "production")]));
    let is_refused = |change: &Change, settings: &Settings| {
        let refused = change.refuse_other_database(settings).err();
        refused.is_some_and(|failure| failure.cause == Cause::Usage)
    };
    assert!(!is_refused(&production, &settings), "no database.yml");
    std::fs::create_dir(project.path().join("config")).expect("a folder");
    std::fs::write(project.path().join("config/database.yml"), "").expect("a file");
    assert!(is_refused(&production, &settings));
    let other = Change::Remedy(Exact::variables([("MALLOC_ARENA_MAX", "2")]));
    assert!(!is_refused(&other, &settings));
    let own = ("DATABASE_URL".to_owned(), "sqlite3:a.db".to_owned());
    spec.env.push(own);
    settings.start = Some(spec);
    assert!(!is_refused(&production, &settings), "both have one");
}
