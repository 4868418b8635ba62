//! Handlers of known parts: the measured parts, and the recommended threads for each.

use std::thread;

use serde_json::Value;

use crate::support::{Run, check_only, to_fix};

/// Greatest difference of a part from the configured one, as a share.
const TOLERANCE: f64 = 0.05;
/// Attempts at a measurement: a request on a shared core takes longer than configured, so the
/// measurement is repeated. On a host with a core to spare the first one holds.
const ATTEMPTS: usize = 3;
/// Flags of a load with one client: no request waits for another.
const ALONE: [&str; 6] = [
    "--connections",
    "1",
    "--duration",
    "2500ms",
    "--warmup",
    "500ms",
];

fn three_servers<'a>(config: &'a str, flags: &'a [&'a str], database: Option<&'a str>) -> Run<'a> {
    Run {
        app: "three-servers",
        port: "9292",
        config,
        flags,
        database,
        flow: None,
        instead: &[],
        only_waits: false,
    }
}

fn database(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set; bin/test starts the servers"))
}

/// Repeats a measurement until the result is near enough, at most [`ATTEMPTS`] times.
fn until_near(attempt: impl Fn() -> Result<(), String>) {
    let outcomes = (0..ATTEMPTS).map(|_| attempt());
    let mut missed = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(()) => return,
            Err(message) => missed.push(message),
        }
    }
    panic!("{missed:#?}");
}

fn near(name: &str, measured: f64, configured: f64) -> Result<(), String> {
    let off = measured / configured - 1.0;
    (off.abs() <= TOLERANCE)
        .then_some(())
        .ok_or_else(|| format!("{name} is {measured:.3} ms where {configured} ms are configured"))
}

/// Whether other programs took the cores; a thread ready to run then still waits for one.
fn is_busy(json: &Value) -> bool {
    let findings = json["findings"].as_array().expect("findings");
    findings.iter().any(|finding| finding["id"] == "host-busy")
}

/// Checks the parts measured inside at one client, in milliseconds: CPU, and the waits by name. The
/// handler's parts are set `instead` of the shipped ones where those are so short that a slow
/// host's timer and wake-up are not small beside them.
fn check_inside(
    config: &str,
    instead: &[(&str, &str)],
    url: Option<&str>,
    (cpu, wait, wait_ms): (f64, &str, f64),
) {
    until_near(|| {
        let json = Run {
            instead,
            only_waits: cpu == 0.0,
            ..three_servers(config, &ALONE, url)
        }
        .ok();
        let balance = &json["routes"][0]["balance_ms"];
        let part = |name: &str| balance[name].as_f64().expect("a term");
        // CPU is read in one request of sixteen: where others have the cores, these may not be like
        // the rest.
        let shared = || is_busy(&json) && part("cpu") + part("cpu_wait") > cpu;
        if cpu > 0.0 && !shared() {
            near("cpu", part("cpu"), cpu)?;
        }
        if wait_ms > 0.0 && !(is_busy(&json) && part(wait) > wait_ms) {
            near(wait, part(wait), wait_ms)?;
        }
        Ok(())
    });
}

#[test]
fn the_parts_of_a_request_are_those_that_are_configured() {
    check_inside("io.toml", &[], None, (0.0, "sleep", 50.0));
    let longer = [("CPU_MS = \"5\"", "CPU_MS = \"10\"")];
    check_inside("cpu.toml", &longer, None, (10.0, "sleep", 0.0));
    let longer = [
        ("CPU_MS = \"3\"", "CPU_MS = \"6\""),
        ("WAIT_MS = \"7\"", "WAIT_MS = \"14\""),
    ];
    check_inside("mixed.toml", &longer, None, (6.0, "sleep", 14.0));
}

#[test]
fn a_wait_in_a_database_is_sql_of_that_length() {
    for variable in ["HAKARU_TEST_MARIADB_URL", "HAKARU_TEST_POSTGRES_URL"] {
        let url = database(variable);
        check_inside("io.toml", &[], Some(&url), (0.0, "sql", 50.0));
    }
}

/// Checks the server's own measurements in the responses: more than half must be near, so the
/// median is.
fn check_itself(config: &str, url: Option<&str>, (part, configured): (&str, f64)) {
    let (low, high) = (
        configured * (1.0 - TOLERANCE),
        configured * (1.0 + TOLERANCE),
    );
    let query = format!("regex /{part} (\\d+\\.\\d+) ms/ toFloat");
    let flow = format!(
        "GET {{{{base_url}}}}/\nHTTP 200\n[Asserts]\n{query} >= {low:.3}\n{query} <= {high:.3}\n"
    );
    until_near(|| {
        let json = Run {
            flow: Some(&flow),
            only_waits: part == "wait",
            ..three_servers(config, &ALONE, url)
        }
        .json();
        assert_eq!(json["errors"], 0, "{}", json["failures"]);
        let count = |name: &str| json[name].as_u64().expect("a count");
        let (far, all) = (count("checks_failed"), count("requests"));
        let reasons = || format!("{far} of {all} answers: {}", json["failures"][0]["reason"]);
        // Where others have the cores, who has waited long enough still waits for one.
        let failures = json["failures"].as_array().expect("failures");
        let too_long = |failure: &Value| failure["reason"].to_string().contains("expected <=");
        let late = part == "wait" && is_busy(&json) && failures.iter().all(too_long);
        let held = all > 0 && (far * 2 < all || late);
        held.then_some(()).ok_or_else(reasons)
    });
}

#[test]
fn ruby_and_go_burn_and_wait_alike() {
    let mariadb = database("HAKARU_TEST_MARIADB_URL");
    let postgres = database("HAKARU_TEST_POSTGRES_URL");
    for config in ["cpu.toml", "go-cpu.toml"] {
        check_itself(config, None, ("cpu", 5.0));
    }
    let databases = [None, Some(mariadb.as_str()), Some(postgres.as_str())];
    let check = |config: &str| {
        for url in databases {
            check_itself(config, url, ("wait", 50.0));
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| check("io.toml"));
        scope.spawn(|| check("go-io.toml"));
    });
}

/// The number of threads in the advice.
fn recommended(json: &Value) -> u32 {
    let found = to_fix(json);
    let threads = found
        .iter()
        .find(|finding| finding["id"] == "threads")
        .unwrap_or_else(|| panic!("no advice on threads: {found:#?}"));
    let text = threads["remedy"].to_string();
    let (_, rest) = text.split_once("-t ").expect("an exact remedy");
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    number.parse().expect("a number of threads")
}

/// The recommended number of threads under load, with the findings planted.
fn under_load(config: &str, database: Option<&str>, planted: &[&str]) -> u32 {
    let json = three_servers(config, &["--duration", "8s"], database).ok();
    check_only(&json, planted);
    recommended(&json)
}

// What a handler waits for is a timer, told by `sleep`; what it computes is all that one GVL can
// take while another core is idle, told by `workers`. Each is planted in those handlers only that
// have it.

#[test]
fn a_server_that_only_waits_wants_many_threads() {
    assert!(under_load("io.toml", None, &["threads", "sleep"]) >= 10);
}

#[test]
fn a_server_that_waits_in_a_database_wants_many_threads_and_nothing_of_the_database() {
    let mariadb = database("HAKARU_TEST_MARIADB_URL");
    assert!(under_load("io.toml", Some(&mariadb), &["threads"]) >= 10);
}

#[test]
fn a_server_that_only_computes_wants_one_thread() {
    assert_eq!(
        under_load("cpu.toml", None, &["threads", "workers", "hot-method"]),
        1
    );
}

#[test]
fn a_server_that_does_both_wants_three_or_four_threads() {
    until_near(|| {
        let threads = under_load(
            "mixed.toml",
            None,
            &["threads", "sleep", "workers", "hot-method"],
        );
        let right = (3..=4).contains(&threads);
        right
            .then_some(())
            .ok_or_else(|| format!("{threads} threads"))
    });
}
