use collect::message::{Counted, DatabaseEnd, Entry, InsideEnd, RouteTime, StatementTime};
use collect::usage::Processes;

use super::*;
use crate::collected::{View, json};

/// The facts of [`hosts`], in version 1.
const VERSION_1: &[u8] = include_bytes!("version-1.json");

const ACCESS: &str = "time:1791608136.250\tmethod:GET\turi:/a/1\tstatus:200\tsize:9\treqtime:0.100\tapptime:0.09\tupstream_addr:10.0.0.2:80\n";

fn inside() -> Inside {
    Inside {
        routes: vec![RouteTime {
            route: "GET /items/:id".to_owned(),
            requests: 4,
            time_ns: 8_000_000,
            states_ns: [0, 0, 6_000_000, 0, 0, 0, 0, 2_000_000],
            ..RouteTime::default()
        }],
        statements: vec![StatementTime {
            digest: "SELECT ?".to_owned(),
            site: "app.rb:7".to_owned(),
            count: 4,
            time_ns: 6_000_000,
            ..StatementTime::default()
        }],
        end: InsideEnd {
            requests: 4,
            processes: 1,
            server: "puma 6.6.0".to_owned(),
            ..InsideEnd::default()
        },
    }
}

fn hosts() -> Vec<Collected> {
    let digest = logs::read_stamped(ACCESS.as_bytes(), None, &logs::access::Grouping::Routes);
    let log = Log {
        path: "/var/log/access.log".to_owned(),
        bytes: 99,
        truncations: 1,
        incomplete: 0,
        error: None,
        is_slow: false,
        digest: digest.ok(),
    };
    let followed = Followed {
        cores: 2,
        core_limit: Some(1.5),
        usage: Some(Usage {
            seconds: 2.0,
            cpu_cores: 1.0,
            processes: vec![Processes {
                name: "nginx".to_owned(),
                count: 1,
                descriptors: Some((3, 10)),
                ..Processes::default()
            }],
            ..Usage::default()
        }),
        clock: Some(Offset {
            nanos: -300_000_000,
            bound_ns: 1_000,
            is_steady: true,
        }),
        logs: vec![log],
        database: Some(Database {
            statements: vec![Counted {
                digest: "SELECT ?".to_owned(),
                count: 4,
                time_ns: 2_000_000,
                ..Counted::default()
            }],
            end: DatabaseEnd::default(),
        }),
        inside: Some(inside()),
        units: vec![UnitEnd {
            unit: "app.service".to_owned(),
            entries: 2,
            errors: 1,
            messages: vec![Entry {
                at_us: 1_791_608_136_000_000,
                count: 1,
                message: "failed".to_owned(),
            }],
            ..UnitEnd::default()
        }],
        began_ns: Some(1_791_608_136_000_000_000),
        lost: None,
    };
    let of = |name: &str, followed| Collected {
        name: name.to_owned(),
        roles: vec!["proxy".to_owned()],
        followed,
    };
    vec![
        of("web", Ok(followed)),
        of("gone", Err("host gone: refuses the login".to_owned())),
    ]
}

fn figures(hosts: Vec<Collected>, elapsed: Duration) -> serde_json::Value {
    json::of(&View::of(hosts, elapsed, None))
}

#[test]
fn what_is_stored_gives_the_same_figures() {
    let elapsed = Duration::from_secs(2);
    let bytes = bytes(&hosts(), elapsed);
    let (read, read_elapsed) = read(&bytes).expect("facts");
    assert_eq!(read_elapsed, elapsed);
    let (before, after) = (figures(hosts(), elapsed), figures(read, elapsed));
    assert_eq!(before, after);
    // The log's clock is 300 ms behind ours.
    assert_eq!(
        after["hosts"][0]["requests_by_second"],
        serde_json::json!([1])
    );
    assert_eq!(after["hosts"][0]["units"][0]["messages"][0]["at_s"], 0.3);
    assert_eq!(after["hosts"][0]["database"]["statements"][0]["calls"], 4);
    let inside = &after["hosts"][0]["inside"];
    assert_eq!(inside["routes"][0]["states_s"]["sql"], 0.006);
    assert_eq!(inside["statements"][0]["site"], "app.rb:7");
    assert_eq!(after["hosts"][1]["error"], "host gone: refuses the login");
}

#[test]
fn a_fixture_of_each_version_is_read() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(VERSION_1).expect("memory");
    let (read, elapsed) = read(&packed.finish().expect("memory")).expect("facts");
    let mut hosts = hosts();
    // Version 1 got it later, and is read without.
    if let Ok(followed) = &mut hosts[0].followed {
        followed.inside = None;
    }
    let (fixture, now) = (
        figures(read, elapsed),
        figures(hosts, Duration::from_secs(2)),
    );
    assert_eq!(fixture, now);
}

#[test]
fn bytes_that_are_no_facts_of_a_known_version_are_an_error() {
    let check = |text: &str, part: &str| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).expect("memory");
        let error = read(&packed.finish().expect("memory"))
            .err()
            .expect("an error");
        assert!(error.contains(part), "{error}");
    };
    check("{", "cannot be read");
    let later = r#"{"format":"hakaru-hosts","version":2,"elapsed_s":1.0,"hosts":[]}"#;
    check(later, "has version 2");
    assert!(read(b"hello").err().expect("an error").contains("damaged"));
}
