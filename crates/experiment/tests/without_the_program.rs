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
use load::{Numbered, Plan};
use recording::{Nanos, Sameness, Typed};
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
        rings: None,
        endpoint: Endpoint::parse(url).expect("an address"),
        url: url.to_owned(),
        before: None,
        agent: false,
        profile: false,
        asks_again: false,
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

/// Starts a server with responses by the head of a request, in lower case.
fn server_of(answer: impl Fn(&str) -> (String, String) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                let mut reader = BufReader::new(client.try_clone().expect("a second handle"));
                loop {
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        if reader.read_line(&mut head).unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    let (headers, body) = answer(&head.to_lowercase());
                    let length = body.len();
                    let sent = format!("{headers}Content-Length: {length}\r\n\r\n{body}");
                    if client.write_all(sent.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    format!("http://{address}")
}

/// The load's users have sessions, and all get the same. Who has none gets it from `/public` alone,
/// and of `/home` the sessions end with the load.
#[test]
fn pages_are_asked_for_again_with_and_without_sessions() {
    const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    let visits = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&visits);
    let url = server_of(move |head| {
        let line = head.lines().next().unwrap_or_default();
        let has_session = head.contains("cookie: session=");
        let is_load = head.contains("hakaru-request");
        if !is_load {
            seen.lock()
                .expect("visits")
                .push((line.to_owned(), has_session));
        }
        match (line, has_session) {
            ("post /login http/1.1", _) => {
                let user = thread::current().id();
                let headers = format!("{OK}Set-Cookie: session={user:?}; path=/\r\n");
                (headers, "hello".to_owned())
            }
            ("get /members http/1.1", false) => (OK.to_owned(), "log in first".to_owned()),
            ("get /home http/1.1", _) if !is_load => (OK.to_owned(), "log in first".to_owned()),
            _ => (OK.to_owned(), "the same".to_owned()),
        }
    });
    let project = tempfile::tempdir().expect("a folder");
    let file = project.path().join("a.hurl");
    let get = |path: &str| format!("GET {{{{base_url}}}}/{path}\nHTTP 200\n");
    let pages = ["public", "members", "home"].map(get).concat();
    let flow = format!("POST {{{{base_url}}}}/login\nHTTP 200\n{pages}");
    std::fs::write(&file, flow).expect("a flow");
    let mut settings = settings(project.path(), &url);
    settings.scenario.flows = vec![scenario::FlowSpec {
        file: Some(file),
        weight: 1,
        ..scenario::FlowSpec::default()
    }];
    settings.asks_again = true;
    settings.plan.connections = 4;
    settings.plan.numbered = Numbered::All;
    let (context, _) = watched();
    let prepared = Prepared::new(&settings, &context).expect("the server answers");
    let recording = prepared.measure().expect("it is measured").recording;
    let of = |line: &str| {
        let facts = recording.answers.iter();
        let mut named = facts.filter(|facts| recording.texts.get(facts.line) == Some(line));
        named.next().and_then(|facts| facts.asked_again)
    };
    let public = of("GET /public").expect("it was asked again");
    assert_eq!(public.sameness, Sameness::Same);
    assert_eq!((public.visitors, public.sessions), (2, 2));
    assert!(public.apart >= Nanos(3_000_000_000), "{public:?}");
    let members = of("GET /members").expect("it was asked again");
    assert_eq!(members.sameness, Sameness::BodiesDiffer);
    let home = of("GET /home").expect("it was asked again");
    assert_eq!(home.sameness, Sameness::NotAsInLoad);
    assert_eq!(of("POST /login"), None);
    let visits = visits.lock().expect("visits");
    let of_page = |page: &str, session: bool| {
        let line = format!("get /{page} http/1.1");
        let is_one = |visit: &&(String, bool)| **visit == (line.clone(), session);
        visits.iter().filter(is_one).count()
    };
    for page in ["public", "members"] {
        let counts = (of_page(page, false), of_page(page, true));
        assert_eq!(counts, (4, 4), "{visits:?}");
    }
    let has_post = visits.iter().any(|(line, _)| line.starts_with("post"));
    assert!(!has_post, "{visits:?}");
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
    let sinatra = Change::Remedy(Exact::variables([("APP_ENV", "production")]));
    assert!(is_refused(&sinatra, &settings));
    let other = Change::Remedy(Exact::variables([("MALLOC_ARENA_MAX", "2")]));
    assert!(!is_refused(&other, &settings));
    let own = ("DATABASE_URL".to_owned(), "sqlite3:a.db".to_owned());
    spec.env.push(own);
    settings.start = Some(spec);
    assert!(!is_refused(&production, &settings), "both have one");
    // Rails prefers the file's URL to DATABASE_URL.
    let file = "production:\n  url: sqlite3:storage/production.sqlite3\n";
    std::fs::write(project.path().join("config/database.yml"), file).expect("a file");
    assert!(is_refused(&production, &settings), "of production");
}
