//! `hakaru flows from` an access log, beside the load behind the log: the chat behind nginx under
//! the chat's own load, then under the load made of nginx's log.
//!
//! Both are measured by the same observer, nginx: the mix of routes, requests per second, and
//! requests under way. And both runs have to name the same causes first. A machine's pace drifts
//! by more than the limit from one minute to the next, and so does the chat's data: the load, two
//! runs of what was made of it, and the load once more cancel what drifts evenly.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;

use crate::copy::Copy;
use crate::machine;
use crate::options::value;
use crate::program::{done, mariadb_url};

/// Greatest difference of mix, rate and requests under way.
const DIFFERENCE_MAX: f64 = 0.02;
/// Findings compared.
const FINDINGS: usize = 3;

/// What nginx saw of a load.
#[derive(Debug, Default)]
struct Seen {
    /// Requests by route, as named by `hakaru logs`.
    routes: BTreeMap<String, f64>,
    /// Requests per second, while the load sent any.
    rate: f64,
    /// Requests under way, on average, while the load sent any.
    under_way: f64,
}

/// Returns whether the load made of the log is as the first one, and finds the same.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let database = value(arguments, "database", "sqlite".to_owned())?;
    let seconds = value(arguments, "seconds", 20_u32)?;
    let mut chat = Copy::of("chat")?;
    match database.as_str() {
        "sqlite" => {}
        "mariadb" => chat.set("DATABASE_URL", mariadb_url()?),
        other => return Err(format!("the chat is not measured on {other:?}").into()),
    }
    done(chat.command("ruby").arg("seed.rb"))?;
    let back = chat.move_port(&["hakaru.toml"])?;
    behind_nginx(&chat, back)?;
    println!(
        "{} · {} · {database}",
        machine::date(),
        machine::line(&[&["ruby", "-v"]])
    );
    let of_the_load = ["--duration", &format!("{seconds}s")];
    let mut load = vec![measure(&chat, "hakaru.toml", &of_the_load)?];
    fs::rename(
        chat.folder.join("access.log"),
        chat.folder.join("first.log"),
    )?;
    let words = ["flows", "from", "first.log", "--writes"];
    let made = chat.hakaru_command().args(words).output()?;
    print!("{}", String::from_utf8_lossy(&made.stderr));
    let mut flows = Vec::new();
    for _ in 0..2 {
        flows.push(measure(&chat, "hakaru-first.toml", &[])?);
    }
    load.push(measure(&chat, "hakaru.toml", &of_the_load)?);
    println!(
        "requests per second in order: {:.3}, {:.3}, {:.3}, {:.3}",
        load[0].0.rate, flows[0].0.rate, flows[1].0.rate, load[1].0.rate
    );
    let is_alike = compare(&mean(&load), &mean(&flows));
    let mut is_same = true;
    for ((_, first), (_, second)) in load.iter().zip(&flows) {
        let (first, second) = (causes(first), causes(second));
        println!("first findings of the load:    {}", first.join("; "));
        println!("first findings of flows from:  {}", second.join("; "));
        is_same &= first == second;
    }
    Ok(is_alike && is_same)
}

/// What nginx saw of several runs in all.
fn mean(runs: &[(Seen, Value)]) -> Seen {
    let mut all = Seen::default();
    for (seen, _) in runs {
        for (route, requests) in &seen.routes {
            *all.routes.entry(route.clone()).or_default() += requests;
        }
        all.rate += seen.rate / runs.len() as f64;
        all.under_way += seen.under_way / runs.len() as f64;
    }
    all
}

/// Puts an nginx in front of the app, with a log of cookies and bodies.
fn behind_nginx(chat: &Copy, back: u16) -> Result<(), Box<dyn Error>> {
    let front = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let folder = chat.folder.display().to_string();
    fs::write(
        chat.folder.join("nginx.conf"),
        configuration(&folder, front, back),
    )?;
    let config = chat.folder.join("hakaru.toml");
    let text = fs::read_to_string(&config)?;
    let puma = format!("puma -t 5:5 -b tcp://127.0.0.1:{back} config.ru");
    // nginx answers 502 until Puma listens, which would be the first thing it is asked.
    let line = format!(
        "{puma} & until bash -c 'exec 3<>/dev/tcp/127.0.0.1/{back}' 2>/dev/null; do sleep 0.1; done; \
         exec nginx -c {folder}/nginx.conf 2>start.log"
    );
    let url = |port: u16| format!("url = \"http://127.0.0.1:{port}\"");
    let changed = text.replace(&puma, &line).replace(&url(back), &url(front));
    Ok(fs::write(config, changed)?)
}

fn configuration(folder: &str, front: u16, back: u16) -> String {
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("  {kind}_temp_path {folder}/{kind};\n"))
        .collect();
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log {folder}/errors crit;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n{temporary}  client_body_buffer_size 2m;\n  client_max_body_size 4m;\n  keepalive_requests 1000000;\n\
         \x20 log_format whole \"time:$msec\\tmethod:$request_method\\turi:$request_uri\\tstatus:$status\"\n\
         \x20   \"\\tsize:$body_bytes_sent\\treqtime:$request_time\\tcookie:$http_cookie\"\n\
         \x20   \"\\tcontent_type:$content_type\\tbody:$request_body\";\n\
         \x20 access_log {folder}/access.log whole;\n\
         \x20 upstream app {{ server 127.0.0.1:{back}; keepalive 64; }}\n\
         \x20 server {{\n    listen 127.0.0.1:{front};\n    location / {{\n      proxy_pass http://app;\n\
         \x20     proxy_http_version 1.1;\n      proxy_set_header Connection \"\";\n      proxy_set_header Host $http_host;\n\
         \x20   }}\n  }}\n}}\n"
    )
}

/// Runs a configuration; returns what nginx saw of the run, and the run's JSON. There is no
/// warm-up, so that the log holds what the run counted; what another run logged is gone.
fn measure(chat: &Copy, config: &str, more: &[&str]) -> Result<(Seen, Value), Box<dyn Error>> {
    let log = chat.folder.join("access.log");
    if log.exists() {
        fs::remove_file(&log)?;
    }
    let words = ["run", "--config", config, "--warmup", "0s"];
    let words: Vec<String> = words
        .iter()
        .chain(more)
        .map(|word| (*word).to_owned())
        .collect();
    let run = chat.hakaru(&words, &[])?;
    if run["errors"] != 0 {
        return Err(format!("requests failed: {}", run["failures"]).into());
    }
    let routes = chat.hakaru(&["logs".to_owned(), log.display().to_string()], &[])?;
    let seconds = run["load"]["duration_s"].as_f64();
    let seconds = seconds.ok_or("a run without a duration")?;
    Ok((seen(&log, &routes, seconds)?, run))
}

/// Returns what a log says of a load of so many seconds.
fn seen(log: &Path, routes: &Value, seconds: f64) -> Result<Seen, Box<dyn Error>> {
    let text = fs::read_to_string(log)?;
    let field = |line: &str, name: &str| {
        let fields = line.split('\t').filter_map(|field| field.split_once(':'));
        let mut found = fields.filter(|(label, _)| *label == name);
        found.find_map(|(_, value)| value.parse::<f64>().ok())
    };
    let span = |line: &str| {
        let (ended, took) = (field(line, "time")?, field(line, "reqtime")?);
        Some((ended - took, ended))
    };
    let spans: Vec<(f64, f64)> = text.lines().filter_map(span).collect();
    // Not up to the last end: how long what is under way when the load ends still takes, up to two
    // seconds with nothing else sent, differs from run to run.
    let first = spans.iter().map(|(began, _)| *began).reduce(f64::min);
    let last = first.ok_or("a log without requests")? + seconds;
    let busy = spans
        .iter()
        .map(|(began, ended)| (ended.min(last) - began).max(0.0));
    let rows = routes["routes"].as_array().ok_or("a log without routes")?;
    let row = |row: &Value| Some((row["route"].as_str()?.to_owned(), row["requests"].as_f64()?));
    Ok(Seen {
        routes: rows.iter().filter_map(row).collect(),
        rate: spans.len() as f64 / seconds,
        under_way: busy.sum::<f64>() / seconds,
    })
}

/// Prints both, and returns whether the differences are within the limit.
fn compare(before: &Seen, after: &Seen) -> bool {
    let ratio = |name: &str, before: f64, after: f64| {
        let difference = (after / before - 1.0).abs();
        println!(
            "{name:20} {before:10.3} {after:10.3}   {:6.2} %",
            difference * 100.0
        );
        difference
    };
    println!(
        "{:20} {:>10} {:>10}   difference",
        "", "the load", "flows from"
    );
    let rate = ratio("requests per second", before.rate, after.rate);
    let under_way = ratio("requests under way", before.under_way, after.under_way);
    let mix = moved(&before.routes, &after.routes);
    println!(
        "{:20} {:>10} {:>10}   {:6.2} %",
        "mix of routes",
        "",
        "",
        mix * 100.0
    );
    [rate, under_way, mix]
        .iter()
        .all(|difference| *difference <= DIFFERENCE_MAX)
}

/// Returns the part of the requests gone to another route: half the sum of the differences of
/// all shares.
fn moved(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) -> f64 {
    let share = |routes: &BTreeMap<String, f64>, name: &str| {
        routes.get(name).copied().unwrap_or(0.0) / routes.values().sum::<f64>()
    };
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let differences = names
        .iter()
        .map(|name| (share(before, name) - share(after, name)).abs());
    differences.sum::<f64>() / 2.0
}

/// Returns the causes named first: kind and route of each finding.
fn causes(run: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let findings = run["findings"].as_array().into_iter().flatten();
    let named = findings.map(|finding| {
        let (id, route) = (text(&finding["id"]), text(&finding["route"]));
        format!("{id} {route}").trim_end().to_owned()
    });
    named.take(FINDINGS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_differs_by_what_went_elsewhere() {
        let mix = |counts: &[(&str, f64)]| {
            let owned = counts
                .iter()
                .map(|(name, count)| ((*name).to_owned(), *count));
            owned.collect::<BTreeMap<_, _>>()
        };
        let before = mix(&[("a", 90.0), ("b", 10.0)]);
        assert_eq!(moved(&before, &mix(&[("a", 9.0), ("b", 1.0)])), 0.0);
        let after = mix(&[("a", 80.0), ("b", 10.0), ("c", 10.0)]);
        assert!((moved(&before, &after) - 0.1).abs() < 1e-9);
    }

    #[test]
    fn runs_of_a_side_are_taken_together() {
        let of = |rate: f64, requests: f64| {
            let seen = Seen {
                routes: BTreeMap::from([("GET /".to_owned(), requests)]),
                rate,
                under_way: rate / 10.0,
            };
            (seen, Value::Null)
        };
        let all = mean(&[of(10.0, 100.0), of(30.0, 300.0)]);
        assert_eq!((all.rate, all.under_way), (20.0, 2.0));
        assert_eq!(all.routes["GET /"], 400.0);
    }

    #[test]
    fn a_log_shows_rate_and_requests_under_way() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("access.log");
        let lines =
            "time:11.000\treqtime:1.000\ntime:12.000\treqtime:0.500\ntime:19.000\treqtime:7.000\n";
        fs::write(&log, lines).expect("a log");
        let routes = serde_json::json!({ "routes": [{ "route": "GET /", "requests": 2 }] });
        let seen = seen(&log, &routes, 2.0).expect("figures");
        assert_eq!((seen.rate, seen.under_way), (1.5, 0.75));
        // What the last one still took is no part of the load.
        assert_eq!(seen.routes["GET /"], 2.0);
    }
}
