//! A scenario with a capture, a cookie and checks: Hakaru beside k6 with the same script.

use std::error::Error;
use std::fs;

use super::nginx::{Nginx, Serves};
use super::tools::{self, K6, Task};
use super::{Wanted, mark, print, ratio, rounds};

const CONNECTIONS: u32 = 50;
/// Least of k6's requests a CPU second, on each engine.
const GOAL: f64 = 10.0;

const FLOW: &str = r#"POST /login
{"name": "seven"}
HTTP 200
[Captures]
token: jsonpath "$.token"
[Asserts]
header "Content-Type" == "application/json"

GET /items?token={{token}}
HTTP 200
[Asserts]
jsonpath "$.items" count == 3
jsonpath "$.items[0].name" == "one"

GET /me
HTTP 200
[Asserts]
jsonpath "$.id" == 7
"#;

const SCRIPT: &str = r#"import http from 'k6/http';
import { check } from 'k6';

export default function () {
  http.cookieJar().clear('URL');
  const login = http.post('URL/login', JSON.stringify({ name: 'seven' }),
    { headers: { 'Content-Type': 'application/json' } });
  check(login, {
    'login': (r) => r.status === 200 && r.headers['Content-Type'] === 'application/json',
  });
  const items = http.get('URL/items?token=' + login.json('token'));
  check(items, {
    'items': (r) => r.status === 200 && r.json('items').length === 3 && r.json('items.0.name') === 'one',
  });
  const me = http.get('URL/me');
  check(me, { 'me': (r) => r.status === 200 && r.json('id') === 7 });
}
"#;

/// Runs the scenario by each tool; returns whether each engine met the goal. Without k6 there is
/// nothing to compare with, and the figures alone are printed.
pub(super) fn run(wanted: &Wanted) -> Result<bool, Box<dyn Error>> {
    println!("\nA scenario with a capture, a cookie and checks");
    let tools = tools::scripted();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    let server = Nginx::start(Serves::Shop)?;
    let folder = tempfile::Builder::new().prefix("hakaru-bench-").tempdir()?;
    let url = server.url().trim_end_matches('/');
    fs::write(folder.path().join("flow.hurl"), FLOW)?;
    fs::write(folder.path().join("k6.js"), SCRIPT.replace("URL", url))?;
    let task = Task {
        scenario: Some(folder.path()),
        ..Task::of(url, CONNECTIONS, wanted.block_seconds)
    };
    let runs = rounds(&tools, &task, wanted.rounds)?;
    println!(
        "{CONNECTIONS} connections, {} rounds of {} s",
        wanted.rounds, wanted.block_seconds
    );
    print((&names, K6), &runs);
    let mut met = true;
    for name in names.iter().filter(|name| **name != K6) {
        match ratio((name, K6), &runs, &|run| Some(run.requests_per_cpu_s)) {
            Some(came) => {
                let good = came >= GOAL;
                met &= good;
                println!(
                    "  {} {name} ≥ {GOAL} × k6 a CPU second: {came:.2}",
                    mark(good)
                );
            }
            None => println!("  {name}: there is no k6 to compare with"),
        }
    }
    Ok(met)
}
