//! What is said over WebSockets: from a [`SocketSpec`] to steps behind a flow's entries.
//!
//! A step that only sends goes out together with the next one, so that each step is an exchange:
//! from sent to the message that was waited for. What a message must be is said by the predicates
//! of Hurl's asserts.

use std::borrow::Cow;

use crate::ast::{Assert, Capture, Entry, KeyValue, Place, Response};
use crate::cursor::Cursor;
use crate::error::{Fault, ScenarioError};
use crate::frame::FrameKind;
use crate::parse;
use crate::pattern::Pattern;
use crate::predicate::{Comparison, Operand, Predicate, Test};
use crate::query::Query;
use crate::spec::{Expectation, MessageSpec, Payload, SocketSpec};
use crate::step::Action;
use crate::template::{Expr, Style, Template};
use crate::think::ThinkTime;
use crate::variables::Variables;

/// Status of a response opening a WebSocket.
const SWITCHING: u16 = 101;
/// Headers by which a client asks for one (RFC 6455, 4.1), but for the key, which is always
/// another.
const ASKING: [(&str, &str); 3] = [
    ("Upgrade", "websocket"),
    ("Connection", "Upgrade"),
    ("Sec-WebSocket-Version", "13"),
];

/// A group of steps run several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// Index of the first step.
    pub(crate) first: usize,
    /// Index behind the last step.
    pub(crate) end: usize,
    /// How often.
    pub(crate) count: u64,
}

/// One exchange over a WebSocket.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) name: String,
    /// What is sent first, in order.
    pub(crate) sends: Vec<Sent>,
    /// Whether a close frame follows, and is waited for.
    pub(crate) closes: bool,
    /// Longest wait, nanoseconds.
    pub(crate) within_ns: Option<u64>,
}

/// What one frame holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sent {
    Text(Template),
    Bytes(Vec<u8>),
}

/// An unresolved step.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) action: Action,
    pub(crate) entry: Entry,
    pub(crate) think: Option<ThinkTime>,
    /// For people.
    pub(crate) place: String,
}

/// A WebSocket's steps: the opening one, and the messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spoken {
    pub(crate) drafts: Vec<Draft>,
    count: u64,
}

impl Message {
    /// The expressions in what is sent.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let texts = self.sends.iter().filter_map(|sent| match sent {
            Sent::Text(template) => Some(template),
            Sent::Bytes(_) => None,
        });
        texts.flat_map(Template::exprs)
    }
}

impl Sent {
    pub(crate) fn render(
        &self,
        variables: &mut Variables,
    ) -> Result<(FrameKind, Cow<'_, [u8]>), String> {
        match self {
            Sent::Bytes(bytes) => Ok((FrameKind::Binary, Cow::Borrowed(bytes.as_slice()))),
            Sent::Text(template) => match template.as_static() {
                Some(text) => Ok((FrameKind::Text, Cow::Borrowed(text.as_bytes()))),
                None => {
                    let text = template.render(variables)?;
                    Ok((FrameKind::Text, Cow::Owned(text.into_bytes())))
                }
            },
        }
    }
}

impl Spoken {
    /// Reads the messages behind the requests of `flow`, a name for errors.
    pub(crate) fn parse(flow: &str, spec: &SocketSpec) -> Result<Spoken, ScenarioError> {
        let place = |number: usize| format!("[[flow.step]] {number} of {flow}");
        let wrong = |place: &str, why: &str| ScenarioError::Spec(format!("{place}: {why}"));
        if spec.rounds == 0 {
            return Err(wrong(
                flow,
                "`rounds` is zero; messages are exchanged at least once",
            ));
        }
        if spec.steps.is_empty() {
            return Err(wrong(
                flow,
                "`connect` needs at least one [[flow.step]] below it",
            ));
        }
        if spec.connect.is_empty() {
            return Err(wrong(
                flow,
                "`connect` is empty; write a path such as `/socket`",
            ));
        }
        let url = whole(&format!("connect of {flow}"), &spec.connect, |cursor| {
            Template::parse(cursor, Style::Url)
        })?;
        let mut drafts = vec![opening(flow, &url, spec)?];
        let mut sends = Vec::new();
        for (position, step) in spec.steps.iter().enumerate() {
            let place = place(position + 1);
            let last = position + 1 == spec.steps.len();
            check(step, last).map_err(|why| wrong(&place, why))?;
            sends.extend(sent(step, &place)?);
            if expects(step) || step.close {
                let sends = std::mem::take(&mut sends);
                drafts.push(draft(step, position + 1, sends, &url, place)?);
            } else if last || (spec.rounds > 1 && spec.steps[position + 1].close) {
                let why = "nobody could tell when the server took it: `expect` something, at least `{ any = true }`";
                return Err(wrong(&place, why));
            }
        }
        Ok(Spoken {
            drafts,
            count: spec.rounds,
        })
    }

    /// Returns the repeated steps, when `before` entries come first.
    pub(crate) fn rounds(&self, before: usize) -> Option<Rounds> {
        let closes =
            |draft: &&Draft| matches!(&draft.action, Action::Message(message) if message.closes);
        let closing = self.drafts.iter().filter(closes).count();
        let rounds = Rounds {
            first: before + 1,
            end: before + self.drafts.len() - closing.min(self.drafts.len()),
            count: self.count,
        };
        (self.count > 1 && rounds.first < rounds.end).then_some(rounds)
    }
}

fn expects(step: &MessageSpec) -> bool {
    !step.expect.is_empty() || !step.captures.is_empty()
}

/// What cannot be meant.
fn check(step: &MessageSpec, last: bool) -> Result<(), &'static str> {
    let waits = expects(step) || step.close;
    match step {
        _ if step.close && expects(step) => {
            Err("`close` waits for the server's close frame alone; give it a step of its own")
        }
        _ if step.close && !last => Err("`close` ends the flow; it must be the last step"),
        _ if !waits && step.send.is_none() => Err("it does nothing; `send`, `expect` or `close`"),
        _ if !waits && (step.think.is_some() || step.within_ms.is_some()) => Err(
            "a step that only sends goes out together with the next; `think` and `within` belong there",
        ),
        _ => Ok(()),
    }
}

/// Reads all of a text.
fn whole<'a, T>(
    place: &str,
    text: &'a str,
    parse: impl FnOnce(&mut Cursor<'a>) -> Result<T, Fault>,
) -> Result<T, ScenarioError> {
    let mut cursor = Cursor::new(text);
    let parsed = parse(&mut cursor).and_then(|parsed| {
        cursor.spaces();
        match cursor.at_end() {
            true => Ok(parsed),
            false => Err(cursor.fault("expected nothing more")),
        }
    });
    parsed.map_err(|fault| fault.locate(place, text).into())
}

fn text(place: &str, text: &str) -> Result<Template, ScenarioError> {
    Template::of_whole(text).map_err(|fault| fault.locate(place, text).into())
}

/// Returns the request for opening the WebSocket.
fn opening(flow: &str, url: &Template, spec: &SocketSpec) -> Result<Draft, ScenarioError> {
    let place = format!("connect of {flow}");
    let own = spec.headers.iter();
    let own = own.map(|(name, value)| Ok((Template::text(name), text(&place, value)?)));
    let asking = ASKING.map(|(name, value)| Ok((Template::text(name), Template::text(value))));
    let headers: Result<Vec<KeyValue>, ScenarioError> = asking
        .into_iter()
        .chain(own)
        .map(|pair| {
            pair.map(|(key, value)| KeyValue {
                place: Place::default(),
                key,
                value,
            })
        })
        .collect();
    Ok(Draft {
        action: Action::Upgrade,
        entry: Entry {
            method: "GET".to_owned(),
            url: url.clone(),
            headers: headers?,
            response: Some(Response {
                status: Some(SWITCHING),
                ..Response::default()
            }),
            ..Entry::default()
        },
        think: None,
        place,
    })
}

fn sent(step: &MessageSpec, place: &str) -> Result<Option<Sent>, ScenarioError> {
    match &step.send {
        None => Ok(None),
        Some(Payload::Bytes(bytes)) => Ok(Some(Sent::Bytes(bytes.clone()))),
        Some(Payload::Text(sent)) => Ok(Some(Sent::Text(text(&format!("{place}, send"), sent)?))),
    }
}

fn draft(
    step: &MessageSpec,
    number: usize,
    sends: Vec<Sent>,
    url: &Template,
    place: String,
) -> Result<Draft, ScenarioError> {
    let name = match (&step.name, step.close) {
        (Some(name), _) => name.clone(),
        (None, true) => "close".to_owned(),
        (None, false) => format!("message {number}"),
    };
    if name.is_empty() || name.contains(char::is_control) {
        let why = format!("{place}: `name` must be a text of one line");
        return Err(ScenarioError::Spec(why));
    }
    let at = format!("{place}, expect");
    let asserts = step.expect.iter().map(|demand| assert(&at, demand));
    let asserts: Result<Vec<Option<Assert>>, ScenarioError> = asserts.collect();
    let captures = step
        .captures
        .iter()
        .map(|(name, query)| capture(&place, name, query));
    Ok(Draft {
        action: Action::Message(Box::new(Message {
            name,
            sends,
            closes: step.close,
            within_ns: step.within_ms.map(|ms| ms.saturating_mul(1_000_000)),
        })),
        entry: Entry {
            method: "WS".to_owned(),
            url: url.clone(),
            response: Some(Response {
                captures: captures.collect::<Result<_, _>>()?,
                asserts: asserts?.into_iter().flatten().collect(),
                ..Response::default()
            }),
            ..Entry::default()
        },
        think: step.think,
        place,
    })
}

/// Returns the assert for a demand; none for a demand met by anything.
fn assert(place: &str, demand: &Expectation) -> Result<Option<Assert>, ScenarioError> {
    let of_body = |test| Assert {
        place: Place::default(),
        query: Query::Body,
        filters: Vec::new(),
        predicate: Predicate {
            negated: false,
            test,
        },
    };
    let compared = |comparison, with: &str| {
        let operand = Operand::Text(text(place, with)?);
        Ok(Some(of_body(Test::Compare(comparison, operand))))
    };
    match demand {
        Expectation::Any => Ok(None),
        Expectation::Equals(with) => compared(Comparison::Equal, with),
        Expectation::Contains(with) => compared(Comparison::Contains, with),
        Expectation::Matches(pattern) => {
            let template = text(place, pattern)?;
            let pattern = match template.as_static() {
                None => Pattern::Written(template),
                Some(fixed) => Pattern::new(fixed)
                    .map_err(|message| Fault::new(0, message).locate(place, pattern))?,
            };
            Ok(Some(of_body(Test::Matches(pattern))))
        }
        Expectation::Assert(line) => {
            let assert = whole(place, line, parse::assert)?;
            looks_at_a_message(place, &assert.query)?;
            // Files are read for flows; what is in no flow has no folder.
            if assert.predicate.file().is_some() {
                let why = format!("{place}: a message is not compared with a file");
                return Err(ScenarioError::Spec(why));
            }
            Ok(Some(Assert {
                place: Place::default(),
                ..assert
            }))
        }
    }
}

fn capture(place: &str, name: &str, query: &str) -> Result<Capture, ScenarioError> {
    let place = format!("{place}, captures");
    let line = format!("{name}: {query}");
    let capture = whole(&place, &line, parse::capture)?;
    looks_at_a_message(&place, &capture.query)?;
    Ok(Capture {
        place: Place::default(),
        ..capture
    })
}

/// Refuses queries about what a message has not.
fn looks_at_a_message(place: &str, query: &Query) -> Result<(), ScenarioError> {
    match query.needs_body() || matches!(query, Query::Duration | Query::Variable(_)) {
        true => Ok(()),
        false => Err(ScenarioError::Spec(format!(
            "{place}: a message has no `{query}`; ask for its body, or by jsonpath, regex or bytes"
        ))),
    }
}
