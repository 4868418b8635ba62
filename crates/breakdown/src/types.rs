//! Breakdowns as types.

use recording::{AskedAgain, Nanos, TextId};

/// The balance of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Breakdown {
    /// All measured requests together, with the route `all`.
    pub overall: RouteBalance,
    /// Balances by route, the one with most time in total first.
    pub routes: Vec<RouteBalance>,
    /// SQL statements and outgoing HTTP, the one with most time first.
    pub sql: Vec<SqlSummary>,
}

/// One route's requests in the measured window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RouteBalance {
    /// Such as `GET /channel/:id`.
    pub route: String,
    /// Exchanges due in the window.
    pub requests: u64,
    /// Completely answered requests, the only ones with a balance.
    pub answered: u64,
    /// Failed requests: everything but `Ok`, `CheckFailed` and `Unanswered`.
    pub errors: u64,
    /// Requests not answered by the end of the run: no errors, but with a latency of "at least".
    pub unanswered: u64,
    /// Requests with failed checks.
    pub checks_failed: u64,
    /// Answered requests without a record in the app (a proxy responded, or the agent dropped the
    /// record). In a high-rate load estimated from the answered requests with a number.
    pub unseen: u64,
    /// Answered requests with a record of the app: the base of the balance's means.
    pub told: u64,
    /// Due → answered times, sorted ascending, one entry per request (unanswered ones at the lower
    /// bound) except requests not sent, refused or cut off.
    pub latency: Vec<Nanos>,
    /// Sent → answered, sorted ascending, one entry an answered request.
    pub service: Vec<Nanos>,
    /// Due → sent, sorted ascending.
    pub late: Vec<Nanos>,
    /// Mean sent → answered time of the requests with a record of the app.
    pub seen_mean_ms: f64,
    /// Means in milliseconds per request with a record of the app.
    pub balance: Balance,
    /// Mean thread CPU a request in milliseconds, from the sample; `None` without a sample.
    pub cpu_total_ms: Option<f64>,
    /// Number of requests in the CPU sample.
    pub cpu_sampled: u64,
    /// Mean SQL statements a request.
    pub statements: f64,
    /// Mean objects allocated a request, from the sample.
    pub allocations: f64,
    /// Mean bytes of the body.
    pub body_bytes: f64,
    /// Mean bytes of the body of responses with a status of 2xx: other bodies, such as those of
    /// 304, show nothing of what was read. 0 without any.
    pub shown_bytes: f64,
    /// Bytes of the largest body.
    pub body_bytes_max: u64,
    /// Facts from the heads of successful responses (status 2xx); `None` when none was examined.
    pub answers: Option<Answers>,
}

/// Facts from a sample of the heads of a route's successful responses. Counts are of responses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Sampled responses.
    pub seen: u64,
    /// Distinct request lines of the responses.
    pub lines: u64,
    /// The commonest `Content-Type`; `None` when most had none.
    pub content_type: Option<String>,
    /// The commonest `Content-Encoding`.
    pub content_encoding: Option<String>,
    /// The commonest `Cache-Control`.
    pub cache_control: Option<String>,
    /// Responses with a `Cache-Control` or an `Expires`.
    pub with_cache_control: u64,
    /// Responses with an `ETag`.
    pub with_etag: u64,
    /// Responses with a `Last-Modified`.
    pub with_last_modified: u64,
    /// Responses with a `Set-Cookie`.
    pub with_set_cookie: u64,
    /// After which the server closed the connection unasked.
    pub closed: u64,
    /// Responses to requests with an offer to take a compressed body.
    pub offered_compression: u64,
    /// To requests with a `Cookie` or an `Authorization`.
    pub with_credentials: u64,
    /// Responses to a GET of a URL already requested by another user.
    pub repeated: u64,
    /// Repeated responses with an equal body.
    pub repeated_equal: u64,
    /// Result of requesting the route's URLs after the load; `None` without such requests.
    pub asked_again: Option<RouteAskedAgain>,
}

/// Result of requesting URLs of a route again after the load, by new visitors and by users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteAskedAgain {
    /// Number of requested URLs, each of another line.
    pub urls: u64,
    /// The URL with the least proof: one against a cache shared by all, if there is one.
    pub least: AskedAgain,
}

/// Means in milliseconds per request. `receive` is part of `queue`; the others, with `queue`, are
/// exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    /// Sent → handler starts.
    pub queue: f64,
    /// The part of `queue` until the server had the whole request, where known.
    pub receive: f64,
    /// Ready to run, waiting for the GVL.
    pub gvl_wait: f64,
    /// Garbage collection on the own thread.
    pub gc: f64,
    /// Inside SQL calls, with and without the GVL.
    pub sql: f64,
    /// Inside outgoing HTTP calls, with and without the GVL.
    pub http: f64,
    /// Waiting for a lock.
    pub lock: f64,
    /// In `sleep`.
    pub sleep: f64,
    /// Off the GVL for anything else.
    pub other_io: f64,
    /// Time with the GVL, on a core.
    pub cpu: f64,
    /// Time with the GVL, waiting for a core.
    pub cpu_wait: f64,
    /// Handler ends → last byte.
    pub respond: f64,
    /// Time missed by the events; may be negative.
    pub unaccounted: f64,
}

/// Cost of one statement to the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SqlSummary {
    /// The statement without literals.
    pub digest: String,
    /// Id of the statement in the recording.
    pub id: TextId,
    /// Executions in the measured window.
    pub count: u64,
    /// Time inside the calls.
    pub time_ms: f64,
    /// Time of waiting for the GVL within the statement.
    pub gvl_wait_ms: f64,
    /// Rows returned, if reported by the driver.
    pub rows: u64,
    /// Routes of the statement, with executions per request of the route, most first.
    pub routes: Vec<(String, f64)>,
    /// Source lines issuing the statement, most executions first. Each is up to four frames of the
    /// app, innermost first, such as `app.rb:143 < app.rb:136`; helpers through which many
    /// statements go are left out.
    pub called_from: Vec<String>,
}

impl SqlSummary {
    /// Rows of one execution.
    pub fn rows_each(&self) -> f64 {
        self.rows as f64 / self.count.max(1) as f64
    }

    /// Milliseconds inside one call.
    pub fn each_ms(&self) -> f64 {
        self.time_ms / self.count.max(1) as f64
    }
}
