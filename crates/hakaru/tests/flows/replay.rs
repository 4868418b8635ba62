//! Requests due again as recorded.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};

use crate::support::{check, read};

/// Answers everything on one connection after another, and passes the request lines on.
fn serve(listener: TcpListener, lines: Sender<String>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { return };
        let lines = lines.clone();
        std::thread::spawn(move || answer(stream, &lines));
    }
}

fn answer(stream: TcpStream, lines: &Sender<String>) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line.trim().is_empty() {
                break;
            }
            head.push(line);
        }
        let line = head.first()?.rsplit_once(' ')?.0.to_owned();
        writer
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            .ok()?;
        lines.send(line).ok()?;
    }
}

/// Milliseconds from the first request, and the request line, for each request.
const CAME: [(u64, &str); 8] = [
    (0, "GET /items/1"),
    (40, "GET /"),
    (41, "GET /items/2"),
    (41, "GET /items/3?q=a%20b"),
    (90, "DELETE /items/9"),
    (120, "GET /items/1"),
    (500, "GET /"),
    (640, "HEAD /"),
];

/// Lines as written by nginx: in the order of the requests' ends.
fn log(folder: &Path) {
    let line = |(at, line): &(u64, &str)| {
        let (method, uri) = line.split_once(' ').expect("a request line");
        let seconds = 1_790_000_000.0 + *at as f64 / 1e3;
        format!("time:{seconds:.3}\tmethod:{method}\turi:{uri}\tstatus:200\treqtime:0.000\n")
    };
    let lines: String = CAME.iter().map(line).collect();
    std::fs::write(folder.join("access.log"), lines).expect("a log");
}

#[test]
fn a_closed_load_takes_turns_as_the_record_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    // One user, who sends 2 ms after each response; written in the order of the ends.
    let lines = [
        "/", "/", "/a", "/", "/", "/", "/b", "/b", "/b", "/", "/", "/a", "/", "/", "/b", "/",
    ];
    let line = |(index, uri): (usize, &&str)| {
        let ended = 1_790_000_000.1 + index as f64 * 0.102;
        format!("time:{ended:.3}\tmethod:GET\turi:{uri}\tstatus:200\treqtime:0.100\n")
    };
    let log: String = lines.iter().enumerate().map(line).collect();
    std::fs::write(folder.join("access.log"), log).expect("a log");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (sender, came) = channel();
    std::thread::spawn(move || serve(listener, sender));

    check(folder, &["flows", "from", "access.log", "--url", &url], 0);
    let config = read(folder, "hakaru.toml");
    let order = "order = \"flows/access/order.csv\"";
    assert!(config.contains(order), "{config}");
    check(folder, &["run", "--attach", "--warmup", "0s"], 0);
    // The app is asked for `/` until it is there, so the first turns are left out.
    let sent = came.try_iter().skip_while(|line| line == "GET /");
    let sent: Vec<String> = sent.take(100).collect();
    let turns = lines.iter().cycle().map(|uri| format!("GET {uri}"));
    let turns: Vec<String> = turns.skip_while(|line| line == "GET /").take(100).collect();
    assert_eq!(sent, turns);

    std::fs::write(folder.join("flows/access/order.csv"), "nonsense\n").expect("it is written");
    let printed = check(folder, &["run", "--attach"], 2);
    let why = "order.csv:1: expected the column flow";
    assert!(printed.contains(why), "{printed}");
}

/// Due times and flows.
fn arrivals(folder: &Path, name: &str) -> Vec<(f64, String)> {
    let text = read(folder, &format!("flows/{name}/arrivals.csv"));
    let lines = text.lines().skip(1).map(|line| {
        let (due, flow) = line.split_once(',').expect("two columns");
        (due.parse().expect("a number"), flow.to_owned())
    });
    lines.collect()
}

#[test]
fn a_log_is_sent_again_in_its_order_and_at_its_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    log(folder);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (sender, came) = channel();
    std::thread::spawn(move || serve(listener, sender));

    let from = ["flows", "from", "access.log", "--replay", "--url", &url];
    check(folder, &[&from[..], &["--speed", "0.5"]].concat(), 0);
    let due: Vec<f64> = arrivals(folder, "access")
        .iter()
        .map(|(due, _)| *due)
        .collect();
    let expected: Vec<f64> = CAME.iter().map(|(at, _)| 2.0 * *at as f64).collect();
    assert_eq!(due, expected);
    let config = read(folder, "hakaru.toml");
    assert!(
        config.contains("arrivals = \"flows/access/arrivals.csv\""),
        "{config}"
    );

    check(folder, &["run", "--attach"], 0);
    let sent: Vec<String> = came
        .try_iter()
        .filter(|line| line != "GET / HTTP")
        .collect();
    // What changes data is off; the app is asked once for being there.
    let expected: Vec<&str> = CAME.iter().map(|(_, line)| *line).collect();
    let expected: Vec<&str> = expected
        .into_iter()
        .filter(|line| !line.starts_with("DELETE"))
        .collect();
    assert_eq!(sent[sent.len() - expected.len()..], expected, "{sent:?}");

    // What was due when, as the run itself recorded.
    check(
        folder,
        &[
            "flows", "from", "--run", "last", "--replay", "--name", "again",
        ],
        0,
    );
    let on = |all: Vec<(f64, String)>| {
        let on = all
            .into_iter()
            .filter(|(_, flow)| !flow.starts_with("delete"));
        on.collect::<Vec<_>>()
    };
    let (first, again) = (on(arrivals(folder, "access")), arrivals(folder, "again"));
    assert_eq!(first.len(), again.len());
    for ((due, flow), (due_again, flow_again)) in first.iter().zip(&again) {
        assert_eq!(flow, flow_again);
        // Times are kept in microseconds.
        assert!((due - due_again).abs() < 0.002, "{due} and {due_again}");
    }
}

#[test]
fn what_cannot_be_replayed_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(
        folder.join("timeless.log"),
        "method:GET\turi:/a\tstatus:200\n",
    )
    .expect("a log");
    let refused = |arguments: &[&str], why: &str| {
        let printed = check(folder, &[&["flows", "from"], arguments].concat(), 2);
        assert!(printed.contains(why), "{printed}");
        assert!(!folder.join("flows").exists());
    };
    refused(&["timeless.log", "--replay"], "the log has no times");
    refused(
        &["timeless.log", "--replay", "--speed", "0"],
        "is not how many times as fast",
    );
    refused(&["timeless.log", "--speed", "2"], "--replay");
    std::fs::write(folder.join("copied.txt"), "curl http://a.test/\n").expect("a file");
    refused(
        &["copied.txt", "--replay"],
        "--replay is for access logs and runs",
    );
    refused(&["--run", "soon"], "soon");
    check(folder, &["flows", "from", "--run", "3"], 1);

    // Flows and due times that do not go together.
    log(folder);
    check(folder, &["flows", "from", "access.log", "--replay"], 0);
    let flow = folder.join("flows/access/get-root.hurl");
    let flow = if flow.exists() {
        flow
    } else {
        folder.join("flows/access/get.hurl")
    };
    let text = std::fs::read_to_string(&flow).expect("a flow");
    std::fs::write(&flow, text + "GET /two\n").expect("it is written");
    let printed = check(folder, &["run", "--attach"], 2);
    assert!(printed.contains("has several requests"), "{printed}");
    std::fs::write(folder.join("flows/access/arrivals.csv"), "nonsense\n").expect("it is written");
    let printed = check(folder, &["run", "--attach"], 2);
    assert!(
        printed.contains("arrivals.csv:1: expected the columns"),
        "{printed}"
    );
}
