use std::net::IpAddr;

use super::*;
use crate::layers::{Balance, Client, Layer, Place, Recorded, TERMS, balance};
use crate::message::RouteTime;
use crate::sockets::Link;
use crate::usage::Processes;

/// A host of a test, which owns what a subject borrows.
struct Host {
    name: &'static str,
    roles: Vec<String>,
    usage: Usage,
    requests: u64,
    took_s: f64,
    behind: Vec<Behind>,
    statements: Option<Statements>,
    recorded: Option<Recorded>,
    early: u64,
}

fn host(name: &'static str, role: &str, cpu_cores: f64, opened: u64) -> Host {
    Host {
        name,
        roles: vec![role.to_owned()],
        usage: Usage {
            cpu_cores,
            opened: Some(opened),
            ..Usage::default()
        },
        requests: 0,
        took_s: 0.0,
        behind: Vec::new(),
        statements: None,
        recorded: None,
        early: 0,
    }
}

/// Requests passed on, each with the milliseconds of the proxy's wait and of the app's account.
fn behind(address: &str, requests: u64, waited_ms: u64, own_ms: Option<u64>) -> Behind {
    let line = |_| {
        let own = own_ms.map_or("-".to_owned(), |ms| format!("{}", ms as f64 / 1e3));
        let waited = waited_ms as f64 / 1e3;
        format!("uri:/a\tapptime:{waited}\tupstream_addr:{address}\truntime:{own}\n")
    };
    let text: String = (0..requests).map(line).collect();
    let format = logs::access::Format::Ltsv;
    let grouping = logs::access::Grouping::Routes;
    match logs::read(text.as_bytes(), Some(&format), &grouping) {
        Ok(logs::Digest::Access(access)) => access.behind().remove(0),
        other => panic!("{other:?}"),
    }
}

impl Host {
    fn passing(mut self, behind: Vec<Behind>, took_ms: u64) -> Host {
        self.requests = behind.iter().map(Behind::requests).sum();
        self.took_s = self.requests as f64 * took_ms as f64 / 1e3;
        self.behind = behind;
        self
    }

    fn linked(mut self, local: [u8; 4], peers: &[([u8; 4], u32)]) -> Host {
        let links = peers.iter().map(|(peer, rtt_min_us)| Link {
            local: IpAddr::from(local),
            peer: IpAddr::from(*peer),
            rtt_min_us: *rtt_min_us,
        });
        self.usage.links = links.collect();
        self
    }
}

fn subjects(hosts: &[Host]) -> Vec<Subject<'_>> {
    let subjects = hosts.iter().map(|host| Subject {
        name: host.name,
        roles: &host.roles,
        cores: 2.0,
        usage: &host.usage,
        clock: None,
        requests: host.requests,
        took_s: host.took_s,
        behind: &host.behind,
        statements: host.statements,
        recorded: host.recorded,
        early: host.early,
    });
    subjects.collect()
}

#[track_caller]
fn check(hosts: &[Host], expected: &[Note]) {
    assert_eq!(of(&subjects(hosts)), expected);
}

fn name(text: &str) -> String {
    text.to_owned()
}

#[test]
fn a_full_host_an_uneven_pair_and_connections_that_are_not_kept_are_seen_and_calm_ones_are_not() {
    let web = |opened, requests| {
        host("web", "proxy", 0.4, opened).passing(vec![behind("", requests, 10, None)], 11)
    };
    check(&[web(60, 1000), host("db", "database", 1.5, 0)], &[]);
    let full = Note::Saturated {
        host: name("db"),
        used: 1.9,
        cores: 2.0,
    };
    check(&[web(60, 1000), host("db", "database", 1.9, 0)], &[full]);
    let not_kept = Note::NotKept {
        host: name("web"),
        opened: 990,
        requests: 1000,
    };
    check(&[web(990, 1000)], &[not_kept]);
    check(&[web(99, 99)], &[]);
    let uneven = Note::Uneven {
        role: name("app"),
        busy: name("app2"),
        busy_share: 0.75,
        idle: name("app1"),
        idle_share: 0.25,
    };
    check(
        &[host("app1", "app", 0.5, 0), host("app2", "app", 1.5, 0)],
        &[uneven],
    );
    check(
        &[host("app1", "app", 1.2, 0), host("app2", "app", 1.5, 0)],
        &[],
    );
}

#[test]
fn a_clock_is_off_only_beyond_its_bound() {
    let off = |nanos, bound_ns| {
        let hosts = [host("db", "database", 0.0, 0)];
        let mut subjects = subjects(&hosts);
        subjects[0].clock = Some(Offset {
            nanos,
            bound_ns,
            is_steady: true,
        });
        of(&subjects).len()
    };
    assert_eq!(
        (off(-300_000_000, 1_000_000), off(300_000_000, 250_000_000)),
        (1, 0)
    );
    assert_eq!(off(20_000_000, 1_000), 0);
}

/// A proxy before two app hosts and a database; times in milliseconds.
fn three(app2_waited: u64, app2_own: u64, database_rtt_us: u32) -> Vec<Host> {
    let (web, app1, app2, db) = ([10, 0, 0, 1], [10, 0, 0, 2], [10, 0, 0, 3], [10, 0, 0, 4]);
    let servers = vec![
        behind("10.0.0.2:9292", 100, 12, Some(10)),
        behind("10.0.0.3:9292", 100, app2_waited, Some(app2_own)),
    ];
    let mut database = host("db", "database", 0.2, 0).linked(db, &[(app2, database_rtt_us)]);
    database.statements = Some(Statements {
        count: 400,
        total_s: 0.6,
        round_trips: 0,
    });
    vec![
        host("web", "proxy", 0.1, 2)
            .passing(servers, (12 + app2_waited) / 2 + 1)
            .linked(web, &[(app1, 100), (app2, 100)]),
        host("app1", "app", 0.4, 2).linked(app1, &[(web, 100), (db, 500)]),
        host("app2", "app", 0.4, 2).linked(app2, &[(web, 100), (db, database_rtt_us)]),
        database,
    ]
}

#[test]
fn an_app_host_that_takes_far_longer_is_named_and_equal_ones_are_not() {
    check(&three(12, 10, 500), &[]);
    check(&three(14, 13, 500), &[]);
    let slower = Note::Slower {
        host: name("app2"),
        median_s: 0.040,
        other: name("app1"),
        other_median_s: 0.010,
    };
    check(&three(50, 40, 500), &[slower]);
}

#[test]
fn a_long_way_between_two_hosts_is_named() {
    let far = Note::Far {
        host: name("app2"),
        other: name("db"),
        round_trip_s: 0.040,
    };
    check(&three(14, 12, 40_000), &[far]);
}

#[test]
fn static_files_that_pass_the_app_are_counted() {
    let files = |files| {
        let mut servers = vec![behind("10.0.0.2:80", 1000, 1, None)];
        servers[0].files = files;
        vec![host("web", "proxy", 0.1, 2).passing(servers, 2)]
    };
    check(&files(99), &[]);
    let found = Note::Files {
        host: name("web"),
        files: 300,
        requests: 1000,
    };
    check(&files(300), &[found]);
}

#[test]
fn a_database_that_idles_while_all_apps_are_full_is_named() {
    let full = |host: &str| Note::Saturated {
        host: name(host),
        used: 1.95,
        cores: 2.0,
    };
    let hosts = |app2| {
        [
            host("app1", "app", 1.95, 0),
            host("app2", "app", app2, 0),
            host("db", "database", 0.1, 0),
        ]
    };
    let idle = Note::DatabaseIdle {
        host: name("db"),
        share: 0.05,
    };
    check(&hosts(1.95), &[full("app1"), full("app2"), idle]);
    check(&hosts(1.5), &[full("app1")]);
}

#[test]
fn a_process_near_its_limit_of_descriptors_is_named() {
    let with = |open| {
        let mut web = host("web", "proxy", 0.1, 0);
        web.usage.processes = vec![Processes {
            name: name("nginx"),
            descriptors: Some((open, 1024)),
            ..Processes::default()
        }];
        [web]
    };
    check(&with(500), &[]);
    let found = Note::Descriptors {
        host: name("web"),
        process: name("nginx"),
        open: 1000,
        limit: 1024,
    };
    check(&with(1000), &[found]);
}

/// The milliseconds of each layer, rounded to a hundredth.
fn layers_of(hosts: &[Host], client: Option<Client>) -> (f64, Vec<(Place, f64)>) {
    let Balance { mean_s, layers, .. } = balance(&subjects(hosts), client).expect("a balance");
    let sum: f64 = layers.iter().map(|layer| layer.mean_s).sum();
    assert!((sum - mean_s).abs() < 1e-9, "{sum} {mean_s} {layers:?}");
    let rounded = |Layer { place, mean_s, .. }: Layer| (place, (mean_s * 1e5).round() / 1e2);
    (mean_s, layers.into_iter().map(rounded).collect())
}

#[test]
fn the_balance_ends_where_the_time_is() {
    let app = |host: &str| Place::App {
        host: name(host),
        with_way: false,
    };
    let between = |one: &str, other: &str| Place::Between(name(one), name(other));
    let client = Some(Client { mean_s: 0.0145 });
    let (mean_s, layers) = layers_of(&three(12, 10, 1_000), client);
    assert_eq!(mean_s, 0.0145);
    // Each request has two statements of together 3 ms, and each of these a round trip.
    let expected = [
        (Place::Outside(name("web")), 1.5),
        (Place::Proxy(name("web")), 1.0),
        (between("web", "app1"), 1.0),
        (app("app1"), 3.0),
        (between("app1", "db"), 0.5),
        (between("web", "app2"), 1.0),
        (app("app2"), 2.5),
        (between("app2", "db"), 1.0),
        (Place::Database(name("db")), 3.0),
    ];
    assert_eq!(layers, expected);
}

/// Requests recorded by agents, each with milliseconds in the queue and in states of the handler.
fn recorded(requests: u64, queue_ms: u64, states_ms: [u64; 8]) -> Option<Recorded> {
    let all_ns = |ms: u64| requests * ms * 1_000_000;
    Some(Recorded::of(&[RouteTime {
        requests,
        waited_ns: all_ns(queue_ms),
        time_ns: all_ns(states_ms.iter().sum()),
        states_ns: states_ms.map(all_ns),
        ..RouteTime::default()
    }]))
}

/// The terms of the app on a host in milliseconds, all above 0, rounded to a hundredth.
fn terms_of(hosts: &[Host], host: &str) -> Vec<(&'static str, f64)> {
    let balance = balance(&subjects(hosts), None).expect("a balance");
    let is_app = |layer: &&Layer| match &layer.place {
        Place::App { host: own, .. } => own == host,
        _ => false,
    };
    let app = balance.layers.iter().find(is_app).expect("an app");
    let Some(terms_s) = app.terms_s else {
        return Vec::new();
    };
    let sum: f64 = terms_s.iter().sum();
    assert!((sum - app.mean_s).abs() < 1e-9, "{sum} {app:?}");
    let terms = TERMS.into_iter().zip(terms_s);
    let rounded = terms.map(|(name, seconds)| (name, (seconds * 1e5).round() / 1e2));
    rounded.filter(|(_, ms)| *ms > 0.0).collect()
}

#[test]
fn the_part_of_an_app_with_agents_is_split_into_their_terms() {
    let mut hosts = three(12, 10, 1_000);
    // 3 ms of SQL in the server and 1 ms on the way there are of its 6 ms in SQL calls.
    hosts[1].recorded = recorded(100, 1, [2, 0, 6, 0, 0, 0, 0, 1]);
    let (_, layers) = layers_of(&hosts, None);
    let app1 = Place::App {
        host: name("app1"),
        with_way: false,
    };
    let found = layers.iter().find(|layer| layer.0 == app1);
    assert_eq!(found.map(|layer| layer.1), Some(3.0));
    let queued = Place::Between(name("web"), name("app1"));
    let found = layers.iter().find(|layer| layer.0 == queued);
    assert_eq!(found.map(|layer| layer.1), Some(1.0));
    let terms = [
        ("queue", 0.5),
        ("gvl_wait", 1.0),
        ("sql", 1.0),
        ("running", 0.5),
    ];
    assert_eq!(terms_of(&hosts, "app1"), terms);
    assert!(terms_of(&hosts, "app2").is_empty());
    // A random part of the requests stands for all.
    hosts[1].recorded = recorded(7, 1, [2, 0, 6, 0, 0, 0, 0, 1]);
    assert_eq!(terms_of(&hosts, "app1"), terms);
    // Others ask the app too, and what they asked for is not known.
    hosts[1].recorded = recorded(200, 1, [2, 0, 6, 0, 0, 0, 0, 1]);
    assert!(terms_of(&hosts, "app1").is_empty());
}

#[test]
fn statements_take_no_longer_than_the_app_waits_for_them() {
    let mut hosts = three(12, 10, 1_000);
    // A connection being opened, or a driver that the agents do not know, is other I/O.
    hosts[1].recorded = recorded(100, 0, [0, 0, 1, 0, 0, 0, 1, 8]);
    assert_eq!(terms_of(&hosts, "app1"), [("running", 4.0)]);
    let (_, layers) = layers_of(&hosts, None);
    let database = layers.last().expect("layers");
    // Of app1 2 ms, of app2 3 ms.
    assert_eq!(database, &(Place::Database(name("db")), 2.5));
}

#[test]
fn terms_of_a_log_that_rounds_down_are_no_longer_than_the_proxy_waited() {
    let mut hosts = three(12, 10, 1_000);
    hosts[1].recorded = recorded(100, 0, [0, 0, 4, 0, 0, 0, 0, 20]);
    let (_, layers) = layers_of(&hosts, None);
    let way = Place::Between(name("web"), name("app1"));
    let found = layers.iter().find(|layer| layer.0 == way);
    assert_eq!(found.map(|layer| layer.1), Some(0.0));
    assert_eq!(terms_of(&hosts, "app1"), [("running", 5.0)]);
}

#[test]
fn round_trips_that_execute_nothing_are_on_the_way() {
    let mut hosts = three(12, 10, 1_000);
    if let Some(statements) = &mut hosts[3].statements {
        statements.round_trips = 800;
    }
    let (_, layers) = layers_of(&hosts, None);
    let way = |host: &str| {
        let place = Place::Between(name(host), name("db"));
        let layer = layers.iter().find(|layer| layer.0 == place);
        layer.expect("a layer").1
    };
    assert_eq!((way("app1"), way("app2")), (1.0, 2.0));
}

#[test]
fn a_log_whose_lines_come_long_after_their_requests_is_named() {
    let web = |early| {
        let mut web = host("web", "proxy", 0.1, 2).passing(vec![behind("", 1000, 10, None)], 11);
        web.early = early;
        [web]
    };
    check(&web(10), &[]);
    let buffered = Note::Buffered {
        host: name("web"),
        early: 11,
        requests: 1000,
    };
    check(&web(11), &[buffered]);
}

#[test]
fn an_app_beside_its_proxy_is_on_the_proxys_host() {
    let app = |host: &str| Place::App {
        host: name(host),
        with_way: true,
    };
    for own in ["127.0.0.1:3000", "[::1]:3000", "unix:/run/puma.sock"] {
        let servers = vec![
            behind(own, 100, 12, None),
            behind("10.0.0.3:80", 100, 8, None),
        ];
        let hosts = [
            host("web", "proxy", 0.1, 2).passing(servers, 12),
            host("app2", "app", 0.4, 2).linked([10, 0, 0, 3], &[([10, 0, 0, 1], 100)]),
        ];
        let expected = vec![
            (Place::Proxy(name("web")), 2.0),
            (app("web"), 6.0),
            (app("app2"), 4.0),
        ];
        assert_eq!(layers_of(&hosts, None), (0.012, expected), "{own}");
    }
    let slow = vec![
        behind("127.0.0.1:80", 100, 50, None),
        behind("10.0.0.3:80", 100, 8, None),
    ];
    let hosts = [
        host("web", "proxy", 0.1, 2).passing(slow, 60),
        host("app2", "app", 0.4, 2).linked([10, 0, 0, 3], &[([10, 0, 0, 1], 100)]),
    ];
    let slower = Note::Slower {
        host: name("web"),
        median_s: 0.050,
        other: name("app2"),
        other_median_s: 0.008,
    };
    check(&hosts, &[slower]);
}

#[test]
fn a_server_at_an_address_of_no_host_is_not_on_the_only_app_host() {
    let app = |host: &str| Place::App {
        host: name(host),
        with_way: true,
    };
    let servers = vec![
        behind("10.0.0.3:80", 100, 8, None),
        behind("10.0.0.9:80", 100, 12, None),
    ];
    let hosts = [
        host("web", "proxy", 0.1, 2).passing(servers, 12),
        host("app1", "app", 0.4, 2).linked([10, 0, 0, 3], &[([10, 0, 0, 1], 100)]),
    ];
    let expected = vec![
        (Place::Proxy(name("web")), 2.0),
        (app("app1"), 4.0),
        (app("10.0.0.9:80"), 6.0),
    ];
    assert_eq!(layers_of(&hosts, None), (0.012, expected));
    let alone =
        [host("web", "proxy", 0.1, 2).passing(vec![behind("10.0.0.9:80", 100, 12, None)], 12)];
    let (_, layers) = layers_of(&alone, None);
    assert_eq!(layers[1], (app("10.0.0.9:80"), 12.0));
}

#[test]
fn a_log_without_addresses_and_accounts_still_parts_proxy_and_app() {
    let hosts = [
        host("web", "proxy", 0.1, 2).passing(vec![behind("", 100, 12, None)], 20),
        host("app1", "app", 0.4, 2),
    ];
    let app = Place::App {
        host: name("app1"),
        with_way: true,
    };
    let expected = vec![(Place::Proxy(name("web")), 8.0), (app, 12.0)];
    assert_eq!(layers_of(&hosts, None), (0.020, expected));
    assert_eq!(balance(&subjects(&hosts[1..]), None), None);
}
