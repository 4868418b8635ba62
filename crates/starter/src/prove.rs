//! The first `hakaru run` tries the flow written by `hakaru init`: files do not say which of an
//! app's routes return a page to a stranger. Entries answered with a redirect or a refusal are
//! removed from the flow, and the status of the others is stated in it.
//!
//! Only a flow that still has init's own entries and says that it was not tried is touched.

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use load::{Checked, PassEnd, Plan};
use scenario::{Scenario, Spec};
use words::{Text, text};

use crate::write::{COMPRESSED, ENTRY, FORWARDED};

/// The line in an untried flow.
pub const UNTRIED: &str = "# Not tried yet: the first `hakaru run` takes out what is answered with a redirect or a refusal.";
/// The line in a tried flow.
const TRIED: &str = "# Tried: what the app answered with a redirect or a refusal is not here; each entry states what it answered.";

/// Why a flow could not be tried, with what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProveError {
    /// A flow is invalid.
    InvalidFlow(String),
    /// A request could not be sent, or the flow not be written.
    Failed(String),
    /// The user's interruption; the flow is as before.
    Interrupted,
}

impl fmt::Display for ProveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProveError::InvalidFlow(message) | ProveError::Failed(message) => message.as_str(),
            ProveError::Interrupted => {
                "interrupted while a first flow was tried; nothing was measured"
            }
        })
    }
}

impl std::error::Error for ProveError {}

/// Tries init's untried flows against the running app until `stop` is set; returns whether a flow
/// was rewritten. A flow of which an entry got no response or an error of the server stays untried.
///
/// # Errors
/// A flow cannot be read, requested or rewritten, or `stop` was set.
pub fn flows(scenario: &Spec, plan: &Plan, stop: &AtomicBool) -> Result<bool, ProveError> {
    let mut rewritten = false;
    for flow in &scenario.flows {
        let Some(file) = &flow.file else { continue };
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let Some(untried) = Untried::of(&text) else {
            continue;
        };
        let mut spec = scenario.clone();
        spec.flows = vec![flow.clone()];
        let scenario = Scenario::read_files(&spec)
            .map_err(|error| ProveError::InvalidFlow(error.to_string()))?;
        let answered = answers(plan, scenario, stop)?;
        match failed(&answered) {
            Some(failed) => notice_of_failure(file, failed),
            None => rewritten |= rewrite(file, &untried.tried(&answered))?,
        }
    }
    Ok(rewritten)
}

/// Requests each entry once. A Ctrl-C ends the wait for a hanging app too.
fn answers(plan: &Plan, scenario: Scenario, stop: &AtomicBool) -> Result<Vec<Checked>, ProveError> {
    let mut answered = Vec::new();
    let ran = load::check_until(plan, scenario, stop, &mut |checked| {
        answered.push(checked);
        ControlFlow::Continue(())
    });
    match ran {
        Ok(PassEnd::Complete) => Ok(answered),
        Ok(PassEnd::Early) => Err(ProveError::Interrupted),
        Err(error) => Err(ProveError::Failed(error.to_string())),
    }
}

/// Returns the failed request at the end, behind which no entry was requested.
fn failed(answered: &[Checked]) -> Option<&Checked> {
    let has_failed = |last: &&Checked| last.status == 0 || last.status >= 500;
    answered.last().filter(has_failed)
}

/// Prints why a flow stays untried.
fn notice_of_failure(file: &Path, failed: &Checked) {
    let why = failed.faults.first().map_or("", String::as_str);
    console::notice(text!(
        "hakaru: {file} stays untried, since {line} failed: {why}",
        file = file.display().to_string(),
        line = failed.line,
        why = Text::named(why)
    ));
}

/// A flow as written by init.
struct Untried<'a> {
    /// Lines before the first entry.
    head: &'a str,
    entries: Vec<&'a str>,
}

/// Result of a tried flow.
#[derive(Debug, PartialEq, Eq)]
struct Tried {
    /// The corrected flow; `None` without a remaining entry.
    text: Option<String>,
    /// Removed entries, such as `GET /account (302)`.
    left_out: Vec<String>,
}

impl<'a> Untried<'a> {
    /// Parses a flow; `None` for an edited or an already tried flow.
    fn of(text: &'a str) -> Option<Untried<'a>> {
        let (head, entries) = text.split_once("\n\n")?;
        let entries: Vec<&str> = entries.split("\n\n").map(str::trim_end).collect();
        let is_own = |entry: &&str| {
            let mut lines = entry.lines();
            let headers = |line: &str| line == COMPRESSED || line == FORWARDED;
            let path = lines.next().and_then(|line| line.strip_prefix(ENTRY));
            path.is_some_and(|path| path.starts_with('/')) && lines.all(headers)
        };
        let untried = head.lines().any(|line| line == UNTRIED);
        (untried && entries.iter().all(is_own)).then_some(Untried { head, entries })
    }

    /// Returns the corrected flow; `answered` is in the order of the entries, and entries without a
    /// response stay unchanged.
    fn tried(&self, answered: &[Checked]) -> Tried {
        let mut left_out = Vec::new();
        let mut kept = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            match answered.get(index).map(|checked| checked.status) {
                Some(status @ 300..=499) => {
                    left_out.push(format!("{} ({status})", answered[index].line));
                }
                Some(status @ 200..=299) => kept.push(format!("{entry}\nHTTP {status}\n")),
                _ => kept.push(format!("{entry}\n")),
            }
        }
        let head = self.head.replace(UNTRIED, TRIED);
        Tried {
            text: (!kept.is_empty()).then(|| format!("{head}\n\n{}", kept.join("\n"))),
            left_out,
        }
    }
}

/// Writes the flow and prints the removed entries; returns whether the flow was written.
fn rewrite(file: &Path, tried: &Tried) -> Result<bool, ProveError> {
    let Some(text) = &tried.text else {
        console::notice(text!(
            "hakaru: no request of {file} was answered with a page: {answers}; write into it what your users do (`hakaru help flows`)",
            file = file.display().to_string(),
            answers = tried.left_out.join(", ")
        ));
        return Ok(false);
    };
    // Another name first: who is stopped here still has a whole flow.
    let beside: PathBuf = file.with_extension("hurl.new");
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, file))
        .map_err(|error| ProveError::Failed(format!("cannot write {}: {error}", file.display())))?;
    let out = match tried.left_out.as_slice() {
        [] => text!("every request was answered with a page"),
        out => text!("taken out: {requests}", requests = out.join(", ")),
    };
    let file = file.display().to_string();
    console::notice(text!("tried {file} once; {out}", file, out));
    Ok(true)
}

/// Whether a flow is init's own, and not tried yet.
#[cfg(test)]
pub(crate) fn is_untried(text: &str) -> bool {
    Untried::of(text).is_some()
}

#[cfg(test)]
mod tests {
    use recording::{Nanos, Outcome};

    use super::*;
    use crate::{look, write};

    fn first(paths: &[&str]) -> String {
        write::flow(&look::App {
            paths: paths.iter().map(|&path| path.to_owned()).collect(),
            ..look::App::default()
        })
    }

    fn answered(line: &str, status: u16) -> Checked {
        Checked {
            line: line.to_owned(),
            place: String::new(),
            outcome: Outcome::Ok,
            status,
            time: Nanos(1),
            body_bytes: 0,
            faults: Vec::new(),
            request: String::new(),
            response: String::new(),
            is_message: false,
            is_tried_again: false,
        }
    }

    #[test]
    fn what_is_no_page_is_taken_out_and_the_rest_states_its_status() {
        let text = first(&["/", "/orders", "/account", "/later"]);
        let untried = Untried::of(&text).expect("init's own");
        let tried = untried.tried(&[
            answered("GET /", 404),
            answered("GET /orders", 200),
            answered("GET /account", 302),
        ]);
        assert_eq!(tried.left_out, ["GET / (404)", "GET /account (302)"]);
        let text = tried.text.expect("two are left");
        let (_, entries) = text.split_once("\n\n").expect("entries");
        assert_eq!(
            entries,
            "GET {{base_url}}/orders\nAccept-Encoding: gzip\nHTTP 200\n\nGET {{base_url}}/later\nAccept-Encoding: gzip\n"
        );
        assert!(Untried::of(&text).is_none(), "it is tried once");
    }

    #[test]
    fn a_flow_stays_untried_where_the_app_failed() {
        let check = |statuses: &[u16], expected: bool| {
            let answered = statuses.iter().map(|status| answered("GET /", *status));
            let answered: Vec<Checked> = answered.collect();
            assert_eq!(failed(&answered).is_some(), expected, "{statuses:?}");
        };
        check(&[503], true);
        check(&[200, 0], true);
        check(&[200, 404], false);
        check(&[302, 302], false);
    }

    #[test]
    fn nothing_is_left_of_an_app_that_only_refuses() {
        let text = first(&["/"]);
        let untried = Untried::of(&text).expect("init's own");
        assert_eq!(untried.tried(&[answered("GET /", 401)]).text, None);
    }

    #[test]
    fn what_somebody_wrote_is_left_alone() {
        let text = first(&["/", "/orders"]);
        assert!(Untried::of(&text.replace("HTTP", "")).is_some());
        assert!(Untried::of(&(text.clone() + "HTTP 200\n")).is_none());
        assert!(Untried::of(&(text.clone() + "\nPOST {{base_url}}/orders\n")).is_none());
        assert!(Untried::of(&text.replace(UNTRIED, "")).is_none());
        assert!(Untried::of("").is_none());
    }
}
