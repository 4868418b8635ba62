//! The due time of each request of a log.

use logs::access::Request;

use crate::plan::{SECOND, ended_in_whole_seconds};

/// Puts requests into the order of arrival, without requests lacking a time, and returns the
/// milliseconds from the first request to each. `speed` divides them.
///
/// Times of whole seconds are spread evenly over their second: all at its begin would be a burst
/// that never was.
///
/// # Errors
/// A sentence, where no request has a time.
pub(crate) fn dues_ms(requests: &mut Vec<&Request>, speed: f64) -> Result<Vec<f64>, String> {
    requests.retain(|request| request.began_micros.is_some());
    let took = |request: &Request| i64::from(request.took_micros.unwrap_or(0));
    let began = |request: &Request| request.began_micros.unwrap_or(0);
    // Most logs have the time at the end of a request, some at the begin.
    let has_begins = requests.iter().all(|request| began(request) % SECOND == 0);
    let mut timed: Vec<(i64, &Request)> = match ended_in_whole_seconds(requests) {
        true => {
            let written = |request: &&Request| match has_begins {
                true => began(request),
                false => began(request) + took(request),
            };
            requests.sort_by_key(written);
            let seconds = requests.chunk_by(|a, b| written(a) == written(b));
            let spread = seconds.flat_map(|second| {
                let count = second.len() as i64;
                let places = second.iter().zip(0..);
                places.map(move |(request, place)| {
                    (began(request) + place * SECOND / count, *request)
                })
            });
            spread.collect()
        }
        false => requests
            .iter()
            .map(|request| (began(request), *request))
            .collect(),
    };
    timed.sort_by_key(|(began, _)| *began);
    let Some((first, _)) = timed.first().copied() else {
        return Err("the log has no times, so no request can be due as it came".to_owned());
    };
    *requests = timed.iter().map(|(_, request)| *request).collect();
    let due_ms = |(began, _): &(i64, &Request)| (began - first) as f64 / 1e3 / speed;
    Ok(timed.iter().map(due_ms).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(times: &[(Option<i64>, u32)], speed: f64, expected: Result<&[(u64, f64)], &str>) {
        let request = |(line, (began, took)): (u64, &(Option<i64>, u32))| Request {
            line,
            began_micros: *began,
            took_micros: Some(*took),
            ..Request::default()
        };
        let requests: Vec<Request> = (1..).zip(times).map(request).collect();
        let mut ordered: Vec<&Request> = requests.iter().collect();
        let dues = dues_ms(&mut ordered, speed);
        let lines = ordered.iter().map(|request| request.line);
        let found = dues.map(|dues| lines.zip(dues).collect::<Vec<_>>());
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn requests_are_due_in_the_order_in_which_they_came() {
        let times = [
            (Some(2_500), 1),
            (Some(1_000), 9),
            (None, 0),
            (Some(2_500), 0),
        ];
        check(&times, 1.0, Ok(&[(2, 0.0), (1, 1.5), (4, 1.5)]));
        check(&times, 0.5, Ok(&[(2, 0.0), (1, 3.0), (4, 3.0)]));
        let why = "the log has no times, so no request can be due as it came";
        check(&[(None, 0)], 1.0, Err(why));
    }

    #[test]
    fn whole_seconds_are_spread() {
        let times = [
            (Some(7 * SECOND), 0),
            (Some(8 * SECOND), 0),
            (Some(7 * SECOND), 0),
        ];
        check(&times, 1.0, Ok(&[(1, 0.0), (3, 500.0), (2, 1_000.0)]));
        // Written at the end of the requests: 3 began before 1.
        let ended = |second: i64, took: u32| (Some(second * SECOND - i64::from(took)), took);
        let times = [ended(7, 100_000), ended(8, 0), ended(7, 650_000)];
        check(&times, 1.0, Ok(&[(3, 0.0), (1, 50.0), (2, 1_150.0)]));
    }
}
