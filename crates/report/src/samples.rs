//! Hand-made runs for the tests.

use breakdown::{Balance, Breakdown, RouteBalance, SqlSummary};
use findings::RuleId;
use findings::{Confidence, Finding, Remedy, Safety};
use recording::{
    AgentProcess, Exchange, Failure, Generator, HostSample, LoadFacts, Meta, Nanos, Outcome,
    ProcessRole, ProcessSample, Recording, RequestId, Score, TargetFacts, TextId, Timestamp,
    Trouble, Window,
};

use crate::View;

/// Asserts the width of a page for every supported width of a terminal.
pub(crate) fn check_widths(page: impl Fn(usize) -> String) {
    for columns in [60, 72, 80, 100, 120] {
        let page = page(columns);
        for line in page.lines() {
            let width = figures::text::width(line);
            assert!(
                width <= columns,
                "{width} columns, not {columns}: {line}\n{page}"
            );
        }
    }
}

/// A run with everything a view borrows.
#[derive(Default)]
pub(crate) struct Sample {
    pub(crate) recording: Recording,
    pub(crate) breakdown: Breakdown,
    pub(crate) findings: Vec<Finding>,
}

impl Sample {
    pub(crate) fn view(&self) -> View<'_> {
        View {
            number: Some(3),
            recording: &self.recording,
            breakdown: &self.breakdown,
            findings: &self.findings,
            revision: Some(crate::Revision {
                commit: "0123456789abcdef",
                dirty: "1 file changed",
            }),
        }
    }

    /// A run of the chat.
    pub(crate) fn chat() -> Sample {
        let message = route("GET /message", 400, balance(40.0));
        let login = route("POST /login", 40, balance(20.0));
        let mut overall = route("all", 440, balance(38.0));
        overall.latency = times(440, 80);
        Sample {
            recording: recording(),
            breakdown: Breakdown {
                overall,
                routes: vec![message, login],
                sql: vec![statement()],
            },
            findings: vec![finding()],
        }
    }
}

fn times(count: usize, ms: u64) -> Vec<Nanos> {
    vec![Nanos(ms * 1_000_000); count]
}

fn balance(mean: f64) -> Balance {
    Balance {
        queue: mean * 0.5,
        receive: mean * 0.02,
        gvl_wait: mean * 0.1,
        sql: mean * 0.25,
        cpu: mean * 0.1,
        cpu_wait: mean * 0.03,
        respond: mean * 0.005,
        gc: mean * 0.005,
        unaccounted: mean * 0.01,
        ..Balance::default()
    }
}

fn route(name: &str, count: usize, balance: Balance) -> RouteBalance {
    let mean = balance.queue * 2.0;
    RouteBalance {
        route: name.to_owned(),
        requests: count as u64,
        answered: count as u64,
        told: count as u64,
        latency: times(count, mean as u64 + 1),
        service: times(count, mean as u64),
        late: times(count, 1),
        seen_mean_ms: mean,
        balance,
        cpu_sampled: 27,
        ..RouteBalance::default()
    }
}

fn statement() -> SqlSummary {
    SqlSummary {
        digest: "SELECT name, display_name, avatar_icon FROM user WHERE id = ?".to_owned(),
        id: TextId(1),
        count: 10_000,
        time_ms: 4_000.0,
        gvl_wait_ms: 100.0,
        rows: 10_000,
        routes: vec![
            ("GET /message".to_owned(), 25.0),
            ("GET /history/:id".to_owned(), 20.0),
        ],
        called_from: vec!["app.rb:120 in get_message".to_owned()],
    }
}

fn finding() -> Finding {
    Finding {
        rule: RuleId::NPlusOne,
        route: "GET /message".to_owned(),
        title: "25 times the same statement in each GET /message (N+1)".into(),
        why: "Each costs a round trip and takes Ruby's lock twice.".into(),
        evidence: vec!["SELECT … FROM user WHERE id = ? from app.rb:120".into()],
        remedy: Remedy {
            text: "Fetch all users of the page with one statement.".into(),
            exact: Some("SELECT … FROM user WHERE id IN (…)".into()),
            safety: Safety::Code,
        },
        estimated_gain: "22% of all time: −9.60 ms of 40.0 ms a request on GET /message".into(),
        gain_share: 0.22,
        gain: None,
        confidence: Confidence::High,
    }
}

fn recording() -> Recording {
    let at = |second: u64| Timestamp::from_monotonic_nanos(second * 1_000_000_000);
    let mut recording = Recording {
        meta: Meta {
            target: TargetFacts {
                command: "puma -t 5:5 config.ru".to_owned(),
                url: "http://127.0.0.1:9292".to_owned(),
                ruby: "ruby 3.3.8".to_owned(),
                server: "puma 6.6.0".to_owned(),
                workers: 1,
                threads: 5,
                database: "sqlite".to_owned(),
                database_pool: None,
            },
            load: LoadFacts {
                connections: 32,
                duration: Nanos(20_000_000_000),
                warmup: Nanos(3_000_000_000),
                ..LoadFacts::default()
            },
            cores: 2,
            same_host: true,
            ..Meta::default()
        },
        window: Window {
            start: at(3),
            end: at(23),
        },
        host: (3..=23)
            .map(|second| host_sample(at(second), second))
            .collect(),
        generator: Generator {
            cpu: Nanos(600_000_000),
            threads: 1,
            unsent: 0,
        },
        agents: vec![AgentProcess {
            gvl: true,
            requests: 440,
            cost: Nanos(484_000),
            ..AgentProcess::default()
        }],
        score: Some(Score {
            points: Some(5233.0),
            lines: vec![],
        }),
        troubles: vec![Trouble {
            what: "the host has 2 cores for app, database and generator together".to_owned(),
            remedy: "compare shares rather than absolute times".to_owned(),
        }],
        ..Recording::default()
    };
    let line = recording.texts.keep("GET /icons/1.png");
    recording.exchanges = exchanges(line);
    recording.failures.push(Failure {
        outcome: Outcome::CheckFailed,
        line,
        place: "flows/read.hurl:12".to_owned(),
        reason: "expected status 200, got 404".to_owned(),
        request: "GET /icons/1.png HTTP/1.1".to_owned(),
        response: "HTTP/1.1 404 Not Found".to_owned(),
        count: 2,
    });
    recording
}

/// Exchanges at 22 per second, each answered 80 ms after the due time, with one refused in each
/// second.
fn exchanges(line: TextId) -> Vec<Exchange> {
    const FIRST_DUE_MS: u64 = 3000;
    let exchange = |index: u64| {
        let at = |ms: u64| Timestamp::from_monotonic_nanos(ms * 1_000_000);
        let due = FIRST_DUE_MS + index * 1000 / 22;
        Exchange {
            id: RequestId(index + 1),
            due: at(due),
            sent: at(due + 1),
            answered: at(due + 80),
            line,
            step: 0,
            connection: 0,
            status: 200,
            outcome: match index % 22 {
                0 => Outcome::CheckFailed,
                _ => Outcome::Ok,
            },
            body_bytes: 10,
        }
    };
    (0..440).map(exchange).collect()
}

fn host_sample(at: Timestamp, second: u64) -> HostSample {
    let process = |pid, role, cpu| ProcessSample {
        pid,
        role,
        name: "x".to_owned(),
        cpu: Nanos(second * cpu),
        rss: 80_000_000,
        ..ProcessSample::default()
    };
    HostSample {
        at,
        cpu_busy: Nanos(second * 1_400_000_000),
        cpu_pressure: Some(Nanos(second * 300_000_000)),
        memory_available: 4_000_000_000,
        processes: vec![
            process(7, ProcessRole::App, 1_100_000_000),
            process(8, ProcessRole::Generator, 40_000_000),
        ],
        ..HostSample::default()
    }
}
