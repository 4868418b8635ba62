//! Compared load generators: command line and parsing of the output.

use std::path::{Path, PathBuf};

/// Our engine on epoll.
pub(crate) const EPOLL: &str = "hakaru epoll";
/// Hakaru's engine on io_uring, where allowed by the kernel.
pub(crate) const URING: &str = "hakaru io_uring";
/// The peer over HTTP/2, and one of the most frugal at one connection; the other is ab.
pub(crate) const H2LOAD: &str = "h2load";
pub(crate) const AB: &str = "ab";
/// No generator: one write and one read for each request, and nothing else.
pub(crate) const BARE: &str = "bare loop";
/// The peer with scripts.
pub(crate) const K6: &str = "k6";

/// What a tool is to do.
pub(crate) struct Task<'a> {
    pub(crate) url: &'a str,
    pub(crate) connections: u32,
    /// Requests at once on each connection, over HTTP/2; `None`: HTTP/1.1.
    pub(crate) streams: Option<u32>,
    pub(crate) seconds: u32,
    /// Threads of hakaru.
    pub(crate) threads: u32,
    /// Folder of the scenario, as `flow.hurl` and `k6.js`; `None`: the URL alone.
    pub(crate) scenario: Option<&'a Path>,
}

impl<'a> Task<'a> {
    /// The URL alone over HTTP/1.1, by one thread.
    pub(crate) fn of(url: &'a str, connections: u32, seconds: u32) -> Task<'a> {
        Task {
            url,
            connections,
            streams: None,
            seconds,
            threads: 1,
            scenario: None,
        }
    }
}

/// What a tool says of itself.
pub(crate) struct Told {
    pub(crate) requests: f64,
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
}

/// A load generator.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) command: fn(&Task<'_>) -> Vec<String>,
    pub(crate) read: fn(&str) -> Option<Told>,
}

/// Compared tools; a new peer adds a line here.
const TOOLS: &[Tool] = &[
    Tool {
        name: EPOLL,
        command: |task| hakaru(task, "epoll"),
        read: read_hakaru,
    },
    Tool {
        name: URING,
        command: |task| hakaru(task, "io_uring"),
        read: read_hakaru,
    },
    Tool {
        name: "wrk",
        command: |Task {
                      url,
                      connections,
                      seconds,
                      ..
                  }| {
            words(&format!(
                "wrk -t1 -c{connections} -d{seconds}s --latency {url}"
            ))
        },
        read: |text| {
            Some(Told {
                requests: before(text, " requests in")?,
                p50_ms: behind(text, "50%").and_then(time_ms),
                p99_ms: behind(text, "99%").and_then(time_ms),
            })
        },
    },
    Tool {
        name: AB,
        command: |Task {
                      url,
                      connections,
                      seconds,
                      ..
                  }| {
            words(&format!(
                "ab -q -k -c {connections} -t {seconds} -n 100000000 {url}"
            ))
        },
        read: |text| {
            Some(Told {
                requests: behind(text, "Complete requests:")?.parse().ok()?,
                p50_ms: behind(text, "50%").and_then(|ms| ms.parse().ok()),
                p99_ms: behind(text, "99%").and_then(|ms| ms.parse().ok()),
            })
        },
    },
    Tool {
        name: "hey",
        command: |Task {
                      url,
                      connections,
                      seconds,
                      ..
                  }| {
            words(&format!("hey -cpus 1 -c {connections} -z {seconds}s {url}"))
        },
        read: |text| {
            let seconds = |text: &str| text.parse::<f64>().ok().map(|seconds| seconds * 1e3);
            Some(Told {
                requests: behind(text, "[200]")?.parse().ok()?,
                p50_ms: behind(text, "50% in").and_then(seconds),
                p99_ms: behind(text, "99% in").and_then(seconds),
            })
        },
    },
    Tool {
        name: "oha",
        command: |Task {
                      url,
                      connections,
                      seconds,
                      ..
                  }| {
            words(&format!(
                "oha --no-tui --output-format json -c {connections} -z {seconds}s {url}"
            ))
        },
        read: read_oha,
    },
    Tool {
        name: H2LOAD,
        command: h2load,
        read: read_h2load,
    },
    Tool {
        name: BARE,
        command: bare,
        read: |text| {
            Some(Told {
                requests: before(text, " requests")?,
                p50_ms: None,
                p99_ms: None,
            })
        },
    },
];

const SCRIPTED: Tool = Tool {
    name: K6,
    command: |Task {
                  connections,
                  seconds,
                  scenario,
                  ..
              }| {
        let folder = scenario.unwrap_or(Path::new("")).display();
        words(&format!(
            "k6 run --quiet --vus {connections} --duration {seconds}s {folder}/k6.js"
        ))
    },
    read: read_k6,
};

/// Returns the installed tools; hakaru always, on each engine allowed by the kernel.
pub(crate) fn installed() -> Vec<&'static Tool> {
    TOOLS.iter().filter(|tool| tool.is_here()).collect()
}

/// Returns hakaru on each engine, and k6 where installed.
pub(crate) fn scripted() -> Vec<&'static Tool> {
    let mut tools = installed();
    tools.retain(|tool| [EPOLL, URING].contains(&tool.name));
    tools.extend(Some(&SCRIPTED).filter(|tool| tool.is_here()));
    tools
}

/// Returns the installed tools with HTTP/2 on one thread.
pub(crate) fn of_http2() -> Vec<&'static Tool> {
    let mut tools = installed();
    tools.retain(|tool| [EPOLL, URING, H2LOAD].contains(&tool.name));
    tools
}

impl Tool {
    fn is_here(&self) -> bool {
        match self.name {
            EPOLL | BARE => true,
            URING => has_uring(),
            name => in_path(name),
        }
    }
}

/// Returns hakaru's engines allowed by the kernel, as typed.
pub(crate) fn engines() -> impl Iterator<Item = &'static str> {
    ["epoll", "io_uring"]
        .into_iter()
        .filter(|engine| *engine == "epoll" || has_uring())
}

fn has_uring() -> bool {
    load::Engine::IoUring.resolve().is_ok()
}

fn in_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Returns the program built beside the running one.
pub(crate) fn program() -> PathBuf {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|own| Some(own.parent()?.join("hakaru")));
    beside.unwrap_or_else(|| "hakaru".into())
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn hakaru(task: &Task<'_>, engine: &str) -> Vec<String> {
    let Task {
        url,
        connections,
        streams,
        seconds,
        threads,
        scenario,
    } = task;
    let mut command = vec![program().display().to_string()];
    command.extend(words(&format!(
        "load {url} --engine {engine} -c {connections} -d {seconds}s --threads {threads} --json"
    )));
    if let Some(folder) = scenario {
        command.extend(words(&format!("--flow {}/flow.hurl", folder.display())));
    }
    if let Some(streams) = streams {
        command.extend(words(&format!("--http2 --streams {streams}")));
    }
    command
}

fn bare(task: &Task<'_>) -> Vec<String> {
    let own = std::env::current_exe().unwrap_or_default();
    let mut command = vec![own.display().to_string()];
    let Task {
        url,
        connections,
        seconds,
        ..
    } = task;
    command.extend(words(&format!(
        "load --bare-client {url} {connections} {seconds}"
    )));
    command
}

fn h2load(task: &Task<'_>) -> Vec<String> {
    let Task {
        url,
        connections,
        streams,
        seconds,
        ..
    } = task;
    let protocol = match streams {
        Some(streams) => format!("-m{streams}"),
        None => "--h1".to_owned(),
    };
    words(&format!(
        "h2load -t1 -c{connections} -D{seconds} {protocol} {url}"
    ))
}

/// Whoever runs for a time prints a count of requests, and no percentiles.
fn read_h2load(text: &str) -> Option<Told> {
    let done = before(text, " succeeded, 0 failed, 0 errored, 0 timeout")?;
    Some(Told {
        requests: done,
        p50_ms: None,
        p99_ms: None,
    })
}

fn read_hakaru(text: &str) -> Option<Told> {
    let json: serde_json::Value = serde_json::from_str(text).ok()?;
    // A run with failures is no run: both sides must have answered well.
    (json["failed"] == 0).then_some(())?;
    Some(Told {
        requests: json["requests"].as_f64()?,
        p50_ms: json["latency_ms"]["p50"].as_f64(),
        p99_ms: json["latency_ms"]["p99"].as_f64(),
    })
}

fn read_oha(text: &str) -> Option<Told> {
    let json: serde_json::Value = serde_json::from_str(text).ok()?;
    let seconds = |value: &serde_json::Value| value.as_f64().map(|seconds| seconds * 1e3);
    Some(Told {
        requests: json["statusCodeDistribution"]["200"].as_f64()?,
        p50_ms: seconds(&json["latencyPercentiles"]["p50"]),
        p99_ms: seconds(&json["latencyPercentiles"]["p99"]),
    })
}

/// A run with failed checks is no run. Before its version 1, k6 printed the share of passed ones.
fn read_k6(text: &str) -> Option<Told> {
    let first = |name: &str| {
        let named = |line: &&str| line.trim_start().starts_with(name);
        let (_, figures) = text.lines().find(named)?.split_once(':')?;
        figures.split_whitespace().next()
    };
    match first("checks_failed") {
        Some(failed) => failed == "0.00%",
        None => first("checks") == Some("100.00%"),
    }
    .then_some(())?;
    Some(Told {
        requests: first("http_reqs")?.parse().ok()?,
        p50_ms: None,
        p99_ms: None,
    })
}

/// The word behind `mark`.
fn behind<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(mark)?;
    rest.split_whitespace().next()
}

/// The number right before `mark`.
fn before(text: &str, mark: &str) -> Option<f64> {
    let (start, _) = text.split_once(mark)?;
    start.split_whitespace().next_back()?.parse().ok()
}

/// wrk's times: `512.00us`, `1.20ms`, `1.01s`.
fn time_ms(text: &str) -> Option<f64> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(split);
    let unit = match unit {
        "us" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_peers_print_is_read() {
        let check = |name: &str, text: &str, expected: (f64, Option<f64>, Option<f64>)| {
            let mut tools = TOOLS.iter().chain([&SCRIPTED]);
            let tool = tools.find(|tool| tool.name == name).expect(name);
            let told = (tool.read)(text).expect(text);
            assert_eq!(
                (told.requests, told.p50_ms, told.p99_ms),
                expected,
                "{name}"
            );
        };
        check(
            "wrk",
            "  Latency Distribution\n     50%  512.00us\n     75%    1.00ms\n     99%    2.50ms\n  54409 requests in 3.03s, 17.49MB read\n",
            (54409.0, Some(0.512), Some(2.5)),
        );
        check(
            "ab",
            "Complete requests:      1234\nFailed requests:        0\n  50%      2\n  99%      9\n",
            (1234.0, Some(2.0), Some(9.0)),
        );
        check(
            "hey",
            "  50% in 0.0012 secs\n  99% in 0.0100 secs\n\nStatus code distribution:\n  [200]\t4321 responses\n",
            (4321.0, Some(1.2), Some(10.0)),
        );
        check(
            EPOLL,
            "{\"requests\": 5, \"failed\": 0, \"latency_ms\": {\"p50\": 1.5, \"p99\": null}}",
            (5.0, Some(1.5), None),
        );
        check(
            "oha",
            "{\"statusCodeDistribution\": {\"200\": 7}, \"latencyPercentiles\": {\"p50\": 0.002, \"p99\": 0.003}}",
            (7.0, Some(2.0), Some(3.0)),
        );
        check(
            K6,
            "  checks_failed......: 0.00% 0 out of 27\n    http_reqs......................: 91 8.9/s\n",
            (91.0, None, None),
        );
        check(
            H2LOAD,
            "requests: 90 total, 91 started, 90 done, 90 succeeded, 0 failed, 0 errored, 0 timeout\nstatus codes: 90 2xx\n",
            (90.0, None, None),
        );
    }
}
