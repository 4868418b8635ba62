//! `hakaru flows from` an access log, beside the load behind the log: the chat behind nginx under
//! the chat's own load, then under the load made of nginx's log.
//!
//! Both are measured by the same observer, nginx: the mix of routes, requests per second, and
//! requests under way. And both have to name the same causes first. A machine's pace drifts by more
//! than the limit from one minute to the next, and so does the chat's data: in each block the load,
//! two runs of what was made of it, and the load once more cancel what drifts evenly. What counts
//! is the median of the blocks. How far a load differs from its own repetition stands beside.

use std::collections::{BTreeMap, BTreeSet};
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

/// Difference of the second from the first, as a share.
type Difference = fn(&Seen, &Seen) -> f64;

/// Measurements in the order load, flows, flows, load.
struct Block {
    load: [(Seen, Value); 2],
    flows: [(Seen, Value); 2],
}

/// Returns whether the load made of the log is as the first one, and finds the same.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let database = value(arguments, "database", "sqlite".to_owned())?;
    let seconds = value(arguments, "seconds", 20_u32)?;
    let blocks = value(arguments, "blocks", 5_usize)?.max(1);
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
    let first = measure(&chat, "hakaru.toml", &of_the_load)?;
    fs::rename(
        chat.folder.join("access.log"),
        chat.folder.join("first.log"),
    )?;
    let words = ["flows", "from", "first.log", "--writes"];
    let made = chat.hakaru_command().args(words).output()?;
    print!("{}", String::from_utf8_lossy(&made.stderr));
    let load = || measure(&chat, "hakaru.toml", &of_the_load);
    let made = || measure(&chat, "hakaru-first.toml", &[]);
    let mut all = Vec::new();
    let mut begin = Some(first);
    for _ in 0..blocks {
        let begin = begin.take().map_or_else(load, Ok)?;
        let flows = [made()?, made()?];
        let block = Block {
            load: [begin, load()?],
            flows,
        };
        block.print();
        all.push(block);
    }
    let is_alike = compare(&all);
    Ok(has_same_causes(&all) && is_alike)
}

/// What nginx saw of several runs in all.
fn mean<'a>(runs: impl ExactSizeIterator<Item = &'a (Seen, Value)>) -> Seen {
    let count = runs.len() as f64;
    let mut all = Seen::default();
    for (seen, _) in runs {
        for (route, requests) in &seen.routes {
            *all.routes.entry(route.clone()).or_default() += requests;
        }
        all.rate += seen.rate / count;
        all.under_way += seen.under_way / count;
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
    // The log is to hold the load alone.
    let words = [
        "run",
        "--config",
        config,
        "--warmup",
        "0s",
        "--no-ask-again",
    ];
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

impl Block {
    fn print(&self) {
        let ([a, d], [b, c]) = (&self.load, &self.flows);
        println!(
            "requests per second: load {:.2}, flows {:.2}, flows {:.2}, load {:.2}",
            a.0.rate, b.0.rate, c.0.rate, d.0.rate
        );
        for (name, run) in [("load ", a), ("flows", b), ("flows", c), ("load ", d)] {
            println!("  {name} finds {}", named(&run.1).join("; "));
        }
    }

    /// Returns the difference of the flows from the load.
    fn difference(&self, of: Difference) -> f64 {
        of(&mean(self.load.iter()), &mean(self.flows.iter()))
    }

    /// Returns the differences of both repetitions from the first runs.
    fn scatter(&self, of: Difference) -> [f64; 2] {
        [&self.load, &self.flows].map(|[first, second]| of(&first.0, &second.0))
    }
}

/// Prints all differences, and returns whether each is within the limit.
fn compare(blocks: &[Block]) -> bool {
    println!("flows from less the load: median (least to greatest); a repetition differs by");
    let all: [(&str, Difference); 3] = [
        ("requests per second", |a, b| b.rate / a.rate - 1.0),
        ("requests under way", |a, b| b.under_way / a.under_way - 1.0),
        ("mix of routes", |a, b| moved(&a.routes, &b.routes)),
    ];
    let mut is_alike = true;
    for (name, of) in all {
        let differences = blocks.iter().map(|block| block.difference(of));
        let own = blocks.iter().flat_map(|block| block.scatter(of));
        is_alike &= is_within(name, differences.collect(), own.collect());
    }
    is_alike
}

/// Prints differences beside differences of repetitions; returns whether the median is within the
/// limit.
fn is_within(name: &str, mut differences: Vec<f64>, own: Vec<f64>) -> bool {
    differences.sort_by(f64::total_cmp);
    let median = stats::median(&differences).unwrap_or(f64::NAN);
    let own: Vec<f64> = own.into_iter().map(f64::abs).collect();
    println!(
        "{name:20} {:+6.2} % ({:+.2} to {:+.2})   {:6.2} %",
        median * 100.0,
        differences.first().unwrap_or(&f64::NAN) * 100.0,
        differences.last().unwrap_or(&f64::NAN) * 100.0,
        stats::median(&own).unwrap_or(f64::NAN) * 100.0
    );
    median.abs() <= DIFFERENCE_MAX
}

/// Prints the causes that both sides name first over all blocks; returns whether both are the same.
fn has_same_causes(blocks: &[Block]) -> bool {
    let side = |of: fn(&Block) -> &[(Seen, Value); 2]| {
        let runs = blocks.iter().flat_map(of).map(|(_, run)| causes(run));
        usual(&runs.collect::<Vec<_>>())
    };
    let load = side(|block| &block.load);
    let flows = side(|block| &block.flows);
    println!("first findings of the load:    {}", load.join("; "));
    println!("first findings of flows from:  {}", flows.join("; "));
    let is_same =
        |first: &(Seen, Value), second: &(Seen, Value)| named(&first.1) == named(&second.1);
    let pairs = blocks
        .iter()
        .flat_map(|block| block.load.iter().zip(&block.flows));
    let same = pairs.filter(|(load, flows)| is_same(load, flows)).count();
    let own = blocks.iter().flat_map(|block| [&block.load, &block.flows]);
    let own = own.filter(|runs| is_same(&runs[0], &runs[1])).count();
    println!(
        "the same three in the same order: {same} of {} pairs, and {own} of {} repetitions",
        blocks.len() * 2,
        blocks.len() * 2
    );
    load == flows
}

/// Returns the causes with the least median positions. A cause stands behind all others of a run
/// without it.
fn usual(runs: &[Vec<String>]) -> Vec<String> {
    let all: BTreeSet<&String> = runs.iter().flatten().collect();
    let position = |name: &String| {
        let positions: Vec<f64> = runs
            .iter()
            .map(|run| run.iter().position(|one| one == name).unwrap_or(run.len()) as f64)
            .collect();
        stats::median(&positions).unwrap_or(f64::INFINITY)
    };
    let mut ranked: Vec<(f64, &String)> =
        all.into_iter().map(|name| (position(name), name)).collect();
    ranked.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    ranked
        .into_iter()
        .take(FINDINGS)
        .map(|(_, name)| name.clone())
        .collect()
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

/// Returns all causes in order: kind and route of each finding.
fn causes(run: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let findings = run["findings"].as_array().into_iter().flatten();
    let named = findings.map(|finding| {
        let (id, route) = (text(&finding["id"]), text(&finding["route"]));
        format!("{id} {route}").trim_end().to_owned()
    });
    named.collect()
}

/// Returns the causes named first.
fn named(run: &Value) -> Vec<String> {
    let mut all = causes(run);
    all.truncate(FINDINGS);
    all
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
        let all = mean([of(10.0, 100.0), of(30.0, 300.0)].iter());
        assert_eq!((all.rate, all.under_way), (20.0, 2.0));
        assert_eq!(all.routes["GET /"], 400.0);
    }

    #[test]
    fn the_usual_order_is_that_of_median_positions() {
        let run = |names: &str| names.split(' ').map(str::to_owned).collect();
        let runs = [run("a b c d"), run("b a c d"), run("a b d")];
        assert_eq!(usual(&runs), ["a", "b", "c"]);
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
