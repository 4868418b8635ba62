//! One pass through each flow of a scenario, one request at a time, with all errors.

mod again;
mod line;
mod messages;
mod until;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use recording::{Nanos, Outcome};
use scenario::{Over, Scenario, Session, User};

use crate::http1::{AnswerReader, Limits};
use crate::outcome::LoadError;
use crate::plan::Plan;
use crate::redact::{self, Shown};
use crate::route::Routes;
pub use again::{Reply, Resend};
use line::Line;
pub use until::{PassEnd, check_until};

const READ_BYTES: usize = 64 * 1024;
/// Status which opens a WebSocket.
const SWITCHING: u16 = 101;

/// Outcome and reason of a failed exchange.
type Ended = (Outcome, String);

/// One request of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Method and path without the query.
    pub line: String,
    /// File and line of the entry.
    pub place: String,
    /// Outcome of the request.
    pub outcome: Outcome,
    /// The answer's status, 0 without one.
    pub status: u16,
    /// From sent to answered.
    pub time: Nanos,
    /// Length of the answer's body.
    pub body_bytes: u64,
    /// All errors, each in a sentence.
    pub faults: Vec<String>,
    /// Request as sent, without secrets; of a message, the text.
    pub request: String,
    /// The answer, secrets taken out and the body shortened.
    pub response: String,
    /// Whether the request went over a WebSocket.
    pub is_message: bool,
    /// Whether the request failed and is tried again, so faults are no failure yet.
    pub is_tried_again: bool,
}

/// Runs each flow once, entry by entry, and passes each finished request to `sink`. A flow ends
/// with its first request that fails. Of the plan, only limits, `via`, `trust` and `streams` (as
/// whether there are any) count. Think times are kept.
///
/// The error is a name without an address.
pub fn check_once(
    plan: &Plan,
    scenario: &Scenario,
    sink: &mut dyn FnMut(Checked),
) -> Result<(), LoadError> {
    pass(plan, scenario, &mut |checked| {
        sink(checked);
        ControlFlow::Continue(())
    })
}

/// Runs each flow once, until the sink breaks.
fn pass(
    plan: &Plan,
    scenario: &Scenario,
    sink: &mut dyn FnMut(Checked) -> ControlFlow<()>,
) -> Result<(), LoadError> {
    let routes = Routes::of(scenario, plan)?;
    let session = scenario.session(0);
    let limits = Limits {
        head_bytes: plan.head_bytes_max,
        body_bytes: plan.body_bytes_max,
    };
    // With a user for each, the flows take their turns in order.
    for number in 0..scenario.flow_names().len() {
        let mut pass = Pass {
            plan,
            routes: &routes,
            session: &session,
            user: session.user(number as u32),
            reader: AnswerReader::new(limits),
            line: None,
            heard: Vec::new(),
            sent: Instant::now(),
        };
        let mut wanted = ControlFlow::Continue(());
        while wanted.is_continue() {
            wanted = sink(pass.step());
            if pass.user.is_between() {
                break;
            }
        }
        pass.part();
        if wanted.is_break() {
            break;
        }
    }
    Ok(())
}

struct Pass<'a> {
    plan: &'a Plan,
    routes: &'a Routes,
    session: &'a Session<'a>,
    user: User,
    reader: AnswerReader,
    line: Option<Line>,
    /// Last message received.
    heard: Vec<u8>,
    /// When the request in hand was sent.
    sent: Instant,
}

/// How a request is to be made.
#[derive(Clone, Copy)]
struct Asked {
    is_head: bool,
    over: Over,
    within_ns: Option<u64>,
}

impl Pass<'_> {
    /// Runs the user's next entry.
    fn step(&mut self) -> Checked {
        std::thread::sleep(Duration::from_nanos(self.session.delay_ns(&mut self.user)));
        let place = self.session.place(&mut self.user).to_owned();
        let mut line = self.session.current(&mut self.user).1.to_owned();
        let mut request = Vec::new();
        self.sent = Instant::now();
        let asked = match self.session.render(&mut self.user, None, &mut request) {
            Ok(prepared) => {
                prepared.line.clone_into(&mut line);
                Ok(Asked {
                    is_head: prepared.is_head,
                    over: prepared.over,
                    within_ns: prepared.within_ns,
                })
            }
            Err(why) => Err((Outcome::CheckFailed, format!("not sent: {why}"))),
        };
        if let Ok(asked) = asked
            && matches!(asked.over, Over::WebSocket | Over::Closing)
        {
            let ended = self.talk(&request, asked);
            return self.told(line, place, ended);
        }
        let ended = asked.and_then(|asked| self.exchange(&request, asked));
        let time = self.time();
        let answer = self.reader.answer(time.0);
        let (outcome, faults) = match ended {
            Ok(()) => {
                let faults = self.session.inspect(&mut self.user, &answer);
                let outcome = match (faults.is_empty(), answer.status) {
                    (true, _) => Outcome::Ok,
                    (false, SWITCHING) if self.has_web_socket() => Outcome::BadAnswer,
                    (false, 500..) => Outcome::ServerError,
                    (false, _) => Outcome::CheckFailed,
                };
                (outcome, faults)
            }
            Err((outcome, why)) => {
                self.session.give_up(&mut self.user);
                (outcome, vec![why])
            }
        };
        Checked {
            line,
            place,
            outcome,
            status: self.reader.status(),
            time,
            body_bytes: self.reader.body_bytes(),
            faults: faults.iter().map(|fault| redact::plain(fault)).collect(),
            request: redact::request(&request, Shown::Once),
            response: redact::answer(answer.head, answer.body, Shown::Once),
            is_message: false,
            is_tried_again: self.user.is_trying_again(),
        }
    }

    fn has_web_socket(&self) -> bool {
        let line = self.line.as_ref();
        line.is_some_and(|line| line.web_socket.is_some())
    }

    /// Since the request in hand was sent.
    fn time(&self) -> Nanos {
        Nanos(self.sent.elapsed().as_nanos() as u64)
    }

    /// What became of a message.
    fn told(
        &mut self,
        line: String,
        place: String,
        ended: Result<(), (Outcome, String)>,
    ) -> Checked {
        let time = self.time();
        let said = String::from_utf8_lossy(self.user.said()).into_owned();
        let (outcome, faults) = match ended {
            Ok(()) => (Outcome::Ok, Vec::new()),
            Err((outcome, why)) => {
                self.session.give_up(&mut self.user);
                (outcome, vec![why])
            }
        };
        Checked {
            line,
            place,
            outcome,
            status: 0,
            time,
            body_bytes: self.heard.len() as u64,
            faults: faults.iter().map(|fault| redact::plain(fault)).collect(),
            request: said
                .split_once("\r\n\r\n")
                .map_or("", |(_, said)| said)
                .to_owned(),
            response: redact::answer(&[], &self.heard, Shown::Once),
            is_message: true,
            is_tried_again: false,
        }
    }

    /// Sends a request and reads the response. A connection closed by the server in between is
    /// opened again. A request that may change data is never sent twice; for such a one the
    /// connection is examined before.
    fn exchange(&mut self, request: &[u8], asked: Asked) -> Result<(), Ended> {
        let link = self.session.link(&mut self.user);
        self.expect(asked);
        let may_repeat = is_safe(request);
        let limits = self.limits();
        let old = self.line.take().filter(|line| line.link == link);
        if let Some(mut line) = old
            && (may_repeat || line.is_quiet(limits))
        {
            match line.exchange(request, &mut self.reader, limits) {
                Ok(()) => {
                    self.keep(line);
                    return Ok(());
                }
                // Probably closed while it stood idle.
                Err((Outcome::Disconnected, _)) if may_repeat && self.reader.status() == 0 => {}
                Err(other) => return Err(other),
            }
            self.expect(asked);
        }
        let limit = Duration::from_nanos(self.plan.connect_timeout.0);
        let (route, head_bytes_max) = (self.routes.of_link(link), self.plan.head_bytes_max);
        let is_upgrade = asked.over == Over::Upgrade;
        let mut line = Line::connect(route, link, limit, head_bytes_max, is_upgrade)?;
        let limits = self.limits();
        line.exchange(request, &mut self.reader, limits)?;
        self.keep(line);
        Ok(())
    }

    fn limits(&self) -> line::Limits {
        line::Limits {
            end: Instant::now() + Duration::from_nanos(self.plan.answer_timeout.0),
            body_bytes_max: self.plan.body_bytes_max,
        }
    }

    fn expect(&mut self, asked: Asked) {
        self.reader.expect(asked.is_head, usize::MAX, false);
        if asked.over == Over::Upgrade {
            self.reader.allow_upgrade();
        }
    }

    fn keep(&mut self, line: Line) {
        self.line = Some(line).filter(|line| line.is_kept(&self.reader));
    }
}

/// Returns whether the method of a request is one for reading.
fn is_safe(request: &[u8]) -> bool {
    let method = request.split(|byte| *byte == b' ').next();
    matches!(method, Some(b"GET" | b"HEAD" | b"OPTIONS" | b"TRACE"))
}
