//! Resolved `[[flow]]` tables.

use std::path::Path;

use scenario::{Expectation, FlowSpec, MessageSpec, Payload, SocketSpec, ThinkTime};

use crate::exit::Failure;
use crate::settings::config::step::{Expect, Send, Step};
use crate::settings::config::{Config, Flow};

/// One flow of the config file, whose paths are relative to `folder`.
pub(crate) fn flow_spec(flow: &Flow, folder: &Path) -> Result<FlowSpec, Failure> {
    Ok(FlowSpec {
        file: flow.file.as_ref().map(|file| folder.join(file)),
        weight: flow.weight,
        feed: flow.feed.as_ref().map(|feed| folder.join(feed)),
        think: think(flow.think.as_deref())?,
        cache: flow.cache,
        socket: socket(flow)?,
    })
}

/// Parses `FILE.hurl` or `FILE.hurl:WEIGHT`; all other settings are the config file's for the flow,
/// if any.
pub(crate) fn typed_flow(text: &str, config: &Config, folder: &Path) -> Result<FlowSpec, Failure> {
    let (file, weight) = match text.rsplit_once(':') {
        Some((file, weight)) => (
            file,
            weight.parse().map_err(|_| {
                Failure::usage(format!(
                    "--flow {text}: the weight `{weight}` is no whole number"
                ))
            })?,
        ),
        None => (text, 1),
    };
    let known = config
        .flows
        .iter()
        .find(|flow| flow.file.as_deref() == Some(Path::new(file)));
    let known = known.map(|flow| flow_spec(flow, folder)).transpose()?;
    Ok(FlowSpec {
        file: Some(folder.join(file)),
        weight,
        ..known.unwrap_or_default()
    })
}

fn think(text: Option<&str>) -> Result<Option<ThinkTime>, Failure> {
    text.map(ThinkTime::parse)
        .transpose()
        .map_err(Failure::usage)
}

fn socket(flow: &Flow) -> Result<Option<SocketSpec>, Failure> {
    let Some(connect) = &flow.connect else {
        return match flow.steps.is_empty() && flow.headers.is_empty() && flow.rounds == 1 {
            true => Ok(None),
            false => Err(Failure::usage(
                "a [[flow]] has `headers`, `rounds` or a [[flow.step]], but no `connect` that says where its \
                 WebSocket is opened",
            )),
        };
    };
    Ok(Some(SocketSpec {
        connect: connect.clone(),
        headers: flow.headers.clone().into_iter().collect(),
        rounds: flow.rounds,
        steps: flow.steps.iter().map(message).collect::<Result<_, _>>()?,
    }))
}

fn message(step: &Step) -> Result<MessageSpec, Failure> {
    Ok(MessageSpec {
        name: step.name.clone(),
        send: step.send.as_ref().map(payload).transpose()?,
        expect: step
            .expect
            .as_ref()
            .map(expectations)
            .transpose()?
            .unwrap_or_default(),
        captures: step.captures.clone().into_iter().collect(),
        within_ms: step
            .within
            .map(|within| u64::try_from(within.as_millis()).unwrap_or(u64::MAX)),
        think: think(step.think.as_deref())?,
        close: step.close,
    })
}

fn payload(send: &Send) -> Result<Payload, Failure> {
    match (&send.text, &send.hex) {
        (Some(text), None) => Ok(Payload::Text(text.clone())),
        (None, Some(digits)) => bytes(digits).map(Payload::Bytes).ok_or_else(|| {
            Failure::usage(format!(
                "send = {{ hex = {digits:?} }}: not an even number of hexadecimal digits"
            ))
        }),
        _ => Err(Failure::usage(
            "`send` is a text, or one of { text = \"…\" } and { hex = \"00ff\" }",
        )),
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = (digits.chars().filter(|c| !c.is_whitespace()))
        .map(|c| c.to_digit(16))
        .collect();
    let (pairs, rest) = digits.as_ref()?.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| (high << 4 | low) as u8);
    rest.is_empty().then(|| bytes.collect())
}

fn expectations(expect: &Expect) -> Result<Vec<Expectation>, Failure> {
    let found: Vec<Expectation> = (expect.any.then_some(Expectation::Any).into_iter())
        .chain(expect.equals.clone().map(Expectation::Equals))
        .chain(expect.contains.clone().map(Expectation::Contains))
        .chain(expect.matches.clone().map(Expectation::Matches))
        .chain(expect.asserts.iter().cloned().map(Expectation::Assert))
        .collect();
    match found.is_empty() {
        true => Err(Failure::usage(
            "`expect` demands nothing; write { any = true } for whatever comes",
        )),
        false => Ok(found),
    }
}
