//! Flows from an access log: one for each route, by share, and the request rate.

use std::collections::{BTreeMap, HashMap};

use logs::access::Request;

use crate::call::{self, Call, Template};
use crate::plan::{self, Plan};
use crate::{Flow, LeftOut, Taken, is_safe};

/// Greatest sum of weights, approximately: shares finer than a ten-thousandth are no part of a mix.
const WEIGHTS_SUM_MAX: u64 = 10_000;
/// Greatest number of addresses kept per route: a cache holding as many holds the app's as well.
const ADDRESSES_MAX: usize = 1_000;
/// Requests of one kind listed individually; the rest is counted.
const LISTED_MAX: usize = 20;

/// The requests of one route.
#[derive(Debug, Default)]
struct Group<'a> {
    requests: Vec<&'a Request>,
}

/// Returns flows of one request each, chosen by share of the log, and the request rate. Requests
/// that change data are on with `writes` alone. Bodies, cookies and users are in no access log.
pub fn of_log(requests: &[Request], writes: bool) -> Taken {
    let mut left_out = Vec::new();
    let mut usable = Vec::new();
    let mut unusable = 0;
    for request in requests {
        match is_usable(request) {
            true => usable.push(request),
            false => {
                unusable += 1;
                if unusable <= LISTED_MAX {
                    let what = call::comment(&format!("{} {}", request.method, request.uri));
                    let why = format!("`{what}` is not a request for a path");
                    left_out.push(LeftOut::new(format!("line {}", request.line), why));
                }
            }
        }
    }
    if unusable > LISTED_MAX {
        let why = format!("{} more are not requests for a path", unusable - LISTED_MAX);
        left_out.push(LeftOut::new("the log", why));
    }
    let groups = groups(&usable);
    let is_on = |request: &&&Request| writes || is_safe(&request.method);
    let loaded: Vec<&Request> = usable.iter().filter(is_on).copied().collect();
    let plan = plan::of_requests(&loaded);
    let flows = flows(&groups, writes, &plan);
    for (route, group) in &groups {
        let first = group.requests[0];
        if !is_safe(&first.method) {
            let count = group.requests.len();
            let why = format!(
                "{route}: an access log holds no bodies; write them into its flow ({count} requests)"
            );
            left_out.push(LeftOut::new(format!("line {}", first.line), why));
        }
    }
    Taken {
        flows,
        plan,
        left_out,
        origin: None,
    }
}

fn is_usable(request: &Request) -> bool {
    let is_method =
        |method: &str| !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    is_method(&request.method) && request.method != "CONNECT" && request.uri.starts_with('/')
}

/// By route, with most requests first.
fn groups<'a>(requests: &[&'a Request]) -> Vec<(String, Group<'a>)> {
    let line = |request: &Request| {
        let path = request.uri.split(['?', '#']).next().unwrap_or_default();
        format!("{} {path}", request.method)
    };
    let mut by_line: BTreeMap<String, Vec<&'a Request>> = BTreeMap::new();
    for request in requests {
        by_line.entry(line(request)).or_default().push(request);
    }
    let lines: Vec<&str> = by_line.keys().map(String::as_str).collect();
    let mut by_route: HashMap<String, Group<'a>> = HashMap::new();
    for (route, requests) in routes::cluster(&lines).into_iter().zip(by_line.values()) {
        by_route.entry(route).or_default().requests.extend(requests);
    }
    let mut groups: Vec<(String, Group<'a>)> = by_route.into_iter().collect();
    for (_, group) in &mut groups {
        group.requests.sort_by_key(|request| request.line);
    }
    groups.sort_by(|(a, of_a), (b, of_b)| {
        (of_b.requests.len().cmp(&of_a.requests.len())).then_with(|| a.cmp(b))
    });
    groups
}

fn flows(groups: &[(String, Group<'_>)], writes: bool, plan: &Plan) -> Vec<Flow> {
    let all: usize = groups.iter().map(|(_, group)| group.requests.len()).sum();
    let mut names: HashMap<String, u32> = HashMap::new();
    let flow = |(route, group): &(String, Group<'_>)| {
        let count = group.requests.len() as u64;
        let method = &group.requests[0].method;
        let is_on = writes || is_safe(method);
        let (url, feed) = addresses(&group.requests, plan.connections);
        let call = Call {
            comments: vec![
                format!("{route}: {count} of {all} requests of the log."),
                seen(&group.requests),
            ],
            method: method.clone(),
            url,
            ..Call::default()
        };
        let mut name = call::name_of(route, '-');
        let times = names.entry(name.clone()).or_default();
        *times += 1;
        if *times > 1 {
            name = format!("{name}-{times}");
        }
        Flow {
            name,
            text: call.print(),
            feed,
            has_secrets: false,
            weight: weight(count, all as u64),
            is_on,
        }
    };
    groups.iter().map(flow).collect()
}

fn weight(count: u64, all: u64) -> u64 {
    match all > WEIGHTS_SUM_MAX {
        true => ((count * WEIGHTS_SUM_MAX + all / 2) / all).max(1),
        false => count,
    }
}

/// The address of a route's requests; where there are several, a column of a feed, as often as each
/// came.
fn addresses(requests: &[&Request], rows_min: u32) -> (Template, Option<String>) {
    let first = &requests[0].uri;
    if requests.iter().all(|request| request.uri == *first) {
        return (Template::text(first), None);
    }
    let taken = requests.len().min(ADDRESSES_MAX);
    let rows: Vec<String> = (0..taken)
        .map(|index| {
            let uri = &requests[index * requests.len() / taken].uri;
            format!("\"{}\"\n", Template::text(uri).print(call::Style::Url))
        })
        .collect();
    // Each user needs a row of its own; whole rounds keep the shares.
    let rounds = (rows_min as usize).div_ceil(rows.len()).max(1);
    let feed = format!("uri\n{}", rows.concat().repeat(rounds));
    (Template::variable("uri"), Some(feed))
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
