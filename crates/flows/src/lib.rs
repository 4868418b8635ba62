//! Records of traffic in (access logs, runs, `.har` files of browsers, copied `curl` lines) and
//! OpenAPI descriptions, flows with weights and a plan of load out.
//!
//! What is written is for people to read and mend. Secrets never stand in a flow, and what cannot
//! be taken over is listed with its place ([`LeftOut`]). No file is opened here.
//!
//! Start reading at [`Taken`], then [`of_log`], [`of_run`], [`of_har`], [`of_curl`],
//! [`of_openapi`].

mod browser;
mod call;
mod config;
mod correlate;
mod curl;
mod har;
mod json;
mod log;
mod multipart;
mod openapi;
mod plan;
mod query;
mod replay;
mod run;
mod secret;

use call::Call;
pub use config::config;
pub use curl::of_curl;
pub use har::of_har;
pub use log::{Wish, of_log};
pub use openapi::of_openapi;
pub use plan::Plan;
pub use run::of_run;
use secret::Secrets;

/// Reads a text as flows; the flag says whether flows changing data are on.
///
/// # Errors
/// What is wrong with the text, and where.
pub type Read = fn(&str, bool) -> Result<Taken, String>;

/// Returns the reader of a record, by the first bytes: a `.har` file, copied `curl` lines or an
/// OpenAPI description. `None` for anything else, an access log among it.
pub fn kind_of(head: &str) -> Option<Read> {
    let head = head.trim_start_matches('\u{feff}').trim_start();
    // A line that is a whole object is one of a log, unless it holds a record of a browser.
    let first = head.lines().next()?;
    let line = serde_json::from_str::<serde_json::Value>(first);
    let is_har = match line {
        Ok(object) => object["log"].is_object(),
        Err(_) => head.starts_with('{') && head.contains("\"log\""),
    };
    if is_har {
        return Some(of_har);
    }
    let is_openapi = |line: &str| {
        let line = line.trim_start_matches(['{', ' ', '\t', '"', '\'']);
        line.starts_with("openapi\"")
            || line.starts_with("openapi:")
            || line.starts_with("openapi'")
    };
    if head.lines().any(is_openapi) || head.contains("\"openapi\":") {
        return Some(of_openapi);
    }
    head.lines()
        .any(|line| line.trim_start().starts_with("curl "))
        .then_some(of_curl as Read)
}

/// Returns a text as the name of a file: lower-case letters, digits and `-`; empty for a text
/// without letters and digits.
pub fn name_of(text: &str) -> String {
    call::name_of(text, '-')
}

/// What was made of a record of traffic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taken {
    /// In the order of the record, or with most requests first.
    pub flows: Vec<Flow>,
    /// How hard to load, as the record was.
    pub plan: Plan,
    /// The due time and the flow of each request as CSV, for a file named by [`Plan::arrivals`].
    pub arrivals: Option<String>,
    /// The flow of each request as CSV, for a file named by [`Plan::order`]; of a closed load.
    pub order: Option<String>,
    /// Scheme, host and port of the requests, where recorded.
    pub origin: Option<String>,
    /// What could not be taken over.
    pub left_out: Vec<LeftOut>,
}

impl Taken {
    /// Names the file of due times, or of the order, in the plan; returns the file's name in
    /// `folder`, and the text. `None` for flows that take turns by weight.
    pub fn name_turns(&mut self, folder: &str) -> Option<(&'static str, &str)> {
        let (name, text, known) = match (&self.arrivals, &self.order) {
            (Some(text), _) => ("arrivals.csv", text, &mut self.plan.arrivals),
            (None, Some(text)) => ("order.csv", text, &mut self.plan.order),
            (None, None) => return None,
        };
        *known = Some(format!("{folder}/{name}"));
        Some((name, text))
    }
}

/// One file of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Name of the file, without folder and extension.
    pub name: String,
    /// In Hurl's format.
    pub text: String,
    /// Rows of variables as CSV, for a file of the same name.
    pub feed: Option<String>,
    /// How often the flow is run, in proportion to the others.
    pub weight: u64,
    /// Whether the feed holds secrets, so only the owner may read the file.
    pub has_secrets: bool,
    /// Whether the plan runs the flow; `false` for one changing data, unless asked for.
    pub is_on: bool,
}

/// Something not taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Place in the record, such as `line 17` or `entry 3`.
    pub place: String,
    /// Description and reason.
    pub why: String,
}

impl Taken {
    /// Adds the calls of one user as one flow, which is run by one user at a time.
    fn add_walk(&mut self, name: &str, calls: &[Call], secrets: &Secrets) {
        let texts: Vec<String> = calls.iter().map(Call::print).collect();
        let feed = secrets.feed();
        self.plan = Plan::of_one_user();
        self.flows.push(Flow {
            name: name.to_owned(),
            text: texts.join("\n"),
            has_secrets: feed.is_some(),
            feed,
            weight: 1,
            is_on: true,
        });
    }

    /// Checks a request's origin against the first one's; other origins are no part of the flow.
    ///
    /// # Errors
    /// A sentence that names both.
    fn expect_origin(&mut self, origin: &str) -> Result<(), String> {
        let first = self.origin.get_or_insert_with(|| origin.to_owned());
        match first == origin {
            true => Ok(()),
            false => Err(format!(
                "{origin} is another host than {first}, and a flow has one"
            )),
        }
    }

    /// Turns off a call changing data, and lists the call; `writes` leaves all calls on.
    fn turn_off(&mut self, call: &mut Call, writes: bool, place: &str) {
        call.is_off = !writes && call.changes_data();
        if call.is_off {
            let why = format!(
                "{} changes data and is off; take `skip` away, or use --writes",
                call.method
            );
            self.left_out.push(LeftOut::new(place, why));
        }
    }
}

impl LeftOut {
    fn new(place: impl Into<String>, why: impl Into<String>) -> LeftOut {
        LeftOut {
            place: place.into(),
            why: why.into(),
        }
    }
}

/// Returns whether a request of the method changes nothing.
fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_by_the_first_bytes() {
        let check = |head: &str, expected: Option<Read>| {
            let is_same = match (kind_of(head), expected) {
                (None, None) => true,
                (Some(found), Some(expected)) => std::ptr::fn_addr_eq(found, expected),
                _ => false,
            };
            assert!(is_same, "{head}");
        };
        check(
            "{\"log\":{\"version\":\"1.2\",\"entries\":[{\"req",
            Some(of_har),
        );
        check("\u{feff}{\n  \"log\": {\n", Some(of_har));
        check("{\"log\": {\"entries\": []}}\n", Some(of_har));
        check("{\"log\":\"GET / HTTP/1.1\"}\n{\"log\"", None);
        check("{\"uri\":\"/log\",\"method\":\"GET\"}", None);
        check("openapi: 3.0.0\n", Some(of_openapi));
        check("{\"openapi\":\"3.1.0\"}", Some(of_openapi));
        check("curl 'http://a.test/'\n", Some(of_curl));
        check("", None);
    }
}
