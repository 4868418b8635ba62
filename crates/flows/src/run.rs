//! Flows from a run of our own, read as an access log.

use logs::access::Request;
use recording::{Exchange, LoadMode, Recording};

use crate::log::{Known, Wish, of_log};
use crate::{LeftOut, Taken};

/// Returns the mix and the load of the measured part of run `number`, and lists what a recording
/// does not hold.
///
/// # Errors
/// A sentence, where requests are to be due as recorded and there are none.
pub fn of_run(recording: &Recording, number: i64, wish: Wish) -> Result<Taken, String> {
    let place = format!("run {number}");
    let inside = |one: &&Exchange| recording.window.contains(one.due);
    let exchanges: Vec<&Exchange> = recording.exchanges.iter().filter(inside).collect();
    let requests: Vec<Request> = (1..)
        .zip(&exchanges)
        .filter_map(|(number, one)| request(recording, number, one))
        .collect();
    let messages = exchanges.len() - requests.len();
    let load = &recording.meta.load;
    let wish = Wish {
        known: Some(Known {
            connections: load.connections,
            rate: match load.mode {
                LoadMode::Closed => None,
                LoadMode::Open => load.rate.or_else(|| mean_rate(recording, requests.len())),
            },
        }),
        ..wish
    };
    let mut taken = of_log(&requests, wish).map_err(|why| format!("{place}: {why}"))?;
    let why = "a recording holds methods and paths, no queries, bodies and cookies; the flows of the run still have them";
    taken.left_out.insert(0, LeftOut::new(place.as_str(), why));
    if messages > 0 {
        let why = format!("{messages} messages over WebSockets");
        taken.left_out.push(LeftOut::new(place, why));
    }
    Ok(taken)
}

/// Requests per second in the measured part.
fn mean_rate(recording: &Recording, requests: usize) -> Option<f64> {
    let window = recording.window;
    let seconds = window.end.since(window.start).as_secs_f64();
    (seconds > 0.0).then(|| requests as f64 / seconds)
}

/// Returns an exchange as the line of a log; `None` for a message over a WebSocket.
fn request(recording: &Recording, number: u64, one: &Exchange) -> Option<Request> {
    let line = recording.texts.get(one.line)?;
    let (method, uri) = line.split_once(' ').filter(|(method, _)| *method != "WS")?;
    let micros = |nanos: u64| nanos / 1_000;
    let took = micros(one.answered.since(one.due).0);
    Some(Request {
        line: number,
        method: method.to_owned(),
        uri: uri.to_owned(),
        status: one.status,
        began_micros: i64::try_from(micros(one.due.monotonic_nanos())).ok(),
        took_micros: Some(u32::try_from(took).unwrap_or(u32::MAX)),
        bytes: Some(one.body_bytes),
        client: one.connection.to_string(),
        ..Request::default()
    })
}
