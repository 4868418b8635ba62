//! Version 1 of the JSON of a run, key by key. What is unknown is `null`; no key is ever left out.
//! Times are in the unit that ends the name. Keys may be added; none changes its meaning within a
//! version.

mod finding;

use serde::Serialize;

pub use finding::{Finding, Gain, Ratio, Remedy};

/// State of the project at a run.
#[derive(Debug, Serialize)]
pub struct Revision {
    /// The commit; `null` outside of git.
    pub commit: Option<String>,
    /// Uncommitted changes in the words of `git diff --shortstat`; `null` without any.
    pub dirty: Option<String>,
}

/// A run.
#[derive(Debug, Serialize)]
pub struct Run {
    /// Always `hakaru-run`.
    pub format: &'static str,
    /// Always 1.
    pub version: u32,
    /// Number of the run in the store.
    pub number: Option<i64>,
    /// Start, milliseconds since 1970.
    pub started_at_unix_ms: i64,
    /// Reason of an early end.
    pub ended_early: Option<String>,
    /// Commit of the project and uncommitted changes; `null` when no revision was recorded.
    pub revision: Option<Revision>,
    /// The app.
    pub target: Target,
    /// The load.
    pub load: Load,
    /// Points by the scenario's rule; `null` without a rule and when checks failed.
    pub score: Option<f64>,
    /// Requests due in the measured window.
    pub requests: u64,
    /// Requests due in the measured window without a response, or with a server error.
    pub errors: u64,
    /// Requests still open when the run ended: no errors, with a latency of "at least".
    pub unanswered: u64,
    /// Requests answered with a response refused by the flow.
    pub checks_failed: u64,
    /// Requests answered a second.
    pub rps: Option<f64>,
    /// Due → answered.
    pub latency_ms: Latency,
    /// Sent → answered.
    pub service_ms: Latency,
    /// Due → sent.
    pub late_ms: Late,
    /// The dominant cost, and the first fix.
    pub verdict: Verdict,
    /// Percentiles, as many as the samples carry.
    pub latency_curve: Vec<CurvePoint>,
    /// The window second by second.
    pub seconds: Vec<Line<Second>>,
    /// The processes of the run.
    pub processes: Vec<Line<Process>>,
    /// Means of all requests recorded by the app; `null` without any.
    pub balance_ms: Option<Balance>,
    /// Routes, most time in total first.
    pub routes: Vec<Route>,
    /// Statements, most time first.
    pub sql: Vec<Sql>,
    /// Findings to fix, greatest gain first, then doubts about the numbers.
    pub findings: Vec<Finding>,
    /// One example of each kind of failed request.
    pub failures: Vec<Failure>,
    /// The host.
    pub host: Host,
    /// The load generator.
    pub generator: Generator,
    /// The agent.
    pub agent: Agent,
    /// Statements on the trust in the numbers.
    pub how_sure: Vec<Said>,
    /// Errors of the measurement.
    pub troubles: Vec<Trouble>,
    /// Document of `hakaru collect` of the hosts during the load; absent without hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<serde_json::Value>,
}

/// The page's first sentences.
#[derive(Debug, Serialize)]
pub struct Verdict {
    /// Sentence on the dominant cost.
    pub time: String,
    /// Sentence on failed requests; `null` when few or none failed.
    pub failed: Option<String>,
    /// Sentence on the first fix.
    pub fix_first: String,
}

/// A percentile.
#[derive(Debug, Serialize)]
pub struct CurvePoint {
    /// Share of the requests with at most the latency of the point; 1 for the maximum.
    pub share: f64,
    /// Due → answered.
    pub latency_ms: f64,
    /// Sent → answered.
    pub service_ms: Option<f64>,
}

/// Written on one line, however the rest is indented: rows of a long table are read across.
#[derive(Debug)]
pub struct Line<T>(pub T);

impl<T: Serialize> Serialize for Line<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::value::to_raw_value(&self.0)
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

/// A process of the run.
#[derive(Debug, Serialize)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// `app`, `database` or `generator`.
    pub role: &'static str,
    /// Name of the process's command.
    pub name: String,
    /// Number among the workers of a cluster, from 0.
    pub worker: Option<u32>,
    /// Limit of the process's open files and sockets.
    pub fds_limit: Option<u64>,
}

/// A second of a process.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "explained at breakdown::ProcessSecond and in docs/json.md"
)]
pub struct ProcessSecond {
    pub pid: u32,
    pub cpu_cores: f64,
    pub rss_bytes: u64,
    pub pss_bytes: Option<u64>,
    pub threads: u32,
    pub fds: Option<u32>,
    pub gc_count: Option<u64>,
    pub gc_major: Option<u64>,
    pub gc_share: Option<f64>,
    pub heap_live: Option<u64>,
    pub jit_code_bytes: Option<u64>,
    pub jit_share: Option<f64>,
}

/// A second of the window.
#[derive(Debug, Serialize)]
pub struct Second {
    /// Seconds from the start of the window to the start of the second.
    pub at_s: u32,
    /// Requests answered in the second.
    pub answered: u64,
    /// Requests ended in the second with an error.
    pub errors: u64,
    /// Answered requests with a failed check.
    pub checks_failed: u64,
    /// Due → answered, of the answered ones.
    pub latency_ms: Latency,
    /// Threads with a request, on average.
    pub threads_busy: Option<f64>,
    /// Connections waiting for a thread at the end of the second.
    pub backlog: Option<u32>,
    /// Cores busy, used by any process.
    pub cpu_busy_cores: Option<f64>,
    /// Cores taken by the hypervisor.
    pub cpu_steal_cores: Option<f64>,
    /// Share of the time in which some task waited for a core.
    pub cpu_pressure_share: Option<f64>,
    /// Share of the time in which some task waited for I/O.
    pub io_pressure_share: Option<f64>,
    /// Share of the time in which some task waited for memory.
    pub memory_pressure_share: Option<f64>,
    /// Memory available on the host at the end of the second.
    pub memory_available_bytes: Option<u64>,
    /// Memory used by the app's control group at the end of the second.
    pub memory_used_bytes: Option<u64>,
    /// Memory limit of the app's control group.
    pub memory_limit_bytes: Option<u64>,
    /// Bytes received from other hosts.
    pub network_received_bytes: Option<u64>,
    /// Bytes sent to other hosts.
    pub network_sent_bytes: Option<u64>,
    /// Bytes between processes of the host.
    pub loopback_bytes: Option<u64>,
    /// Bytes read from disks.
    pub disk_read_bytes: Option<u64>,
    /// Bytes written to disks.
    pub disk_written_bytes: Option<u64>,
    /// The second of each process.
    pub processes: Vec<ProcessSecond>,
}

/// One statement on the trust in the numbers.
#[derive(Debug, Serialize)]
pub struct Said {
    /// Topic of the statement.
    pub about: String,
    /// A sentence.
    pub says: String,
}

/// The app.
#[derive(Debug, Serialize)]
pub struct Target {
    /// Command line; `null` for an app running already.
    pub command: Option<String>,
    /// Address of the app.
    pub url: String,
    /// Name and version, such as `ruby 3.3.8`.
    pub ruby: Option<String>,
    /// Name and version, such as `puma 6.6.0`.
    pub server: Option<String>,
    /// Processes serving requests.
    pub workers: Option<u32>,
    /// Most threads a worker.
    pub threads: Option<u32>,
    /// Name and version, such as `mariadb 10.11.14`.
    pub database: Option<String>,
}

/// The load.
#[derive(Debug, Serialize)]
pub struct Load {
    /// `closed` or `open`.
    pub mode: &'static str,
    /// Connections.
    pub connections: u32,
    /// Requests due a second, in an open load.
    pub rate: Option<f64>,
    /// Length of the measured part.
    pub duration_s: f64,
}

/// Percentiles; `null` where the samples are too few (p50 needs 2, p90 10, p95 20, p99 100).
#[derive(Debug, Serialize)]
pub struct Latency {
    /// Median.
    pub p50: Option<f64>,
    /// 90 %.
    pub p90: Option<f64>,
    /// 95 %.
    pub p95: Option<f64>,
    /// 99 %.
    pub p99: Option<f64>,
    /// Greatest.
    pub max: Option<f64>,
}

/// Percentiles of lateness, `null` as in [`Latency`].
#[derive(Debug, Serialize)]
pub struct Late {
    /// Median.
    pub p50: Option<f64>,
    /// 99 %.
    pub p99: Option<f64>,
    /// Greatest.
    pub max: Option<f64>,
}

/// A route.
#[derive(Debug, Serialize)]
pub struct Route {
    /// Pattern of the route, such as `GET /channel/:id`.
    pub route: String,
    /// Requests due in the window.
    pub requests: u64,
    /// Requests with an error.
    pub errors: u64,
    /// Requests still open when the run ended.
    pub unanswered: u64,
    /// Requests with a failed check.
    pub checks_failed: u64,
    /// Answered requests without an app-side record.
    pub unseen: u64,
    /// Requests with an app-side record, the base of the balance.
    pub told: u64,
    /// Requests answered per second.
    pub rps: Option<f64>,
    /// Share of all time from sent to answered.
    pub time_share: f64,
    /// For how long a request holds a thread of the server, on average; `null` when the app saw
    /// none.
    pub thread_ms: Option<f64>,
    /// Share of all the time for which routes held threads.
    pub thread_share: Option<f64>,
    /// Due → answered.
    pub latency_ms: Latency,
    /// Means per request recorded by the app; `null` without any.
    pub balance_ms: Option<Balance>,
    /// Mean length of a body.
    pub body_bytes_mean: f64,
    /// Length of the largest body.
    pub body_bytes_max: u64,
    /// Headers of a sample of the route's 2xx responses; `null` when none was sampled.
    pub answers: Option<Answers>,
}

/// Headers of responses. Shares are of `seen`.
#[derive(Debug, Serialize)]
pub struct Answers {
    /// Sampled responses.
    pub seen: u64,
    /// The commonest `Content-Type`.
    pub content_type: Option<String>,
    /// The commonest `Content-Encoding`.
    pub content_encoding: Option<String>,
    /// The commonest `Cache-Control`.
    pub cache_control: Option<String>,
    /// Share with a `Cache-Control` or an `Expires`.
    pub cache_control_share: f64,
    /// Share with an `ETag`.
    pub etag_share: f64,
    /// Share with a `Last-Modified`.
    pub last_modified_share: f64,
    /// Share with a `Set-Cookie`.
    pub set_cookie_share: f64,
    /// After which the server closed the connection unasked.
    pub closed_share: f64,
    /// Responses to a URL already requested by another user.
    pub repeated: u64,
    /// Share of the repeated responses with the same body; `null` without any.
    pub repeated_equal_share: Option<f64>,
    /// Result of requesting the route's pages again after the load; `null` without such requests.
    pub asked_again: Option<AskedAgain>,
}

/// Result of requesting pages again after the load.
#[derive(Debug, Serialize)]
pub struct AskedAgain {
    /// Requested URLs.
    pub urls: u64,
    /// Visitors without a session.
    pub visitors: u32,
    /// Users with sessions of the load.
    pub sessions: u32,
    /// Time between the first requests and the last.
    pub apart_ms: f64,
    /// `same`, or the reason against a cache shared by all.
    pub sameness: &'static str,
}

/// The balance. `receive` is part of `queue`; all others add up to the mean from sent to answered.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "the words of the glossary, explained at breakdown::Balance"
)]
pub struct Balance {
    pub queue: f64,
    pub receive: f64,
    pub gvl_wait: f64,
    pub gc: f64,
    pub sql: f64,
    pub http: f64,
    pub lock: f64,
    pub sleep: f64,
    pub other_io: f64,
    pub cpu: f64,
    pub cpu_wait: f64,
    pub respond: f64,
    pub unaccounted: f64,
}

/// A statement.
#[derive(Debug, Serialize)]
pub struct Sql {
    /// Statement without literals.
    pub digest: String,
    /// Executions in the window.
    pub count: u64,
    /// Time inside the calls, all together.
    pub time_ms: f64,
    /// Rows returned, where the driver reports rows.
    pub rows: u64,
    /// Routes issuing the statement, most executions per request first.
    pub routes: Vec<SqlRoute>,
    /// Source lines issuing the statement, most executions first; each up to four frames, innermost
    /// first.
    pub called_from: Vec<String>,
}

/// Executions of a statement on a route.
#[derive(Debug, Serialize)]
pub struct SqlRoute {
    /// The route.
    pub route: String,
    /// Executions of the statement per request of the route.
    pub per_request: f64,
}

/// A kind of failed request.
#[derive(Debug, Serialize)]
pub struct Failure {
    /// Outcome of the requests.
    pub outcome: &'static str,
    /// Method and path.
    pub line: String,
    /// File and line of the flow.
    pub place: String,
    /// Expectation and actual value.
    pub reason: String,
    /// Head of the request.
    pub request: String,
    /// Head and first bytes of the answer.
    pub response: String,
    /// Number of the failed requests.
    pub count: u64,
}

/// The host in the measured window.
#[derive(Debug, Serialize)]
pub struct Host {
    /// Cores the run may use.
    pub cores: u32,
    /// Whether app and generator share the host.
    pub same_host: bool,
    /// Cores busy on average.
    pub cpu_busy_cores: Option<f64>,
    /// Cores stolen by the hypervisor on average.
    pub cpu_steal_cores: Option<f64>,
    /// Share of the seconds with cores slower than in the fastest quarter of all seconds.
    pub cores_slow_share: Option<f64>,
    /// Time of the probe in the slow seconds, as a multiple of the fastest quarter's.
    pub cores_slower: Option<f64>,
    /// Mean duration of the calibration probe, microseconds.
    pub core_pace_us: Option<f64>,
    /// Share of the time in which some task waited for a core.
    pub cpu_pressure_share: Option<f64>,
    /// Share of the time in which some task waited for I/O.
    pub io_pressure_share: Option<f64>,
    /// Least memory available.
    pub memory_available_bytes_min: Option<u64>,
    /// CPU and memory by role.
    pub processes: Vec<RoleUse>,
}

/// The processes of one role.
#[derive(Debug, Serialize)]
pub struct RoleUse {
    /// `app`, `database` or `generator`.
    pub role: &'static str,
    /// Cores used on average.
    pub cpu_cores: f64,
    /// Greatest resident memory.
    pub rss_bytes_max: u64,
}

/// The load generator.
#[derive(Debug, Serialize)]
pub struct Generator {
    /// CPU time of the generator's threads as a share of the time available.
    pub cpu_share: Option<f64>,
    /// 99 % of due → sent.
    pub late_ms_p99: Option<f64>,
    /// Requests due and never sent.
    pub unsent: u64,
}

/// The agent.
#[derive(Debug, Serialize)]
pub struct Agent {
    /// CPU time per recorded request, by the agent's own estimate; `null` without the agent.
    pub cpu_us_per_request: Option<f64>,
    /// Records lost; `null` without the agent.
    pub dropped: Option<u64>,
}

/// An error of the measurement.
#[derive(Debug, Serialize)]
pub struct Trouble {
    /// Description of the error.
    pub what: String,
    /// Remedy to try next.
    pub remedy: String,
}
