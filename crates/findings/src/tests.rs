//! Rules on recordings made by hand, through the front door: what a whole run would show.

use recording::{
    Access, AgentProcess, Burst, BurstKind, Exchange, ExplainedStatement, Failure, Handled,
    HostSample, IndexColumns, LoadMode, Nanos, Outcome, PlanStep, ProcessRole, ProcessSample,
    Recording, RequestId, SqlUse, TextId, Timestamp, Window,
};

use crate::{Confidence, Facts, Finding, Safety, all};

const MS: u64 = 1_000_000;
const START: u64 = 5_000 * MS;

/// A run of ten seconds, built request by request.
struct Run(Recording);

/// What one request does inside the app, in milliseconds.
#[derive(Clone, Copy, Default)]
struct Work {
    queue: f64,
    running: f64,
    sql: f64,
    sleep: f64,
    gvl_wait: f64,
}

fn nanos(ms: f64) -> Nanos {
    Nanos((ms * MS as f64) as u64)
}

impl Run {
    /// One worker of five threads on two cores, 20 clients, and an agent that lost nothing.
    fn new() -> Run {
        let mut recording = Recording {
            window: Window {
                start: Timestamp::from_monotonic_nanos(START),
                end: Timestamp::from_monotonic_nanos(START + 10_000 * MS),
            },
            ..Recording::default()
        };
        recording.meta.same_host = true;
        recording.meta.cores = 2;
        recording.meta.load.connections = 20;
        recording.meta.target.workers = 1;
        recording.meta.target.threads = 5;
        recording.meta.target.database = "sqlite".to_owned();
        recording.generator.threads = 1;
        recording.agents.push(AgentProcess {
            gvl: true,
            requests: 1,
            ..AgentProcess::default()
        });
        Run(recording)
    }

    fn text(&mut self, text: &str) -> TextId {
        self.0.texts.keep(text)
    }

    /// `count` requests, evenly spread over the window.
    fn requests(mut self, line: &str, count: u64, work: Work) -> Run {
        let line = self.text(line);
        for index in 0..count {
            let due = START + index * 9_000 * MS / count;
            self.request(line, Timestamp::from_monotonic_nanos(due), work);
        }
        self
    }

    fn request(&mut self, line: TextId, due: Timestamp, work: Work) {
        let id = RequestId(self.0.exchanges.len() as u64 + 1);
        let start = due + nanos(work.queue);
        let inside = work.running + work.sql + work.sleep + work.gvl_wait;
        let end = start + nanos(inside);
        let mut handled = Handled {
            id,
            start,
            end,
            status: 200,
            ..Handled::default()
        };
        handled.parts.running = nanos(work.running);
        handled.parts.sql_waiting = nanos(work.sql);
        handled.parts.sleep = nanos(work.sleep);
        handled.parts.gvl_wait = nanos(work.gvl_wait);
        let kinds = [
            (BurstKind::Running, work.running),
            (BurstKind::Sql, work.sql),
            (BurstKind::Sleep, work.sleep),
        ];
        handled.bursts = kinds
            .into_iter()
            .filter(|(_, length)| *length > 0.0)
            .map(|(kind, length)| Burst {
                kind,
                length: nanos(length),
            })
            .collect();
        self.0.handled.push(handled);
        self.0.exchanges.push(Exchange {
            id,
            due,
            sent: due,
            answered: end + nanos(0.1),
            line,
            step: 0,
            connection: 0,
            status: 200,
            outcome: Outcome::Ok,
            body_bytes: 0,
        });
    }

    /// Every request so far issues `digest` so often, in so many milliseconds altogether.
    fn issuing(mut self, digest: &str, site: &str, count: u32, time_ms: f64) -> Run {
        let used = SqlUse {
            digest: self.text(digest),
            site: self.text(site),
            count,
            rows: u64::from(count),
            time: nanos(time_ms),
            gvl_wait: Nanos::ZERO,
        };
        for handled in &mut self.0.handled {
            handled.sql.push(used);
        }
        self
    }

    fn explained(mut self, digest: &str, steps: Vec<PlanStep>) -> Run {
        let digest = self.text(digest);
        self.0.explained.push(ExplainedStatement { digest, steps });
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Recording)) -> Run {
        change(&mut self.0);
        self
    }

    fn findings(&self) -> Vec<Finding> {
        let breakdown = breakdown::of(&self.0);
        let findings = all(Facts {
            recording: &self.0,
            breakdown: &breakdown,
        });
        for finding in &findings {
            assert!(finding.title.chars().count() <= 90, "{}", finding.title);
            assert!((0.0..=1.0).contains(&finding.gain_share), "{finding:?}");
            assert!(!finding.evidence.is_empty() && !finding.why.is_empty());
        }
        findings
    }

    /// The rules that spoke.
    fn check(&self, expected: &[&str]) -> Vec<Finding> {
        let findings = self.findings();
        let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, expected, "{findings:#?}");
        findings
    }
}

/// 20 clients, no wait worth a word: 1,000 requests of 4 ms in ten seconds.
fn healthy() -> Run {
    let work = Work {
        queue: 0.1,
        running: 1.0,
        sql: 3.0,
        ..Work::default()
    };
    Run::new().requests("GET /channel/12", 1_000, work)
}

fn full_scan(table: &str, columns: &[&str]) -> PlanStep {
    PlanStep {
        table: table.to_owned(),
        access: Access::FullScan,
        rows: 0,
        table_rows: 10_000,
        sorts: false,
        indexes: vec![IndexColumns {
            name: "PRIMARY".to_owned(),
            columns: vec!["id".to_owned()],
        }],
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
    }
}

const MESSAGE: [&str; 5] = ["id", "channel_id", "user_id", "content", "created_at"];

#[test]
fn healthy_runs_have_no_findings() {
    healthy().check(&[]);
    let count = "SELECT COUNT(*) FROM message WHERE channel_id = ?";
    healthy().issuing(count, "app.rb:1 in x", 4, 2.0).check(&[]);
    let mut indexed = full_scan("message", &MESSAGE);
    indexed.access = Access::Index("by_channel".to_owned());
    indexed.indexes.push(IndexColumns {
        name: "by_channel".to_owned(),
        columns: vec!["channel_id".to_owned()],
    });
    healthy()
        .issuing(count, "app.rb:1 in x", 1, 2.0)
        .explained(count, vec![indexed])
        .check(&[]);
}

#[test]
fn nothing_measured_is_said_to_be_too_little() {
    let recording = Recording::default();
    let breakdown = breakdown::of(&recording);
    let findings = all(Facts {
        recording: &recording,
        breakdown: &breakdown,
    });
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].rule, "few-samples");
}

#[test]
fn repeated_statements_are_found() {
    let run = healthy().issuing(
        "SELECT name, avatar_icon FROM user WHERE id = ?",
        "app.rb:131 in block in get_message",
        100,
        2.0,
    );
    let findings = run.check(&["n-plus-one"]);
    let finding = &findings[0];
    assert_eq!(
        finding.title,
        "N+1 on GET /channel/:id: 100 × SELECT … FROM user at app.rb:131"
    );
    assert_eq!(finding.confidence, Confidence::High);
    assert_eq!(
        finding.remedy.exact.as_deref(),
        Some("SELECT name, avatar_icon FROM user WHERE id IN (?)")
    );
    // 1.98 of 4.2 ms.
    assert!((finding.gain_share - 1.98 / 4.2).abs() < 0.01);
    assert!(
        finding
            .evidence
            .iter()
            .any(|line| line.contains("get_message"))
    );
}

#[test]
fn transactions_and_outgoing_http_are_no_n_plus_one() {
    healthy()
        .issuing("BEGIN", "app.rb:1", 9, 0.1)
        .issuing("HTTP GET example.com", "app.rb:2", 9, 1.0)
        .check(&[]);
}

#[test]
fn missing_indexes_merge_into_one() {
    let count = "SELECT COUNT(*) as cnt FROM message WHERE channel_id = ?";
    let page = "SELECT * FROM message WHERE channel_id = ? ORDER BY id DESC LIMIT ? OFFSET ?";
    let run = healthy()
        .issuing(count, "app.rb:200 in get_fetch", 1, 1.0)
        .issuing(page, "app.rb:300 in get_history", 1, 1.0)
        .explained(count, vec![full_scan("message", &MESSAGE)])
        .explained(page, vec![full_scan("message", &MESSAGE)]);
    let findings = run.check(&["missing-index"]);
    assert_eq!(
        findings[0].remedy.exact.as_deref(),
        Some("CREATE INDEX message_channel_id_id ON message (channel_id, id)")
    );
    assert!(findings[0].title.contains("message (channel_id, id)"));
    assert_eq!(findings[0].route, "GET /channel/:id");
    let on_postgres = run.with(|r| r.meta.target.database = "postgresql 15.1".to_owned());
    let exact = on_postgres.findings()[0].remedy.exact.clone();
    assert!(
        exact
            .unwrap()
            .starts_with("CREATE INDEX CONCURRENTLY message_channel_id_id ON")
    );
}

#[test]
fn ranges_over_the_primary_key_do_not_hide_it() {
    let page = "SELECT * FROM message WHERE id > ? AND channel_id = ? ORDER BY id DESC LIMIT ?";
    let mut step = full_scan("message", &MESSAGE);
    step.access = Access::PrimaryKey;
    let found = healthy()
        .issuing(page, "app.rb:1", 1, 1.0)
        .explained(page, vec![step.clone()])
        .check(&["missing-index"]);
    assert_eq!(found[0].confidence, Confidence::Medium);
    // By primary key alone is as it should be.
    let by_id = "SELECT * FROM message WHERE id = ? AND channel_id = ?";
    healthy()
        .issuing(by_id, "app.rb:1", 1, 1.0)
        .explained(by_id, vec![step])
        .check(&[]);
}

#[test]
fn joins_want_the_second_tables_column() {
    let join =
        "SELECT m.content FROM channel c JOIN message m ON m.channel_id = c.id WHERE c.name = ?";
    let mut first = full_scan("channel", &["id", "name"]);
    first.indexes.push(IndexColumns {
        name: "by_name".to_owned(),
        columns: vec!["name".to_owned()],
    });
    first.access = Access::Index("by_name".to_owned());
    let found = healthy()
        .issuing(join, "app.rb:1", 1, 1.0)
        .explained(join, vec![first, full_scan("message", &MESSAGE)])
        .check(&["missing-index"]);
    assert!(
        found[0].title.contains("message (channel_id)"),
        "{}",
        found[0].title
    );
}

#[test]
fn small_tables_and_unclear_statements_want_no_index() {
    let small = "SELECT * FROM message WHERE channel_id = ?";
    let mut step = full_scan("message", &MESSAGE);
    step.table_rows = 99;
    healthy()
        .issuing(small, "a", 1, 1.0)
        .explained(small, vec![step])
        .check(&[]);
    for digest in [
        "SELECT * FROM message WHERE channel_id = ? OR user_id = ?",
        "SELECT * FROM message ORDER BY created_at DESC",
        "SELECT * FROM message WHERE lower(content) = ?",
        "SELECT * FROM message WHERE nowhere = ?",
        "SELECT * FROM message",
        "SELECT * FROM message a JOIN message b ON a.id = b.id WHERE a.channel_id = ?",
    ] {
        healthy()
            .issuing(digest, "a", 1, 1.0)
            .explained(digest, vec![full_scan("message", &MESSAGE)])
            .check(&[]);
    }
}

#[test]
fn keywords_are_quoted_in_remedies() {
    let digest = "SELECT * FROM `user` WHERE `key` = ?";
    let found = healthy()
        .with(|r| r.meta.target.database = "mariadb 10.11".to_owned())
        .issuing(digest, "a", 1, 1.0)
        .explained(digest, vec![full_scan("user", &["id", "key"])])
        .check(&["missing-index"]);
    let exact = found[0].remedy.exact.as_deref();
    assert_eq!(exact, Some("CREATE INDEX user_key ON `user` (`key`)"));
}

/// Five threads that sleep a second each serve five requests a second.
#[test]
fn sleepers_exhaust_the_threads() {
    let fetch = Work {
        queue: 1_500.0,
        running: 2.0,
        sleep: 1_000.0,
        ..Work::default()
    };
    let other = Work {
        queue: 1_500.0,
        running: 2.0,
        sql: 2.0,
        ..Work::default()
    };
    let run = Run::new()
        .requests("GET /fetch", 50, fetch)
        .requests("GET /message", 350, other);
    let findings = run.check(&["threads"]);
    let finding = &findings[0];
    assert!(
        finding
            .title
            .starts_with("5 threads are exhausted: requests queue 1500 ms;")
    );
    assert_eq!(finding.route, "GET /fetch");
    assert!(
        finding.evidence[0].contains("in sleep"),
        "{:?}",
        finding.evidence
    );
    assert_eq!(finding.remedy.safety, Safety::Careful);
    let threads: u32 = finding.remedy.exact.as_deref().unwrap()[3..]
        .split(':')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((10..=20).contains(&threads), "{threads}");
    // The pool bounds it.
    let pooled = run
        .with(|r| r.meta.target.database_pool = Some(8))
        .findings();
    assert_eq!(pooled[0].remedy.exact.as_deref(), Some("-t 8:8"));
}

/// C = 3 ms, Z = 7 ms: three threads reach 90 % of what any number can.
#[test]
fn gvl_bound_apps_want_fewer_threads() {
    let work = Work {
        queue: 20.0,
        running: 3.0,
        sql: 7.0,
        gvl_wait: 35.0,
        ..Work::default()
    };
    let run = Run::new()
        .with(|r| r.meta.target.threads = 15)
        .requests("GET /", 3_300, work);
    let findings = run.check(&["threads"]);
    assert!(
        findings[0]
            .title
            .starts_with("15 threads are too many: requests wait 35.0 ms")
    );
    assert!(matches!(
        findings[0].remedy.exact.as_deref(),
        Some("-t 3:3" | "-t 4:4")
    ));
    assert!(
        findings[0]
            .evidence
            .iter()
            .any(|line| line.contains("(recommended)"))
    );
}

#[test]
fn a_replay_that_does_not_fit_says_nothing() {
    let work = Work {
        queue: 1_000.0,
        running: 1.0,
        sleep: 10.0,
        ..Work::default()
    };
    Run::new().requests("GET /", 400, work).check(&[]);
}

#[test]
fn failures_come_with_their_exchange() {
    let mut run = healthy();
    let line = run.text("GET /channel/12");
    let run = run.with(|r| {
        r.failures.push(Failure {
            outcome: Outcome::CheckFailed,
            line,
            place: "flows/read.hurl:12".to_owned(),
            reason: "expected 20 messages, got 19".to_owned(),
            request: "GET /channel/12\nAccept: */*".to_owned(),
            response: "HTTP/1.1 200 OK\n\n[]".to_owned(),
            count: 10,
        });
    });
    let findings = run.check(&["errors"]);
    assert_eq!(
        findings[0].title,
        "10 × check failed: GET /channel/:id (flows/read.hurl:12)"
    );
    assert!((findings[0].gain_share - 0.01).abs() < 1e-9);
    assert!(
        findings[0]
            .evidence
            .contains(&"answer: HTTP/1.1 200 OK".to_owned())
    );
}

#[test]
fn a_busy_generator_is_said() {
    healthy()
        .with(|r| r.generator.cpu = nanos(9_000.0))
        .check(&["generator-busy"]);
    healthy()
        .with(|r| r.generator.cpu = nanos(7_000.0))
        .check(&[]);
    healthy()
        .with(|r| r.generator.unsent = 3)
        .check(&["generator-busy"]);
    let late = healthy().with(|r| {
        r.meta.load.mode = LoadMode::Open;
        for exchange in &mut r.exchanges {
            exchange.due = Timestamp::from_monotonic_nanos(
                exchange.sent.monotonic_nanos().max(START + 3 * MS) - 3 * MS,
            );
        }
    });
    late.check(&["generator-busy"]);
}

/// Ten seconds on two cores, from idle counters to those given, in milliseconds.
fn host(busy: f64, steal: f64, app: f64, generator: f64) -> Vec<HostSample> {
    let sample = |at: u64, share: f64| HostSample {
        at: Timestamp::from_monotonic_nanos(START + at * MS),
        cpu_busy: nanos(busy * share),
        cpu_steal: nanos(steal * share),
        processes: [
            (1, ProcessRole::App, app),
            (2, ProcessRole::Generator, generator),
        ]
        .into_iter()
        .map(|(pid, role, cpu)| ProcessSample {
            pid,
            role,
            name: String::new(),
            cpu: nanos(cpu * share),
            rss: 0,
        })
        .collect(),
        ..HostSample::default()
    };
    vec![sample(0, 0.0), sample(5_000, 0.5), sample(9_999, 1.0)]
}

#[test]
fn a_busy_host_is_said() {
    let check = |host: Vec<HostSample>, expected: &[&str]| {
        healthy().with(|r| r.host = host).check(expected);
    };
    check(host(12_000.0, 0.0, 9_000.0, 2_500.0), &[]);
    check(host(16_000.0, 0.0, 9_000.0, 2_500.0), &["host-busy"]);
    check(host(12_000.0, 800.0, 9_000.0, 2_500.0), &["host-busy"]);
    check(host(19_800.0, 0.0, 14_000.0, 5_500.0), &["host-busy"]);
    check(host(19_800.0, 0.0, 19_000.0, 600.0), &[]);
    check(host(80_000.0, 0.0, 9_000.0, 2_500.0), &[]);
    check(Vec::new(), &[]);
}

#[test]
fn few_samples_are_said() {
    let work = Work {
        running: 1.0,
        ..Work::default()
    };
    Run::new()
        .requests("GET /", 367, work)
        .check(&["few-samples"]);
    Run::new().requests("GET /", 368, work).check(&[]);
}

#[test]
fn changing_runs_are_said() {
    let run = |length: fn(u64) -> f64| {
        let mut run = Run::new();
        let line = run.text("GET /");
        for index in 0..1_000 {
            let due = START + index * 10 * MS;
            let work = Work {
                running: length(index / 100),
                ..Work::default()
            };
            run.request(line, Timestamp::from_monotonic_nanos(due), work);
        }
        run
    };
    run(|second| 10.0 - second as f64 * 0.8).check(&["warming-up"]);
    run(|second| 2.0 + second as f64).check(&["drifting"]);
    run(|second| 5.0 + (second % 3) as f64).check(&[]);
    run(|second| if second == 0 { 50.0 } else { 5.0 }).check(&[]);
}

#[test]
fn a_blind_agent_is_said() {
    healthy()
        .with(|r| r.handled.clear())
        .check(&["agent-missing"]);
    healthy()
        .with(|r| r.agents[0].dropped = 1)
        .check(&["agent-dropped"]);
    healthy()
        .with(|r| r.agents[0].gvl = false)
        .check(&["agent-no-gvl"]);
    healthy()
        .with(|r| r.handled.truncate(900))
        .check(&["agent-missing"]);
    healthy().with(|r| r.handled.truncate(990)).check(&[]);
}

#[test]
fn the_greatest_gain_comes_first() {
    let findings = healthy()
        .issuing("SELECT a FROM small WHERE id = ?", "app.rb:1", 10, 0.5)
        .issuing("SELECT a FROM large WHERE id = ?", "app.rb:2", 10, 2.0)
        .check(&["n-plus-one", "n-plus-one"]);
    assert!(findings[0].title.contains("large"));
}
