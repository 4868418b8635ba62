//! The load in a record of traffic.

use std::collections::{BTreeMap, HashMap};

use logs::access::Request;

/// Users of a load of which no times are known.
const CONNECTIONS: u32 = 10;
/// Longest think time: after a longer pause the user has gone.
const PAUSE_MICROS_MAX: i64 = 600_000_000;
/// A second, in microseconds.
pub(crate) const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
/// Greatest number of minutes written as stages of a rate.
const MINUTES_MAX: usize = 24 * 60;
/// A closed load has nearly all of the users' requests under way for most of the time: at least
/// `CLOSED_LEVEL` of the most for `CLOSED_TIME` of the time. Independent users, of whom one sends
/// while another has left, are far below: at a mean of ten, the 99th percentile of a Poisson
/// distribution is 18.
const CLOSED_LEVEL: f64 = 0.9;
const CLOSED_TIME: f64 = 0.8;
/// Requests of each user of a closed load, at least: fewer may overlap by chance.
const REQUESTS_OF_USER_MIN: u64 = 10;
/// Part of the time in which no more requests are under way than the users of a closed load have: a
/// probe of the app's health may add one for a moment.
const MOST_TIME: f64 = 0.95;

/// How hard to load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Greatest number of open connections; for a closed load, of users.
    pub connections: u32,
    /// Requests per second; `None` where the record has no times.
    pub rate: Option<f64>,
    /// Whether each of the users sent the next request after the last response: the rate was the
    /// app's doing.
    pub is_closed: bool,
    /// Length of the record in seconds.
    pub duration_s: Option<f64>,
    /// Requests under way at a time, on average.
    pub concurrency: Option<f64>,
    /// The rate by minute, in the format of `hakaru load --rate`.
    pub stages: Option<String>,
    /// Path of the file of due times, where requests are due as recorded.
    pub arrivals: Option<String>,
    /// Path of the file with the order of flows; of a closed load.
    pub order: Option<String>,
    /// Variance of the requests in a second, over the mean: 1 for independent arrivals, less for
    /// even ones.
    pub dispersion: Option<f64>,
    /// Pauses of one client between a response and the next request: median and 95th percentile, in
    /// seconds.
    pub pauses_s: Option<(f64, f64)>,
}

impl Plan {
    /// Returns the load of one user who does one thing after another.
    pub(crate) fn of_one_user() -> Plan {
        Plan {
            connections: 1,
            ..Plan::default()
        }
    }

    /// Makes everything so many times as fast.
    pub(crate) fn hasten(&mut self, speed: f64) {
        self.rate = self.rate.map(|rate| rate * speed);
        self.duration_s = self.duration_s.map(|seconds| seconds / speed);
        self.stages = None;
    }
}

/// Returns what the times of requests say.
pub(crate) fn of_requests(requests: &[&Request]) -> Plan {
    let mut spans: Vec<(i64, i64)> = requests
        .iter()
        .filter_map(|request| {
            let began = request.began_micros?;
            Some((began, began + i64::from(request.took_micros.unwrap_or(0))))
        })
        .collect();
    spans.sort_unstable();
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Plan {
            connections: CONNECTIONS,
            ..Plan::default()
        };
    };
    let (first, last) = (first.0, last.0);
    let length = length_micros(first, last, spans.len(), ended_in_whole_seconds(requests));
    let seconds = length as f64 / SECOND as f64;
    let timed = requests.iter().any(|request| request.took_micros.is_some());
    let busy: i64 = spans.iter().map(|(began, ended)| ended - began).sum();
    let levels = levels(&spans);
    let is_many = |users: &u32| spans.len() as u64 >= u64::from(*users) * REQUESTS_OF_USER_MIN;
    let closed = closed(&levels).filter(is_many).filter(|_| timed);
    let most = levels.keys().next_back().copied().unwrap_or(1);
    let most = if timed { most } else { CONNECTIONS };
    Plan {
        connections: closed.unwrap_or(most),
        is_closed: closed.is_some(),
        rate: Some(spans.len() as f64 / seconds),
        duration_s: Some(seconds),
        concurrency: timed.then_some(busy as f64 / length as f64),
        stages: stages(&spans, first, length),
        arrivals: None,
        order: None,
        dispersion: dispersion(&spans, first, length),
        pauses_s: pauses(requests),
    }
}

/// Returns the time from the first request to one mean distance behind the last; times of whole
/// seconds stand for the whole second.
fn length_micros(first: i64, last: i64, count: usize, in_seconds: bool) -> i64 {
    let between = last - first;
    let behind = match in_seconds {
        true => SECOND,
        false if count > 1 => between / (count as i64 - 1),
        false => SECOND,
    };
    (between + behind).max(1)
}

/// Returns whether the record's times are of whole seconds.
pub(crate) fn ended_in_whole_seconds(requests: &[&Request]) -> bool {
    requests.iter().all(|request| {
        let took = i64::from(request.took_micros.unwrap_or(0));
        request
            .began_micros
            .is_none_or(|began| (began + took) % SECOND == 0 || began % SECOND == 0)
    })
}

/// Returns for how long, in microseconds, how many requests were under way.
fn levels(spans: &[(i64, i64)]) -> BTreeMap<u32, i64> {
    // An end comes before a begin of the same moment.
    let mut changes: Vec<(i64, i32)> = spans
        .iter()
        .flat_map(|(began, ended)| [(*began, 1), ((*ended).max(began + 1), -1)])
        .collect();
    changes.sort_unstable();
    let (mut now, mut since) = (0_i32, changes.first().map_or(0, |(at, _)| *at));
    let mut levels = BTreeMap::new();
    for (at, change) in changes {
        // A moment counts as well: it may be the peak.
        *levels.entry(now.unsigned_abs()).or_default() += at - since;
        (now, since) = (now + change, at);
    }
    levels
}

/// Returns the users of a closed load, if the load was one.
fn closed(levels: &BTreeMap<u32, i64>) -> Option<u32> {
    let all: i64 = levels.values().sum();
    let mut below = 0;
    let at_most = |(level, time): (&u32, &i64)| {
        below += time;
        (below as f64 >= all as f64 * MOST_TIME).then_some(*level)
    };
    let users = levels.iter().find_map(at_most)?;
    let near = levels.range((f64::from(users) * CLOSED_LEVEL).ceil() as u32..);
    let near: i64 = near.map(|(_, time)| time).sum();
    (near as f64 >= all as f64 * CLOSED_TIME).then_some(users)
}

fn counts(spans: &[(i64, i64)], first: i64, each: i64) -> BTreeMap<i64, u64> {
    let mut counts = BTreeMap::new();
    for (began, _) in spans {
        *counts.entry((began - first) / each).or_default() += 1;
    }
    counts
}

fn stages(spans: &[(i64, i64)], first: i64, length: i64) -> Option<String> {
    let counts = counts(spans, first, MINUTE);
    let minutes = (length + MINUTE - 1) / MINUTE;
    if minutes < 2 || minutes as usize > MINUTES_MAX {
        return None;
    }
    let stage = |minute: i64| {
        let millis = (length - minute * MINUTE).min(MINUTE) / 1_000;
        let count = counts.get(&minute).copied().unwrap_or(0);
        let rate = count as f64 * 1e3 / millis.max(1) as f64;
        (millis > 0).then(|| format!("{rate:.3}/{millis}ms"))
    };
    let stages: Vec<String> = (0..minutes).filter_map(stage).collect();
    Some(stages.join(","))
}

fn dispersion(spans: &[(i64, i64)], first: i64, length: i64) -> Option<f64> {
    let seconds = length / SECOND;
    if seconds < 2 {
        return None;
    }
    let counts = counts(spans, first, SECOND);
    let counted = |second| counts.get(&second).copied().unwrap_or(0) as f64;
    let mean = (0..seconds).map(counted).sum::<f64>() / seconds as f64;
    let squares = (0..seconds).map(|second| (counted(second) - mean).powi(2));
    let variance = squares.sum::<f64>() / (seconds - 1) as f64;
    (mean > 0.0).then_some(variance / mean)
}

fn pauses(requests: &[&Request]) -> Option<(f64, f64)> {
    let mut ends: HashMap<&str, i64> = HashMap::new();
    let mut sorted: Vec<&&Request> = requests
        .iter()
        .filter(|request| request.began_micros.is_some() && !request.client.is_empty())
        .collect();
    sorted.sort_by_key(|request| request.began_micros);
    let mut pauses = Vec::new();
    for request in sorted {
        let began = request.began_micros?;
        let ended = began + i64::from(request.took_micros.unwrap_or(0));
        if let Some(before) = ends.insert(&request.client, ended) {
            let pause = began - before;
            if (0..=PAUSE_MICROS_MAX).contains(&pause) {
                pauses.push(pause as f64 / SECOND as f64);
            }
        }
    }
    pauses.sort_by(f64::total_cmp);
    let at = |share: f64| pauses.get((pauses.len() as f64 * share) as usize).copied();
    Some((at(0.5)?, at(0.95)?))
}

/// The value in the middle; `None` of none.
pub(crate) fn middle(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plan of requests by begin and length in milliseconds.
    fn plan(spans: impl IntoIterator<Item = (i64, u32)>) -> Plan {
        let request = |(began_ms, took_ms): (i64, u32)| Request {
            began_micros: Some(began_ms * 1_000 + 1),
            took_micros: Some(took_ms * 1_000),
            ..Request::default()
        };
        let requests: Vec<Request> = spans.into_iter().map(request).collect();
        of_requests(&requests.iter().collect::<Vec<_>>())
    }

    #[test]
    fn users_who_wait_for_responses_are_told_from_a_rate() {
        // Four users, who send 2 ms after each response, and a probe of the app's health.
        let users = (0..4).flat_map(|user| (0..50).map(move |turn| (user + turn * 102, 100)));
        let closed = plan(users.chain([(2_000, 30)]));
        assert_eq!((closed.is_closed, closed.connections), (true, 4));
        // The same requests at even distances, long and short ones in turns.
        let open = plan((0..200).map(|index| (index * 25, [10, 190][index as usize % 2])));
        assert_eq!((open.is_closed, open.connections), (false, 5));
        // Seldom more than one at a time.
        let sparse = plan((0..200).map(|index| (index * 100, 5)));
        assert_eq!((sparse.is_closed, sparse.connections), (false, 1));
        // Too few to tell.
        assert!(!plan([(0, 100), (50, 100)]).is_closed);
    }
}
