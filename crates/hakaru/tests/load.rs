//! `hakaru load` on the command line.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};
use support::{on_terminal, serve};

/// Runs the program in a folder.
fn hakaru(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hakaru"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("NO_COLOR");
    command.output().expect("the program runs")
}

/// Runs the program and asserts the exit code; returns standard output.
fn check(arguments: &[&str], code: i32) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let output = hakaru(folder.path(), arguments);
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}\n{out}\n{err}"
    );
    match code {
        2 => err,
        _ => out,
    }
}

#[test]
fn the_json_has_what_was_promised_and_nothing_after_it() {
    let url = format!("http://{}/a?b=c", serve("200 OK"));
    let text = check(&["load", &url, "-c", "3", "-d", "300ms", "--json"], 0);
    let json: serde_json::Value = serde_json::from_str(&text).expect("one document");
    let requests = json["requests"].as_u64().expect("a number");
    assert!(requests > 3, "{text}");
    assert_eq!(json["statuses"]["200"], requests);
    assert_eq!(json["errors"], serde_json::json!({}));
    for key in ["latency_ms", "sent_latency_ms"] {
        assert!(
            json[key]["p50"].as_f64().is_some_and(|ms| ms > 0.0),
            "{text}"
        );
        assert_eq!(json[key]["count"], requests);
    }
    assert!(json["rps"].as_f64().is_some_and(|rps| rps > 0.0));
    assert!(
        json["generator"]["cpu_share"]
            .as_f64()
            .is_some_and(|share| share > 0.0)
    );
    assert_eq!(json["steps"][0]["line"], "GET /a");
    assert_eq!(json["load"]["pace"], "closed");
}

/// Output of a long load, refused before the start because of one flag.
fn short_of(url: &str, flag: &str, value: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let output = hakaru(folder.path(), &["load", url, "-d", "1h", flag, value]);
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_was_measured_is_shown_where_a_file_has_no_room() {
    let url = format!("http://{}/", serve("200 OK"));
    let folder = tempfile::tempdir().expect("a folder");
    let flags = ["load", &url, "-d", "100ms", "--series", "/dev/full"];
    let more = ["--prometheus", "load.prom", "--result", "/dev/full"];
    let output = hakaru(folder.path(), &[&flags[..], &more[..]].concat());
    assert!(!output.status.success());
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(page.contains("requests/s"), "{page}");
    assert!(folder.path().join("load.prom").exists());
}

#[test]
fn the_exit_status_tells_what_was_missed() {
    let good = format!("http://{}/", serve("200 OK"));
    let bad = format!("http://{}/", serve("500 Oops"));
    let short = |url: &str, more: &[&str], code| {
        let flags = ["load", url, "-c", "2", "-d", "100ms"];
        check(&[&flags, more].concat(), code)
    };
    let page = short(
        &good,
        &["--expect", "errors = 0", "--expect", "max < 60s"],
        0,
    );
    assert!(page.contains("held    errors = 0   came 0"), "{page}");
    let page = short(&good, &["--expect", "p50 < 1us"], 3);
    assert!(page.contains("MISSED  p50 < 1us"), "{page}");
    // A million requests, for which 100 ms are too short.
    let few = ["--expect", "p99.9999 < 60s", "--expect", "errors = 0"];
    let page = short(&good, &few, 12);
    assert!(page.contains("cannot be judged  p99.9999 < 60s"), "{page}");
    assert!(page.contains("takes 1,000,000 requests"), "{page}");
    let json = short(&good, &[&few[..], &["--json"]].concat(), 12);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let goal = &json["expectations"][0];
    assert_eq!(goal["held"], false);
    assert!(goal["came"].is_null(), "{goal}");
    assert_eq!(goal["needs_requests"], 1_000_000);
    short(&good, &[&few[..], &["--expect", "p50 < 1us"]].concat(), 3);
    short(&bad, &few[..2], 4);
    let page = short(&bad, &[], 4);
    assert!(
        page.contains("× server error: expected a status below 400, came 500"),
        "{page}"
    );
    short(&bad, &["--expect", "errors <= 100%"], 0);
    short(&bad, &["--expect", "errors < 1%"], 3);
    short("http://127.0.0.1:1/", &[], 4);
    // Takes connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent = format!("http://{}/", silent.local_addr().expect("an address"));
    let page = short(&silent, &["--expect", "errors = 0"], 4);
    assert!(page.contains("not one of 2 requests ended"), "{page}");
    let folder = tempfile::tempdir().expect("a folder");
    let nobody = ["load", "http://127.0.0.1:1/", "-d", "100ms"];
    let told = String::from_utf8_lossy(&hakaru(folder.path(), &nobody).stderr).into_owned();
    assert!(told.contains("accepts no connection"), "{told}");
    let message = short("127.0.0.1:1/x", &[], 2);
    assert!(
        message.contains("such as http://127.0.0.1:1/x"),
        "{message}"
    );
    let nowhere = short_of(&good, "--html", "/nothing/here.html");
    assert!(nowhere.contains("name a file in a folder"), "{nowhere}");
    let message = short(&good, &["--expect", "soon"], 2);
    assert!(message.contains("`soon` is no expectation"), "{message}");
}

#[test]
fn a_thread_without_a_poller_ends_the_load_of_all_and_is_named() {
    let url = format!("http://{}/", serve("200 OK"));
    let begin = Instant::now();
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 16 && exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_hakaru"))
        .args(["load", &url, "--engine", "epoll", "--threads", "8"])
        .args(["-c", "8", "-d", "60s"])
        .output()
        .expect("a shell");
    let told = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    // The page is folded between words.
    let told = told.concat();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("cannot wait for events"), "{told}");
    assert!(begin.elapsed() < Duration::from_secs(30), "{told}");
}

#[test]
fn a_generator_that_may_open_no_more_files_does_not_blame_the_server() {
    let url = format!("http://{}/", serve("200 OK"));
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 40 && exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_hakaru"))
        .args(["load", &url, "--engine", "epoll"])
        .args(["-c", "100", "-d", "300ms"])
        .output()
        .expect("a shell");
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(4), "{page}");
    // The page is folded between words.
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let remedy = "raise `ulimit -n` of the load generator";
    assert!(words.contains(remedy), "{page}");
}

#[test]
fn a_name_without_an_address_fails_at_once_and_in_one_sentence() {
    // Longer than any name may be, so no server is asked.
    let host = format!("{}.invalid", "a".repeat(64));
    let url = format!("http://{host}/");
    let folder = tempfile::tempdir().expect("a folder");
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let soon = now.expect("a time after 1970").as_secs() + 20;
    let begin = Instant::now();
    let flags = ["load", &url, "--host-ok", &host, "-d", "100ms"];
    let start = ["--start-at", &soon.to_string()];
    let files = ["--html", "a.html", "--series", "a.csv"];
    let output = hakaru(folder.path(), &[&flags[..], &start, &files].concat());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert_eq!(told.matches("no address found").count(), 1, "{told}");
    assert!(!told.contains("is the server started"), "{told}");
    assert!(begin.elapsed() < Duration::from_secs(15), "{told}");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "an empty file of a load that was not sent");
}

#[test]
fn a_file_to_be_overwritten_is_kept_when_the_load_fails() {
    let host = format!("{}.invalid", "a".repeat(64));
    let url = format!("http://{host}/");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "of the last load").expect("a file");
    let flags = ["load", &url, "--host-ok", &host, "--series", "a.csv"];
    let output = hakaru(folder.path(), &flags);
    assert_eq!(output.status.code(), Some(1));
    let kept = std::fs::read_to_string(&path).expect("a file");
    assert_eq!(kept, "of the last load");
}

/// Figures in Prometheus' format equal the JSON's.
fn check_prometheus(text: &str, requests: f64, p50_ms: &serde_json::Value) {
    let line = |labels: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(labels));
        let value = found.and_then(|value| value.trim().parse::<f64>().ok());
        value.unwrap_or_else(|| panic!("{labels} in {text}"))
    };
    let step = "http_request_method=\"GET\",http_route=\"/b\",step=\"b.hurl:1\"";
    let ok = line(&format!(
        "hakaru_load_requests_total{{{step},outcome=\"ok\"}}"
    ));
    assert_eq!(ok, requests);
    let timed = format!("http_client_request_duration_seconds_count{{{step}}}");
    assert_eq!(line(&timed), requests);
    let median = line("hakaru_load_latency_seconds{quantile=\"0.5\"}");
    assert_eq!(median, p50_ms.as_f64().expect("a time") / 1e3);
}

#[test]
fn flows_with_weights_and_rows_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    write(
        "a.hurl",
        "GET /a/{{user_name}}\nHTTP 200\n[Asserts]\nbody == \"hello\"\n",
    );
    write("b.hurl", "GET /b\nHTTP 200\n");
    write("users.csv", "name\nana\nben\n");
    let url = format!("http://{}", serve("200 OK"));
    let arguments = [
        "load",
        &url,
        "--flow",
        "a.hurl:3",
        "--flow",
        "b.hurl",
        "--csv",
        "user=users.csv",
        "-c",
        "2",
        "-d",
        "200ms",
        "--json",
        "--series",
        "series.csv",
        "--hdr",
        "latency.hlog",
        "--prometheus",
        "load.prom",
    ];
    let output = hakaru(folder.path(), &arguments);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{err}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    let count = |step: usize| json["steps"][step]["requests"].as_f64().expect("a number");
    assert!(
        (count(0) / count(1) - 3.0).abs() < 0.5,
        "{} {}",
        count(0),
        count(1)
    );
    let log = std::fs::read_to_string(folder.path().join("latency.hlog")).expect("a file");
    assert!(
        log.contains("#[BaseTime: ") && log.contains("HISTFAAA"),
        "{log}"
    );
    let series = std::fs::read_to_string(folder.path().join("series.csv")).expect("a file");
    assert!(
        series.starts_with("second,rps,") && series.lines().count() >= 2,
        "{series}"
    );
    let prometheus = std::fs::read_to_string(folder.path().join("load.prom")).expect("a file");
    check_prometheus(&prometheus, count(1), &json["latency_ms"]["p50"]);
}

#[test]
fn the_highest_rate_is_searched_within_the_time() {
    let url = format!("http://{}/", serve("200 OK"));
    let text = check(
        &[
            "load",
            &url,
            "-d",
            "3s",
            "--find-max",
            "p50 < 60s",
            "--json",
        ],
        0,
    );
    let json: serde_json::Value = serde_json::from_str(&text).expect("one document");
    assert_eq!(json["format"], "hakaru-find-max");
    assert!(
        json["max_rate"].as_f64().is_some_and(|rate| rate >= 50.0),
        "{text}"
    );
    assert_eq!(json["trials"][0]["rate"], 50.0);
    let page = check(&["load", &url, "-d", "2s", "--find-max", "p50 < 1us"], 3);
    assert!(page.contains("no rate passed"), "{page}");
    // Too short for a single trial: nothing is known of the server.
    let page = check(&["load", &url, "-d", "20ms", "--find-max", "p50 < 60s"], 12);
    assert!(page.contains("nothing was tried"), "{page}");
    assert!(page.contains("give it more (-d)"), "{page}");
}

#[test]
fn without_an_answer_nothing_is_said_of_times_and_bodies() {
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", closed.local_addr().expect("the port"));
    drop(closed);
    let page = check(&["load", &url, "-c", "1", "-d", "150ms"], 4);
    assert!(page.contains("connect failed"), "{page}");
    assert!(!page.contains("B/s") && !page.contains("p50"), "{page}");
}

#[test]
fn a_closed_load_rises_while_all_is_well() {
    let rising = |status: &'static str, users: u64, code: i32| {
        let folder = tempfile::tempdir().expect("a folder");
        let level = "[load]\nlevel_up = { users = 2, max = 4 }\n";
        std::fs::write(folder.path().join("hakaru.toml"), level).expect("a file");
        let url = format!("http://{}/", serve(status));
        let flags = ["load", &url, "-c", "1", "-d", "3s", "--json"];
        let output = hakaru(folder.path(), &flags);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(json["users"], users, "{json}");
    };
    rising("200 OK", 4, 0);
    rising("500 Oops", 1, 4);
}

#[test]
fn a_terminal_shows_the_live_page_and_gets_its_screen_back() {
    let url = format!("http://{}/", serve("200 OK"));
    let folder = tempfile::tempdir().expect("a folder");
    let load = ["load", &url, "-c", "2", "-d", "1200ms"];
    let on_terminal = |rows| on_terminal(folder.path(), rows, 100, &load);
    let (enter, leave) = ("\x1b[?1049h", "\x1b[?1049l");
    let drawn = on_terminal(24);
    let (_, live) = drawn.split_once(enter).expect("a screen of its own");
    let (live, summary) = live.split_once(leave).expect("the old screen again");
    // Single words, since blanks that stand there already are not drawn.
    for part in ["latency", "answers", "generator", "under"] {
        assert!(live.contains(part), "{part:?} is missing in {live:?}");
    }
    assert!(
        !live.contains("\x1b[0;3"),
        "colour in spite of NO_COLOR: {live:?}"
    );
    assert!(
        summary.contains("requests/s") && summary.contains("GENERATOR"),
        "{summary:?}"
    );
    // No room for curves: a line of progress instead.
    let drawn = on_terminal(5);
    assert!(
        !drawn.contains(enter) && drawn.contains("GENERATOR"),
        "{drawn:?}"
    );
    let piped = hakaru(folder.path(), &["load", &url, "-c", "2", "-d", "100ms"]);
    assert!(!String::from_utf8_lossy(&piped.stderr).contains('\x1b'));
}

#[test]
fn the_page_and_the_engine_that_is_asked_for() {
    let url = format!("http://{}/", serve("200 OK"));
    let folder = tempfile::tempdir().expect("a folder");
    for engine in ["epoll", "io_uring"] {
        let page = folder.path().join("load.html").display().to_string();
        let flags = ["--engine", engine, "--json", "--html", &page];
        let text = check(&[&["load", &url, "-d", "100ms"][..], &flags].concat(), 0);
        let json: serde_json::Value = serde_json::from_str(&text).expect("one document");
        assert_eq!(json["generator"]["engine"], engine);
        let html = std::fs::read_to_string(&page).expect("the page");
        assert!(html.contains("\"hakaru-load\"") && html.contains("GENERATOR"));
    }
    let message = check(&["load", &url, "--engine", "kqueue"], 2);
    assert!(message.contains("auto, epoll and io_uring"), "{message}");
}

/// Receives one document of figures; the thread returns the request's line and body.
fn receive(response: &'static str) -> (String, std::thread::JoinHandle<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let receiving = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        let mut reader = BufReader::new(stream);
        let (mut first, mut line) = (String::new(), String::new());
        reader.read_line(&mut first).expect("a line");
        let mut length = 0;
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).expect("a line");
            if let Some(digits) = line.to_lowercase().strip_prefix("content-length: ") {
                length = digits.trim().parse().expect("a number");
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        let mut stream = reader.into_inner();
        stream.write_all(response.as_bytes()).expect("written");
        (first, String::from_utf8(body).expect("text"))
    });
    (url, receiving)
}

/// Returns the data points of a metric.
fn points<'a>(metrics: &'a serde_json::Value, name: &str, kind: &str) -> &'a serde_json::Value {
    let metric = metrics.as_array().expect("a list").iter();
    let metric = metric.filter(|one| one["name"] == name).collect::<Vec<_>>();
    assert_eq!(metric.len(), 1, "{name} in {metrics}");
    if kind != "gauge" {
        assert_eq!(metric[0][kind]["aggregationTemporality"], 2);
    }
    &metric[0][kind]["dataPoints"]
}

#[test]
fn figures_reach_a_receiver_as_they_are_in_the_json() {
    let url = format!("http://{}/a", serve("200 OK"));
    let (to, receiving) = receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    let flags = ["-c", "2", "-d", "200ms", "--json", "--otlp", &to];
    let folder = tempfile::tempdir().expect("a folder");
    let output = hakaru(folder.path(), &[&["load", &url], &flags[..]].concat());
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{err}");
    assert!(
        err.contains(&format!("sent the figures to {to}/v1/metrics")),
        "{err}"
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    let (first, body) = receiving.join().expect("a request");
    assert_eq!(first, "POST /v1/metrics HTTP/1.1\r\n");
    let sent: serde_json::Value = serde_json::from_str(&body).expect("one document");
    let resource = &sent["resourceMetrics"][0];
    let service = serde_json::json!([{"key": "service.name", "value": {"stringValue": "hakaru"}}]);
    assert_eq!(resource["resource"]["attributes"], service);
    let metrics = &resource["scopeMetrics"][0]["metrics"];
    let requests = json["requests"].as_u64().expect("a number").to_string();

    let step = &points(
        metrics,
        "http.client.request.duration",
        "exponentialHistogram",
    )[0];
    assert_eq!(step["count"], requests.as_str());
    let port = url
        .trim_end_matches("/a")
        .rsplit(':')
        .next()
        .expect("a port");
    let text =
        |key: &str, value: &str| serde_json::json!({"key": key, "value": {"stringValue": value}});
    let expected = [
        text("http.request.method", "GET"),
        text("http.route", "/a"),
        text("hakaru.step", &url),
        text("server.address", "127.0.0.1"),
        serde_json::json!({"key": "server.port", "value": {"intValue": port}}),
    ];
    assert_eq!(step["attributes"], serde_json::json!(expected));
    let buckets = step["positive"]["bucketCounts"].as_array().expect("a list");
    let count = |one: &serde_json::Value| one.as_str().and_then(|text| text.parse::<u64>().ok());
    let in_buckets: u64 = buckets.iter().map(|one| count(one).expect("digits")).sum();
    assert_eq!(in_buckets.to_string(), requests);
    let time = |key: &str| count(&step[key]).expect("nanoseconds");
    let length = points(metrics, "hakaru.load.length", "gauge")[0]["asDouble"].as_f64();
    let spent = (time("timeUnixNano") - time("startTimeUnixNano")) as f64 / 1e9;
    assert!(
        (spent - length.expect("seconds")).abs() < 1e-6,
        "{spent} {length:?}"
    );
    let began = json["started_at_unix_ms"].as_u64().expect("a time");
    assert_eq!(time("startTimeUnixNano"), began * 1_000_000);

    let by_outcome = &points(metrics, "hakaru.load.requests", "sum")[0];
    assert_eq!(by_outcome["asInt"], requests.as_str());
    assert_eq!(by_outcome["attributes"][3], text("hakaru.outcome", "ok"));
    let by_status = &points(metrics, "hakaru.load.responses", "sum")[0];
    assert_eq!(by_status["attributes"][0]["value"]["intValue"], "200");
    let rate = &points(metrics, "hakaru.load.rate", "gauge")[0]["asDouble"];
    assert_eq!(rate.as_f64(), json["rps"].as_f64());
    for time in ["latency", "sent_latency", "lateness", "connect"] {
        let name = format!("hakaru.load.{time}");
        points(metrics, &name, "exponentialHistogram");
    }
}

#[test]
fn a_receiver_that_refuses_fails_the_command_after_the_page() {
    let url = format!("http://{}/", serve("200 OK"));
    let refusal = "HTTP/1.1 401 No\r\nContent-Length: 10\r\n\r\nwho \u{1b}are u";
    let (to, receiving) = receive(refusal);
    let load = |to: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let output = hakaru(
            folder.path(),
            &["load", &url, "-c", "1", "-d", "100ms", "--otlp", to],
        );
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, page, err) = load(&to);
    receiving.join().expect("a request");
    assert_eq!(code, Some(1), "{err}");
    assert!(page.contains("requests/s"), "{page}");
    let said = format!(
        "cannot send the figures to {to}/v1/metrics: the receiver responds with 401: who \\u{{1b}}are u"
    );
    assert!(err.contains(&said), "{err}");
    let (code, page, err) = load("collector:4318");
    assert_eq!((code, page.as_str()), (Some(2), ""), "{err}");
    assert!(
        err.contains("--otlp: collector:4318: expected a URL"),
        "{err}"
    );
}

#[test]
fn figures_left_out_by_a_receiver_are_named() {
    let url = format!("http://{}/", serve("200 OK"));
    let partial = "HTTP/1.1 200 OK\r\nContent-Length: 71\r\n\r\n\
                   {\"partialSuccess\":{\"rejectedDataPoints\":\"3\",\"errorMessage\":\"too many\"}}";
    let (to, receiving) = receive(partial);
    let folder = tempfile::tempdir().expect("a folder");
    let flags = ["load", &url, "-c", "1", "-d", "100ms", "--otlp", &to];
    let output = hakaru(folder.path(), &flags);
    receiving.join().expect("a request");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{err}");
    assert!(err.contains("left out 3 of the figures: too many"), "{err}");
}

/// Starts a short load whose figures go to a receiver.
fn start_delivery(folder: &Path, url: &str, to: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(["load", url, "-c", "1", "-d", "100ms", "--otlp", to])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs")
}

/// Interrupts a delivery, which must end soon and with the page; returns what it said.
fn interrupted_delivery(child: Child) -> String {
    let begin = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).expect("interrupted");
    let output = child.wait_with_output().expect("it ends");
    let [page, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(begin.elapsed() < Duration::from_secs(8), "{err}");
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(page.contains("requests/s"), "{page}");
    err.into_owned()
}

#[test]
fn ctrl_c_ends_the_wait_for_a_busy_receiver() {
    let url = format!("http://{}/", serve("200 OK"));
    let busy = "HTTP/1.1 503 Busy\r\nRetry-After: 10\r\nContent-Length: 0\r\n\r\n";
    let (to, receiving) = receive(busy);
    let folder = tempfile::tempdir().expect("a folder");
    let child = start_delivery(folder.path(), &url, &to);
    receiving.join().expect("a request");
    let err = interrupted_delivery(child);
    // Behind the response, or while it is read.
    let ends = ["the receiver responds with 503", "interrupted before"];
    assert!(ends.iter().any(|end| err.contains(end)), "{err}");
}

#[test]
fn ctrl_c_ends_a_delivery_to_a_silent_receiver() {
    let url = format!("http://{}/", serve("200 OK"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let to = format!("http://{}", listener.local_addr().expect("an address"));
    let folder = tempfile::tempdir().expect("a folder");
    let child = start_delivery(folder.path(), &url, &to);
    let (mut stream, _) = listener.accept().expect("a connection");
    stream.read_exact(&mut [0; 4]).expect("a request");
    let err = interrupted_delivery(child);
    assert!(
        err.contains("interrupted before the receiver responded"),
        "{err}"
    );
}
