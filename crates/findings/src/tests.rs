//! Rules on recordings made by hand, through the front door: what a whole run would show.

mod acts;
mod costs;
mod inside;
mod machine;
mod memory;
mod outside;
mod settings;
mod sql;
mod stores;
mod taken;
mod threads;
mod trust;
mod updates;
mod works;
mod worth;

use recording::{
    Access, Act, ActKind, AgentProcess, Burst, BurstKind, Exchange, ExplainedStatement, Failure,
    Handled, HostSample, IndexColumns, LoadMode, Nanos, Outcome, PlanStep, ProcessRole,
    ProcessSample, Recording, RequestId, Setting, SqlUse, TextId, Timestamp, Window,
};

use crate::{Confidence, Facts, Finding, Safety, all};

const MS: u64 = 1_000_000;
const START: u64 = 5_000 * MS;

/// A run of ten seconds, built request by request.
struct Run(Recording);

/// Work of one request inside the app, in milliseconds.
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
    /// A run of one worker with five threads on two cores, 20 clients, and an agent without drops.
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

    /// Gives every request so far an activity, `count` times in `time_ms` altogether.
    fn doing(mut self, kind: ActKind, what: &str, site: &str, count: u32, time_ms: f64) -> Run {
        let act = Act {
            kind,
            what: self.text(what),
            site: self.text(site),
            count,
            time: nanos(time_ms),
        };
        for handled in &mut self.0.handled {
            handled.acts.push(act);
        }
        self
    }

    /// Adds a setting reported by the serving process.
    fn set_to(self, name: &str, value: &str) -> Run {
        self.with(|recording| {
            recording.agents[0].settings.push(Setting {
                name: name.to_owned(),
                value: value.to_owned(),
            });
        })
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
            profile: None,
        });
        for finding in &findings {
            assert!(
                finding.title.to_string().chars().count() <= crate::text::TITLE_CHARS_MAX,
                "{}",
                finding.title
            );
            assert!((0.0..=1.0).contains(&finding.gain_share), "{finding:?}");
            assert!(!finding.evidence.is_empty() && !finding.why.is_empty());
        }
        findings
    }

    /// Asserts the rules with findings, and returns the findings.
    fn check(&self, expected: &[&str]) -> Vec<Finding> {
        let findings = self.findings();
        let rules: Vec<&str> = findings.iter().map(|finding| finding.rule.name()).collect();
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
