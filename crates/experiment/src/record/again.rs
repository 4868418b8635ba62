//! Pages requested again after the load: the proof for a cache shared by everyone.
//!
//! A load shows that its users got the same. Whether somebody else gets it too is asked of the app
//! itself, as long as it runs: a few GET requests of the load, for candidates alone, by two new
//! visitors and by up to two users with their sessions, and all of that once more some time later.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use load::{Repeatable, Reply, Resend};
use recording::{AskedAgain, Recording, Sameness, TextId};
use scenario::Scenario;

use crate::observer::{Context, Phase};
use crate::settings::{Settings, nanos};

/// Routes to ask for, the ones with most requests.
const ROUTES_MAX: usize = 6;
/// URLs of each.
const URLS_MAX: usize = 2;
/// New visitors.
const VISITORS: usize = 2;
/// Time between the end of the first requests and the second: clocks with seconds have moved.
const PAUSE: Duration = Duration::from_secs(3);
/// Longest time of all first requests, and of all second ones.
const ROUND_MAX: Duration = Duration::from_secs(8);
/// Longest wait for one response.
const REPLY_MAX: Duration = Duration::from_secs(3);
/// How often an interruption by the user is looked for.
const STEP: Duration = Duration::from_millis(50);
/// Status of a page.
const OK: u16 = 200;
/// Headers about one response, or one connection.
const OF_RESPONSE: [&str; 6] = [
    "age",
    "connection",
    "date",
    "keep-alive",
    "server-timing",
    "x-runtime",
];

/// Pages requested once after the load, to be requested a second time.
pub(crate) struct Again<'a> {
    context: &'a Context,
    resend: Resend,
    pages: Vec<Page>,
    began: Instant,
    first_over: Instant,
}

/// A page with the responses so far.
struct Page {
    repeatable: Repeatable,
    requests: Vec<Vec<u8>>,
    first: Vec<Option<Reply>>,
}

impl<'a> Again<'a> {
    /// Asks for the candidates of a recording the first time; `None` where there is no candidate,
    /// or the run is over for another reason.
    pub(crate) fn begin(
        (settings, scenario): (&Settings, &Scenario),
        recording: &Recording,
        repeatables: Vec<Repeatable>,
        context: &'a Context,
    ) -> Option<Again<'a>> {
        let is_over = recording.meta.ended_early.is_some() || context.is_stopped();
        if !settings.asks_again || is_over {
            return None;
        }
        let pages = candidates(recording, repeatables);
        if pages.is_empty() {
            return None;
        }
        // Without a way to the server nothing is asked, and nothing is proven.
        let resend = Resend::new(&settings.plan, scenario).ok()?;
        let mut again = Again {
            context,
            resend,
            pages: Vec::new(),
            began: Instant::now(),
            first_over: Instant::now(),
        };
        for page in pages {
            let first = again.ask(&page, again.began)?;
            again.pages.push(Page { first, ..page });
        }
        again.first_over = Instant::now();
        Some(again)
    }

    /// Asks a second time, and puts the results into the recording.
    pub(crate) fn end(self, recording: &mut Recording) {
        let _phase = self.context.observer.enter(Phase::AskAgain);
        while self.first_over.elapsed() < PAUSE {
            if self.context.is_stopped() {
                return;
            }
            std::thread::sleep(STEP);
        }
        let second_began = Instant::now();
        for page in &self.pages {
            let Some(second) = self.ask(page, second_began) else {
                return;
            };
            let asked = AskedAgain {
                visitors: VISITORS as u32,
                sessions: (page.requests.len() - VISITORS) as u32,
                apart: nanos(self.began.elapsed()),
                sameness: sameness(&page.repeatable, [&page.first, &second]),
            };
            let is_page = |facts: &&mut recording::AnswerFacts| {
                facts.line == page.repeatable.line() && facts.status == OK
            };
            for facts in recording.answers.iter_mut().filter(is_page) {
                facts.asked_again = Some(asked);
            }
        }
    }

    /// Sends all requests of a page, one after the other; `None` when the time is over, or the user
    /// wants an end.
    fn ask(&self, page: &Page, began: Instant) -> Option<Vec<Option<Reply>>> {
        let mut replies = Vec::new();
        for request in &page.requests {
            let left = ROUND_MAX.saturating_sub(began.elapsed());
            if left.is_zero() || self.context.is_stopped() {
                return None;
            }
            let reply = (self.resend).send(&page.repeatable, request, left.min(REPLY_MAX));
            replies.push(reply.ok());
        }
        Some(replies)
    }
}

/// Returns the pages to ask for: of routes whose responses could be cached, as far as the load
/// shows.
fn candidates(recording: &Recording, repeatables: Vec<Repeatable>) -> Vec<Page> {
    let is_hopeless = recording.answers.iter().all(|facts| facts.repeated == 0);
    if repeatables.is_empty() || is_hopeless {
        return Vec::new();
    }
    let mut by_line: HashMap<TextId, Repeatable> = repeatables
        .into_iter()
        .map(|repeatable| (repeatable.line(), repeatable))
        .collect();
    let routes = breakdown::answers(recording).into_iter();
    let routes = routes.filter(|route| findings::may_be_cached(&route.route, &route.answers));
    let mut pages = Vec::new();
    for route in routes.take(ROUTES_MAX) {
        let stored = route.lines.iter().filter_map(|line| by_line.remove(line));
        pages.extend(stored.take(URLS_MAX).map(Page::new));
    }
    pages
}

impl Page {
    fn new(repeatable: Repeatable) -> Page {
        let mut requests = vec![repeatable.anonymous(); VISITORS];
        requests.extend(repeatable.sessions());
        Page {
            repeatable,
            requests,
            first: Vec::new(),
        }
    }
}

/// Compares the responses to the requests of a page.
fn sameness(repeatable: &Repeatable, rounds: [&[Option<Reply>]; 2]) -> Sameness {
    match repeatable.has_authorization() {
        true => Sameness::Authorization,
        false => compared(rounds),
    }
}

fn compared(rounds: [&[Option<Reply>]; 2]) -> Sameness {
    let replies = rounds.iter().flat_map(|round| round.iter());
    let complete: Option<Vec<&Reply>> = replies.map(Option::as_ref).collect();
    let complete = complete.filter(|all| all.iter().all(|reply| reply.status == OK));
    let Some(all) = complete else {
        return Sameness::Refused;
    };
    let (first, second) = all.split_at(rounds[0].len());
    let any = |is_so: fn(&Reply) -> bool| all.iter().any(|reply| is_so(reply));
    let differ = |round: &[&Reply]| round.windows(2).any(|two| body(two[0]) != body(two[1]));
    if any(sets_cookie) {
        Sameness::SetsCookie
    } else if any(varies) {
        Sameness::Varies
    } else if any(is_private) {
        Sameness::Private
    } else if differ(first) || differ(second) {
        Sameness::BodiesDiffer
    } else if differ(&all) {
        Sameness::BodiesChange
    } else if !all.iter().all(|reply| reply.is_as_in_load) {
        Sameness::NotAsInLoad
    } else if headers_differ(first, second) {
        Sameness::HeadersDiffer
    } else {
        Sameness::Same
    }
}

fn body(reply: &Reply) -> (u64, u64) {
    (reply.body_bytes, reply.body_hash)
}

fn sets_cookie(reply: &Reply) -> bool {
    values(reply, "set-cookie").next().is_some()
}

fn varies(reply: &Reply) -> bool {
    has_word(reply, "vary", &["cookie", "authorization", "*"])
}

fn is_private(reply: &Reply) -> bool {
    has_word(reply, "cache-control", &["private", "no-store"])
}

/// Whether a header differs between visitors and stays the same for each. Times and numbers of
/// requests change from one response to the next, and say nothing of the visitor.
fn headers_differ(first: &[&Reply], second: &[&Reply]) -> bool {
    let all = first.iter().chain(second);
    let names = all.flat_map(|reply| reply.headers.iter().map(|(name, _)| name.as_str()));
    let of = |reply: &Reply, name: &str| -> Vec<Vec<u8>> {
        values(reply, name).map(<[u8]>::to_vec).collect()
    };
    let names = names.filter(|name| !OF_RESPONSE.contains(name));
    let mut differing = names.filter(|name| {
        let stays = first
            .iter()
            .zip(second)
            .all(|(one, other)| of(one, name) == of(other, name));
        stays && first.iter().any(|one| of(one, name) != of(first[0], name))
    });
    differing.next().is_some()
}

fn values<'a>(reply: &'a Reply, name: &str) -> impl Iterator<Item = &'a [u8]> {
    let headers = reply.headers.iter();
    headers.filter_map(move |(known, value)| (known == name).then_some(value.as_slice()))
}

/// Whether a header's list has one of some words.
fn has_word(reply: &Reply, name: &str, wanted: &[&str]) -> bool {
    values(reply, name).any(|value| {
        let value = String::from_utf8_lossy(value).to_ascii_lowercase();
        let mut words = value.split([',', '=']).map(str::trim);
        words.any(|word| wanted.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(headers: &[(&str, &str)], body: u64) -> Option<Reply> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), value.as_bytes().to_vec());
        Some(Reply {
            status: OK,
            headers: headers.iter().map(own).collect(),
            body_bytes: 10,
            body_hash: body,
            is_as_in_load: true,
        })
    }

    /// Compares two rounds, each by visitors with one header and a body.
    fn check(first: &[(&str, &str, u64)], second: &[(&str, &str, u64)], expected: Sameness) {
        let round = |all: &[(&str, &str, u64)]| -> Vec<Option<Reply>> {
            all.iter()
                .map(|(name, value, body)| page(&[(name, value)], *body))
                .collect()
        };
        assert_eq!(compared([&round(first), &round(second)]), expected);
    }

    #[test]
    fn one_body_for_all_at_both_times_is_a_proof() {
        let now = [("date", "1", 7), ("date", "2", 7)];
        check(&now, &[("date", "3", 7), ("date", "4", 7)], Sameness::Same);
        check(
            &now,
            &[("date", "3", 7), ("date", "4", 8)],
            Sameness::BodiesDiffer,
        );
        check(
            &now,
            &[("date", "3", 8), ("date", "4", 8)],
            Sameness::BodiesChange,
        );
    }

    #[test]
    fn headers_speak_against_a_cache_for_all() {
        let both = |name: &str, value: &str, expected| {
            let round = [(name, value, 7), ("date", "1", 7)];
            check(&round, &round, expected);
        };
        both("set-cookie", "a=1", Sameness::SetsCookie);
        both("vary", "Accept-Encoding, Cookie", Sameness::Varies);
        both("vary", "*", Sameness::Varies);
        both("cache-control", "max-age=0, Private", Sameness::Private);
        both("cache-control", "no-store", Sameness::Private);
        both("x-user", "ana", Sameness::HeadersDiffer);
        let vary = [("vary", "Accept-Encoding", 7); 2];
        check(&vary, &vary, Sameness::Same);
        // The number of a request is another one each time.
        let first = [("x-request-id", "1", 7), ("x-request-id", "2", 7)];
        let second = [("x-request-id", "3", 7), ("x-request-id", "4", 7)];
        check(&first, &second, Sameness::Same);
        let users = [("x-user", "ana", 7), ("x-user", "ben", 7)];
        check(&users, &users, Sameness::HeadersDiffer);
    }

    /// Users who are logged out by now are new visitors, and prove nothing of users.
    #[test]
    fn another_body_than_the_loads_is_no_proof() {
        let mut round = vec![page(&[], 7), page(&[], 7)];
        assert_eq!(compared([&round, &round]), Sameness::Same);
        for reply in round.iter_mut().flatten() {
            reply.is_as_in_load = false;
        }
        assert_eq!(compared([&round, &round]), Sameness::NotAsInLoad);
    }

    #[test]
    fn who_is_refused_has_no_proof() {
        let well = vec![page(&[], 7), page(&[], 7)];
        let refused = vec![page(&[], 7), None];
        assert_eq!(compared([&well, &refused]), Sameness::Refused);
        let mut redirected = well.clone();
        redirected[1].as_mut().expect("a reply").status = 302;
        assert_eq!(compared([&redirected, &well]), Sameness::Refused);
        assert_eq!(compared([&well, &well]), Sameness::Same);
    }
}
