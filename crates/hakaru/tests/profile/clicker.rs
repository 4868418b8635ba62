//! `apps/clicker`: after a game over WebSockets the profile names the digits of big numbers and the
//! table of powers; with the solution a message hardly costs either.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Place;

const PATIENCE: Duration = Duration::from_secs(60);

/// Greatest difference between sums of tables' figures, by rounding.
const ROUNDED_MS: f64 = 0.01;

/// Fewest times by which the solution lowers the cost of a message.
const GONE: f64 = 20.0;

/// Waits until the server takes connections.
fn wait_for(port: u16, server: &mut Child) {
    let deadline = Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "puma does not answer");
        assert_eq!(server.try_wait().expect("asked"), None, "puma has ended");
        std::thread::yield_now();
    }
}

/// The profile of a game of some seconds, and the number of messages.
fn play(place: &Place) -> (Value, u64) {
    let folder = place.folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its number").port();
    drop(listener);
    let listen = format!("tcp://127.0.0.1:{port}");
    let mut server = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args([
            "profile", "--json", "--", "puma", "-t", "3:3", "-b", &listen,
        ])
        .args(["--pidfile", "puma.pid"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("hakaru runs");
    wait_for(port, &mut server);
    let game = Command::new("ruby")
        .args(["play.rb", "127.0.0.1", &port.to_string(), "3"])
        .current_dir(folder)
        .output()
        .expect("ruby runs");
    let pid = std::fs::read_to_string(folder.join("puma.pid")).expect("puma tells its number");
    let ended = Command::new("kill").args(["-INT", pid.trim()]).status();
    assert!(ended.expect("kill runs").success());
    let output = server.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&game.stdout).into_owned();
    assert!(
        game.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&game.stderr)
    );
    let answered = said.split(' ').next().and_then(|word| word.parse().ok());
    let json = serde_json::from_slice(&output.stdout).expect("JSON");
    (json, answered.expect("the game counts its messages"))
}

/// Milliseconds of a method in one of a profile's tables.
fn ms(json: &Value, table: &str, method: &str) -> f64 {
    let rows = json[table].as_array().expect("a table").iter();
    let named = rows.filter(|row| row["frame"] == method);
    named.filter_map(|row| row["ms"].as_f64()).sum()
}

/// Costs of the big numbers: the digits, and the table of powers with all callees.
#[derive(Debug)]
struct Cost {
    digits_ms: f64,
    table_ms: f64,
}

impl Cost {
    fn of(json: &Value) -> Self {
        Self {
            digits_ms: ms(json, "self", "Integer#to_s"),
            table_ms: ms(json, "inclusive", "Clicker::Item#power_table"),
        }
    }

    /// Each in so many parts.
    fn over(&self, parts: f64) -> Self {
        Self {
            digits_ms: self.digits_ms / parts,
            table_ms: self.table_ms / parts,
        }
    }
}

const KINDS: [&str; 3] = ["GET /:room add", "GET /:room buy", "GET /:room status"];

/// Asserts a request of the right kind for each message, with the message's own samples.
fn check_messages(place: &Place, json: &Value, answered: u64) {
    let rows = json["requests"].as_array().expect("a row for each route");
    let count = |route: &str| -> u64 {
        let row = rows.iter().find(|row| row["route"] == route);
        row.and_then(|row| row["count"].as_u64()).unwrap_or(0)
    };
    assert_eq!(KINDS.map(count).iter().sum::<u64>(), answered, "{rows:?}");
    let whole = shown(place, &[]);
    let kinds = KINDS.map(|kind| shown(place, &["--route", kind]));
    let [add, buy, status] = &kinds;
    // Buying is quick, so that few samples fall on it, or none; those that do are of that kind
    // alone.
    let bought = |json: &Value| ms(json, "inclusive", "Clicker::Room#buy");
    assert!((bought(&whole) - bought(buy)).abs() < ROUNDED_MS);
    assert!(bought(add) + bought(status) < ROUNDED_MS);
    // All three tell the room's state.
    let digits = |json: &Value| ms(json, "self", "Integer#to_s");
    let parts = kinds.each_ref().map(digits);
    assert!(parts.iter().all(|part| *part > 0.0), "{parts:?}");
    assert!((parts.iter().sum::<f64>() / digits(&whole) - 1.0).abs() < 0.02);
    let unknown = place.hakaru(&["profile", "show", "LAST", "--route", "GET /nowhere"]);
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(said.contains("GET /:room add"), "{said}");
}

/// The stored profile, or the part chosen by the words.
fn shown(place: &Place, words: &[&str]) -> Value {
    let all = [&["profile", "show", "LAST", "--json"], words].concat();
    let shown = place.hakaru(&all);
    let said = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert_eq!(shown.status.code(), Some(0), "{said}");
    serde_json::from_slice(&shown.stdout).expect("JSON")
}

#[test]
fn the_profile_names_the_digits_and_the_table_of_powers() {
    let place = Place::of_app("clicker");
    let (json, slow) = play(&place);
    check_messages(&place, &json, slow);
    let before = Cost::of(&json);
    let running_ms = json["states"]["running"]["ms"].as_f64();
    let shares = before.over(running_ms.expect("the threads ran"));
    assert!(
        shares.digits_ms > 0.15 && shares.table_ms > 0.15,
        "{shares:?}"
    );
    assert!(shares.digits_ms + shares.table_ms > 0.6, "{shares:?}");
    let patched = Command::new("patch")
        .args(["-s", "-p1", "-i", "solutions/01-tables-and-digits.patch"])
        .current_dir(place.folder.path())
        .status();
    assert!(patched.expect("patch runs").success());
    let (json, fast) = play(&place);
    // By message: when the rest is quick too, a share of what is left says little.
    let (before, after) = (before.over(slow as f64), Cost::of(&json).over(fast as f64));
    assert!(
        after.digits_ms * GONE < before.digits_ms && after.table_ms * GONE < before.table_ms,
        "a message cost {before:?}, and {after:?} with the solution"
    );
    assert!(fast > 2 * slow, "{slow} messages before, {fast} after");
}
