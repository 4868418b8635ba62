//! One run of a scenario: the users, and shared state.

mod caching;
mod messages;
mod progress;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use crate::answer::Answer;
use crate::cache::Cache;
use crate::feed::FreeRows;
use crate::follow::Trail;
use crate::jar::Jar;
use crate::judge::{Verdict, faults, judge};
use crate::part::Part;
use crate::render::{push_header, render};
use crate::scenario::Scenario;
use crate::step::{Action, Step};
use crate::value::Value;
use crate::variables::Variables;
use messages::Socket;

/// What the users of one run share: the count of iterations, and which rows of the feeds are free.
#[derive(Debug)]
pub struct Session<'s> {
    scenario: &'s Scenario,
    part: Part,
    seed: u64,
    shared: Arc<HashMap<String, Value>>,
    /// Counts iterations for `{{iteration}}` and the choice of flows. Only its own value matters,
    /// so that relaxed ordering is enough.
    iterations: AtomicU64,
    free_rows: Vec<FreeRows>,
    /// Header lines of every request in the run.
    extra: Vec<u8>,
    /// Start of the clock for the age of stored responses.
    began: Instant,
}

/// One virtual user: variables, cookies, and position in a flow.
#[derive(Debug)]
pub struct User {
    number: u32,
    variables: Variables,
    jar: Jar,
    at: Option<Position>,
    /// Reason why the current entry cannot be run.
    fault: Option<String>,
    trail: Trail,
    /// Whether the last request failed and is to be tried again.
    is_trying_again: bool,
    scored: Vec<(usize, f64)>,
    line: String,
    /// The method of the last request.
    method: String,
    cache: Cache,
    /// Path and query of the last request, when the response may be stored or may change what is;
    /// empty otherwise.
    target: String,
    /// Whether the last request may change what is stored of the target.
    is_changing: bool,
    socket: Socket,
}

#[derive(Clone, Copy, Debug)]
struct Position {
    flow: usize,
    entry: usize,
    /// How often the entry is still to be run.
    runs_left: u64,
    /// Failed tries in the current run of the entry.
    tries: u64,
    /// Greatest number of retries.
    retries: u64,
    /// How often the flow's rounds are still to be run.
    rounds_left: u64,
    row: Option<u32>,
    /// Whether the iteration has made a request.
    has_sent: bool,
}

/// A rendered request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared<'a> {
    /// Flow in the high 16 bits, entry in the low 16.
    pub step: u32,
    /// Method and path without the query.
    pub line: &'a str,
    /// Whether the response never has a body (HEAD).
    pub is_head: bool,
    /// Transport of the request.
    pub over: Over,
    /// Longest wait for the answer, nanoseconds, where the flow says one.
    pub within_ns: Option<u64>,
}

/// What a request goes over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Over {
    /// HTTP.
    #[default]
    Http,
    /// HTTP, with a connection upgraded to a WebSocket by the demanded response.
    Upgrade,
    /// A WebSocket: the response is the message taken by [`Session::judge`]. It may consist of no
    /// bytes at all.
    WebSocket,
    /// A WebSocket: the response is the server's close frame.
    Closing,
}

impl Scenario {
    /// Begins a run: users of one session share feeds and the count of iterations.
    pub fn session(&self, seed: u64) -> Session<'_> {
        self.session_of(Part::WHOLE, seed)
    }

    /// Begins one generator's part of a run: users, iterations, rows of the feeds.
    pub fn session_of(&self, part: Part, seed: u64) -> Session<'_> {
        Session::new(self, part, seed)
    }
}

impl<'s> Session<'s> {
    pub(crate) fn new(scenario: &'s Scenario, part: Part, seed: u64) -> Session<'s> {
        Session {
            scenario,
            part,
            seed,
            shared: Arc::new(scenario.variables.clone()),
            iterations: AtomicU64::new(0),
            free_rows: scenario
                .feeds
                .iter()
                .map(|feed| FreeRows::of(part.rows(feed.rows.len())))
                .collect(),
            extra: Vec::new(),
            began: Instant::now(),
        }
    }

    /// Adds a header line to every request; `line` has no line break.
    pub fn add_header(&mut self, line: &str) {
        self.extra.extend_from_slice(line.as_bytes());
        self.extra.extend_from_slice(b"\r\n");
    }

    /// Returns a user of the part, counted from zero. The number in the whole plan distinguishes
    /// users and is the value of `{{user}}`.
    pub fn user(&self, number: u32) -> User {
        let number = self.part.in_whole(u64::from(number)) as u32;
        // Any fixed odd number spreads neighbouring users' seeds; this one is 2^64 / golden ratio.
        let seed = self.seed ^ (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        User {
            number,
            variables: Variables::new(Arc::clone(&self.shared), seed),
            jar: Jar::default(),
            at: None,
            fault: None,
            trail: Trail::default(),
            is_trying_again: false,
            scored: Vec::new(),
            line: String::new(),
            method: String::new(),
            cache: Cache::default(),
            target: String::new(),
            is_changing: false,
            socket: Socket::default(),
        }
    }

    /// Think time before the user's next request, nanoseconds. Begins a new iteration when there is
    /// none.
    pub fn delay_ns(&self, user: &mut User) -> u64 {
        if !self.scenario.due_ns().is_empty() && user.at.is_none() {
            // Which flow is next is known when its request is due.
            return 0;
        }
        let step = self.step(user);
        if user.trail.has_next() {
            return 0;
        }
        let options = &step.entry.options;
        let delay = match user.is_trying_again {
            true => options.retry_interval_ms(&mut user.variables).map(Some),
            false => options.delay_ms(&mut user.variables),
        };
        match delay {
            Ok(Some(delay_ms)) => delay_ms * 1_000_000,
            Ok(None) => {
                let think = step.think.or(self.flow(user).think);
                think.map_or(0, |think| user.variables.think_ns(think))
            }
            Err(why) => {
                user.fault.get_or_insert(why);
                0
            }
        }
    }

    /// Whether the answer to the user's current request must be kept whole.
    pub fn needs_body(&self, user: &mut User) -> bool {
        let step = self.step(user);
        // Another entry may ask for the same, look into its body, and find it kept.
        step.needs_body || self.is_cached(user, step)
    }

    /// Number of the way to the server for the user's current entry, among
    /// [`Scenario::links`].
    pub fn link(&self, user: &mut User) -> u16 {
        self.step(user).link
    }

    /// File and line of the user's current entry.
    pub fn place(&self, user: &mut User) -> &'s str {
        &self.step(user).place
    }

    /// Step number, and method with the path as written in the flow, of the user's current entry.
    pub fn current(&self, user: &mut User) -> (u32, &'s str) {
        let position = self.position(user);
        (position.step_number(), &self.step(user).written_line)
    }

    /// Appends the bytes of the user's next request to `out`, with `request_id` in a header if
    /// there is one. The error says why it cannot be made; the user is still at it then, until
    /// [`Session::give_up`].
    pub fn render<'a>(
        &self,
        user: &'a mut User,
        request_id: Option<u64>,
        out: &mut Vec<u8>,
    ) -> Result<Prepared<'a>, String>
    where
        's: 'a,
    {
        let step = self.step(user);
        let position = self.position(user);
        if let Some(why) = &user.fault {
            return Err(why.clone());
        }
        if let Action::Message(message) = &step.action {
            return self.render_message(user, message, out);
        }
        user.is_trying_again = false;
        let hop = user.trail.take_next();
        if hop.is_none() {
            user.trail.clear();
        }
        let rendered;
        let fixed = match (&step.fixed, &hop) {
            (Some(fixed), None) => fixed,
            (_, hop) => {
                let base = &self.scenario.base;
                rendered = render(step, base, hop.as_ref(), &mut user.variables)?;
                &rendered
            }
        };
        user.line.clone_from(&fixed.line);
        if step.watches_url {
            let method = hop.as_ref().map_or(&step.entry.method, |hop| &hop.method);
            user.method.clone_from(method);
            user.trail.url = self.scenario.base.origin() + fixed.target();
        }
        out.extend_from_slice(&fixed.head);
        if self.note_target(user, step, hop.as_ref(), fixed.target()) {
            out.extend_from_slice(user.cache.conditions(&user.target));
        }
        if let Some(request_id) = request_id {
            out.extend_from_slice(b"Hakaru-Request: ");
            crate::encode::push_hex_u64(request_id, out);
            out.extend_from_slice(b"\r\n");
        }
        let over = match step.action {
            Action::Upgrade => Over::Upgrade,
            _ => Over::Http,
        };
        match over {
            Over::Upgrade => user.socket.ask(&user.line, &mut user.variables, out),
            // They are about the connection, which is one of its own kind there.
            _ => out.extend_from_slice(&self.extra),
        }
        cookies(step, user, out)?;
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&fixed.body);
        Ok(Prepared {
            step: position.step_number(),
            line: &user.line,
            is_head: hop.map_or(step.entry.method == "HEAD", |hop| hop.method == "HEAD"),
            over,
            within_ns: None,
        })
    }

    /// Judges the response to the user's current request and moves the user on: to the next entry,
    /// or, after a failed check or the end of the flow, to a new iteration; an entry to be retried
    /// stays. After [`Verdict::NotYet`] the user waits on.
    pub fn judge(&self, user: &mut User, answer: &Answer<'_>) -> Verdict {
        let step = self.step(user);
        user.scored.clear();
        if let Action::Message(_) = step.action {
            return self.judge_message(user, step, answer);
        }
        self.take_cookies(user, answer);
        let kept = self.take_into_cache(user, answer);
        let kept = kept.as_ref().map(|kept| kept.answer(answer.duration_ns));
        let answer = kept.as_ref().unwrap_or(answer);
        let verdict = match self.follow(step, user, answer) {
            Ok(true) => return Verdict::Passed,
            Ok(false) => {
                let User {
                    trail,
                    variables,
                    scored,
                    ..
                } = user;
                judge(step, answer, trail, variables, scored)
            }
            Err(why) => Verdict::CheckFailed(why),
        };
        let verdict = match (verdict, &step.action) {
            (Verdict::Passed, Action::Upgrade) => user.socket.judge(step, answer),
            (verdict, _) => verdict,
        };
        match verdict {
            Verdict::Passed => self.advance(user),
            Verdict::CheckFailed(why) if self.tries_again(user) => return Verdict::Again(why),
            Verdict::ServerError(_) if self.tries_again(user) => {}
            _ => self.end_iteration(user),
        }
        verdict
    }

    /// Judges like [`Session::judge`], but returns all faults instead of the first.
    pub fn inspect(&self, user: &mut User, answer: &Answer<'_>) -> Vec<String> {
        let step = self.step(user);
        if step.action != Action::Request {
            let reason = self.judge(user, answer).into_reason();
            return reason.into_iter().collect();
        }
        user.scored.clear();
        self.take_cookies(user, answer);
        let kept = self.take_into_cache(user, answer);
        let kept = kept.as_ref().map(|kept| kept.answer(answer.duration_ns));
        let answer = kept.as_ref().unwrap_or(answer);
        let faults = match self.follow(step, user, answer) {
            Ok(true) => return Vec::new(),
            Ok(false) => {
                let User {
                    trail,
                    variables,
                    scored,
                    ..
                } = user;
                faults(step, answer, trail, variables, scored)
            }
            Err(why) => vec![why],
        };
        match faults.is_empty() {
            true => self.advance(user),
            false if self.tries_again(user) => {}
            false => self.end_iteration(user),
        }
        faults
    }

    /// Ends the user's iteration after a request without a response, unless the entry is to be
    /// retried.
    pub fn give_up(&self, user: &mut User) {
        if !self.tries_again(user) {
            self.end_iteration(user);
        }
    }
}

impl User {
    /// Returns whether the user is between two iterations: the flow is done, or was given up.
    pub fn is_between(&self) -> bool {
        self.at.is_none()
    }

    /// Returns whether the last request failed, and the next one is a retry.
    pub fn is_trying_again(&self) -> bool {
        self.is_trying_again
    }

    /// Method and path, without the query, of the last request.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Returns captured numbers with points from the last judged response: index of the capture in
    /// the score, and the number.
    pub fn scored(&self) -> &[(usize, f64)] {
        &self.scored
    }
}

/// Appends the Cookie header: the jar's, then the entry's own.
fn cookies(step: &Step, user: &mut User, out: &mut Vec<u8>) -> Result<(), String> {
    let User {
        jar,
        line,
        variables,
        ..
    } = user;
    let path = line.split_once(' ').map_or("/", |(_, path)| path);
    let mut separator: &[u8] = b"Cookie: ";
    for (name, value) in jar.for_path(path, Instant::now()) {
        out.extend_from_slice(separator);
        out.extend_from_slice(name);
        out.push(b'=');
        out.extend_from_slice(value);
        separator = b"; ";
    }
    for pair in &step.entry.cookies {
        let text = format!(
            "{}={}",
            pair.key.render(variables)?,
            pair.value.render(variables)?
        );
        if text.contains(['\r', '\n', '\0', ';']) {
            // Told apart by the same words as any other header that cannot be sent.
            return push_header(&mut Vec::new(), "Cookie", "\n");
        }
        out.extend_from_slice(separator);
        out.extend_from_slice(text.as_bytes());
        separator = b"; ";
    }
    if separator == b"; " {
        out.extend_from_slice(b"\r\n");
    }
    Ok(())
}
