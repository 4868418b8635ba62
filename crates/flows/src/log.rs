//! Flows from an access log: one for each route, by share, and the request rate.

mod columns;

use std::collections::{BTreeMap, HashMap};

use logs::access::Request;

use crate::call::{self, Call};
use crate::plan::{self, Plan};
use crate::replay;
use crate::{Flow, LeftOut, Taken, is_safe};
use columns::{Carried, Shape};

/// Greatest sum of weights, approximately: shares finer than a ten-thousandth are no part of a mix.
const WEIGHTS_SUM_MAX: u64 = 10_000;
/// Greatest number of requests kept per route: a cache holding as many holds the app's as well.
const ROWS_MAX: usize = 1_000;
/// Requests of one kind listed individually; the rest is counted.
const LISTED_MAX: usize = 20;

/// What to make of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// Whether requests changing data are on.
    pub writes: bool,
    /// How many times as fast as recorded each request is due again; `None` for a load of the same
    /// mix and rate.
    pub replay: Option<f64>,
    /// What is known of the load otherwise; `None` where the record alone shows the load.
    pub(crate) known: Option<Known>,
}

impl Wish {
    /// Returns the wish for flows changing data or not, due again so many times as fast or not.
    pub fn new(writes: bool, replay: Option<f64>) -> Wish {
        Wish {
            writes,
            replay,
            known: None,
        }
    }
}

/// The load behind a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Known {
    /// Users of a closed load; of an open one, the most connections.
    pub(crate) connections: u32,
    /// Requests due per second; `None` for a closed load.
    pub(crate) rate: Option<f64>,
}

/// Requests of one route carrying the same parts.
#[derive(Debug)]
struct Group<'a> {
    /// Such as `GET /channel/:id`.
    route: String,
    shape: Shape,
    /// Name of the flow.
    name: String,
    requests: Vec<&'a Request>,
    /// Place of each request in the record.
    places: Vec<usize>,
}

/// Returns flows of one request each, chosen by share of the record, and the request rate; or the
/// due time of each request. Requests that change data are on with `writes` alone. Bodies and
/// cookies are sent where the log has them.
///
/// # Errors
/// A sentence, where requests are to be due as recorded and the log has no times.
pub fn of_log(requests: &[Request], wish: Wish) -> Result<Taken, String> {
    let mut taken = Taken::default();
    let mut usable = usable(requests, &mut taken.left_out);
    let dues = match wish.replay {
        Some(speed) => Some(due_again(&mut usable, speed, &mut taken.left_out)?),
        None => None,
    };
    let is_on = |request: &&Request| wish.writes || is_safe(&request.method);
    let loaded: Vec<&Request> = usable.iter().copied().filter(is_on).collect();
    taken.plan = plan::of_requests(&loaded);
    if let Some(known) = wish.known {
        taken.plan.connections = known.connections;
        taken.plan.is_closed = known.rate.is_none();
        taken.plan.rate = known.rate.or(taken.plan.rate);
    }
    if let Some(speed) = wish.replay {
        taken.plan.hasten(speed);
    }
    if taken.plan.is_closed && dues.is_none() {
        usable.sort_by_key(|request| request.began_micros);
    }
    let groups = groups(&usable);
    match dues {
        Some(dues) => taken.arrivals = Some(arrivals(&groups, &dues)),
        None if taken.plan.is_closed => taken.order = Some(order(&groups, usable.len())),
        None => {}
    }
    let rows_max = wish.replay.map_or(ROWS_MAX, |_| usize::MAX);
    let all = usable.len();
    let flow = |group| flow(group, all, wish.writes, &taken.plan, rows_max);
    taken.flows = groups.iter().map(flow).collect();
    taken
        .left_out
        .extend(groups.iter().filter_map(without_body));
    Ok(taken)
}

/// Puts the requests in the order in which the requests are due, and returns when; requests without
/// a time are listed.
fn due_again(
    requests: &mut Vec<&Request>,
    speed: f64,
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<f64>, String> {
    let before = requests.len();
    let dues = replay::dues_ms(requests, speed)?;
    if dues.len() < before {
        let why = format!("{} requests without a time", before - dues.len());
        left_out.push(LeftOut::new("the log", why));
    }
    Ok(dues)
}

/// Returns the flow of each of so many requests.
fn names<'a>(groups: &'a [Group<'_>], count: usize) -> Vec<&'a str> {
    let mut names = vec![""; count];
    for group in groups {
        group
            .places
            .iter()
            .for_each(|place| names[*place] = &group.name);
    }
    names
}

/// Returns the flows in order as CSV.
fn order(groups: &[Group<'_>], count: usize) -> String {
    let names = names(groups, count).into_iter();
    let lines: String = names.flat_map(|name| [name, "\n"]).collect();
    format!("flow\n{lines}")
}

/// Returns the due times with the flows as CSV.
fn arrivals(groups: &[Group<'_>], dues_ms: &[f64]) -> String {
    let lines = dues_ms.iter().zip(names(groups, dues_ms.len()));
    let lines: String = lines
        .map(|(due, name)| format!("{due:.3},{name}\n"))
        .collect();
    format!("due_ms,flow\n{lines}")
}

/// Returns the requests for a path; lists the others.
fn usable<'a>(requests: &'a [Request], left_out: &mut Vec<LeftOut>) -> Vec<&'a Request> {
    let (usable, unusable): (Vec<&Request>, Vec<&Request>) =
        requests.iter().partition(|request| is_usable(request));
    for request in unusable.iter().take(LISTED_MAX) {
        // A query may hold secrets.
        let path = request.uri.split('?').next().unwrap_or_default();
        let what = call::comment(&format!("{} {path}", request.method));
        let why = format!("`{what}` is not a request for a path");
        left_out.push(LeftOut::new(format!("line {}", request.line), why));
    }
    if unusable.len() > LISTED_MAX {
        let why = format!(
            "{} more are not requests for a path",
            unusable.len() - LISTED_MAX
        );
        left_out.push(LeftOut::new("the log", why));
    }
    usable
}

fn is_usable(request: &Request) -> bool {
    let is_method =
        |method: &str| !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    is_method(&request.method) && request.method != "CONNECT" && request.uri.starts_with('/')
}

/// Reports a flow without bodies for the requests.
fn without_body(group: &Group<'_>) -> Option<LeftOut> {
    let first = group.requests[0];
    if is_safe(&first.method) || group.shape.body != Carried::Nothing {
        return None;
    }
    let (route, count) = (&group.route, group.requests.len());
    let why =
        format!("{route}: the log holds no bodies; write them into its flow ({count} requests)");
    Some(LeftOut::new(format!("line {}", first.line), why))
}

/// By route and shape, with most requests first.
fn groups<'a>(requests: &[&'a Request]) -> Vec<Group<'a>> {
    let line = |request: &Request| {
        let path = request.uri.split(['?', '#']).next().unwrap_or_default();
        format!("{} {path}", request.method)
    };
    let mut by_line: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, request) in requests.iter().enumerate() {
        by_line.entry(line(request)).or_default().push(place);
    }
    let lines: Vec<&str> = by_line.keys().map(String::as_str).collect();
    let mut by_route: BTreeMap<(String, Shape), Vec<usize>> = BTreeMap::new();
    for (route, places) in routes::cluster(&lines).into_iter().zip(by_line.values()) {
        for place in places {
            let key = (route.clone(), Shape::of(requests[*place]));
            by_route.entry(key).or_default().push(*place);
        }
    }
    let mut groups: Vec<Group<'a>> = Vec::new();
    for ((route, shape), mut places) in by_route {
        places.sort_unstable();
        groups.push(Group {
            name: call::name_of(&route, '-'),
            route,
            shape,
            requests: places.iter().map(|place| requests[*place]).collect(),
            places,
        });
    }
    groups.sort_by(|a, b| {
        (b.requests.len().cmp(&a.requests.len())).then_with(|| a.route.cmp(&b.route))
    });
    let mut names: HashMap<String, u32> = HashMap::new();
    for group in &mut groups {
        let times = names.entry(group.name.clone()).or_default();
        *times += 1;
        if *times > 1 {
            group.name = format!("{}-{times}", group.name);
        }
    }
    groups
}

fn flow(group: &Group<'_>, all: usize, writes: bool, plan: &Plan, rows_max: usize) -> Flow {
    let count = group.requests.len() as u64;
    let method = &group.requests[0].method;
    let columns = columns::of(&group.requests, group.shape, plan.connections, rows_max);
    let call = Call {
        comments: vec![
            format!("{}: {count} of {all} requests of the log.", group.route),
            seen(&group.requests),
        ],
        method: method.clone(),
        url: columns.url,
        headers: columns.headers,
        body: columns.body,
        ..Call::default()
    };
    Flow {
        name: group.name.clone(),
        text: call.print(),
        has_secrets: columns.has_secrets,
        feed: columns.feed,
        weight: weight(count, all as u64),
        is_on: writes || is_safe(method),
    }
}

fn weight(count: u64, all: u64) -> u64 {
    match all > WEIGHTS_SUM_MAX {
        true => ((count * WEIGHTS_SUM_MAX + all / 2) / all).max(1),
        false => count,
    }
}

/// Remarks on the responses in the log.
fn seen(requests: &[&Request]) -> String {
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for request in requests {
        *statuses.entry(request.status).or_default() += 1;
    }
    let statuses: Vec<String> = statuses
        .iter()
        .map(|(status, count)| format!("{status} ({count} times)"))
        .collect();
    let mut text = format!("Seen: {}", statuses.join(", "));
    let sizes = requests.iter().filter_map(|request| request.bytes);
    if let Some(bytes) = plan::middle(sizes.collect()) {
        text += &format!("; {bytes} bytes at the median");
    }
    let times = requests.iter().filter_map(|request| request.took_micros);
    if let Some(micros) = plan::middle(times.map(u64::from).collect()) {
        text += &format!("; {} ms at the median", micros as f64 / 1e3);
    }
    text + "."
}
