//! One statement again and again in one request, from one source line.

use std::collections::{BTreeMap, HashMap};

use recording::{Nanos, RequestId, SqlUse, TextId};
use words::{Text, text};

use crate::context::Context;
use crate::demand::Demand;
use crate::numbers;
use crate::query;
use crate::text::{called_from, fit, ms, place, times, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Executions per request from which repetition is a finding: the usual rule for production (bullet
/// and prosopite flag 2, in development, where a false alarm costs less).
const REPEATS_MIN: f64 = 5.0;
/// From here on no one loops on purpose. Found by weighing.
const REPEATS_SURE: f64 = 10.0;
/// Requests that must show it: fewer may be a retry or a cache filling up.
const REQUESTS_MIN: u64 = 3;
/// Difference of how often two statements are repeated, relative, up to which that is equally often: a request that fails in the
/// middle of a loop has one less.
const EQUALLY_OFTEN: f64 = 0.02;
/// Statements of one loop that evidence shows.
const SHOWN: usize = 4;

#[derive(Default)]
struct Repeat {
    /// The request counted last: different helpers may lead from one line to one statement.
    last: Option<RequestId>,
    requests: u64,
    count: u64,
    time: Nanos,
    gvl_wait: Nanos,
    rows: u64,
    /// One of the lines that issue it.
    site: TextId,
}

/// A statement that is repeated on one route.
struct Repeated<'a> {
    route: &'a str,
    digest: &'a str,
    site: Option<&'a str>,
    repeat: Repeat,
    saved: Demand,
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut places: BTreeMap<&str, Vec<Repeated<'_>>> = BTreeMap::new();
    for repeated in repeated(context) {
        let place = repeated.site.map_or(repeated.digest, looping);
        places.entry(place).or_default().push(repeated);
    }
    let mut loops: Vec<Vec<Repeated<'_>>> = Vec::new();
    for found in places.into_values() {
        let same = loops.iter_mut().find(|other| are_one_loop(other, &found));
        match same {
            Some(same) => same.extend(found),
            None => loops.push(found),
        }
    }
    let found = loops.into_iter().filter_map(|mut found| {
        found.sort_by(|a, b| {
            let named = a.is_transaction().cmp(&b.is_transaction());
            let by_cost = b.saved.sum().total_cmp(&a.saved.sum());
            named
                .then(by_cost)
                .then_with(|| (a.route, a.digest).cmp(&(b.route, b.digest)))
        });
        finding(context, &found)
    });
    found.collect()
}

/// Whether statements are repeated by one loop: equally often on one route, below a line that both name. A loop over orders that
/// asks for each one's customer in a template and for its total in a model is one.
fn are_one_loop(a: &[Repeated<'_>], b: &[Repeated<'_>]) -> bool {
    let alike = |a: &Repeated<'_>, b: &Repeated<'_>| {
        let times = a.repeat.per_request() / b.repeat.per_request();
        a.route == b.route && (times - 1.0).abs() <= EQUALLY_OFTEN && share_a_line(a.site, b.site)
    };
    a.iter().any(|a| b.iter().any(|b| alike(a, b)))
}

fn share_a_line(a: Option<&str>, b: Option<&str>) -> bool {
    let mut lines = breakdown::lines_of(a.unwrap_or(""));
    lines.any(|line| {
        !line.is_empty() && breakdown::lines_of(b.unwrap_or("")).any(|of_b| of_b == line)
    })
}

/// The line of the loop that a line is in: its caller in the same file, which a block has. What several statements of one loop
/// and its routes cost goes with one change.
fn looping(site: &str) -> &str {
    fn file(line: &str) -> Option<&str> {
        line.rsplit_once(':').map(|(file, _)| file)
    }
    let line = breakdown::line_of(site);
    let caller = breakdown::lines_of(site).nth(1);
    caller
        .filter(|caller| file(caller) == file(line))
        .unwrap_or(line)
}

fn repeated<'a>(context: &'a Context<'_>) -> Vec<Repeated<'a>> {
    let mut repeats: HashMap<(usize, TextId, Option<&str>), Repeat> = HashMap::new();
    let mut lines: HashMap<(usize, TextId), Nanos> = HashMap::new();
    for request in &context.joined.requests {
        for used in request.handled.iter().flat_map(|handled| &handled.sql) {
            *lines.entry((request.route, used.site)).or_default() += used.time - used.gvl_wait;
            let key = (request.route, used.digest, context.joined.site(used.site));
            repeats
                .entry(key)
                .or_default()
                .add(request.exchange.id, used);
        }
    }
    let often =
        |repeat: &Repeat| repeat.requests >= REQUESTS_MIN && repeat.per_request() >= REPEATS_MIN;
    let often = repeats.into_iter().filter(|(_, repeat)| often(repeat));
    often
        .map(|((route, digest, site), repeat)| {
            let of_line = lines
                .get(&(route, repeat.site))
                .copied()
                .unwrap_or_default();
            let text = context.text(digest);
            let cost = repeat.cost(context, (route, text), of_line);
            Repeated {
                route: &context.joined.routes[route],
                digest: text,
                site,
                saved: cost.times(1.0 - 1.0 / repeat.per_request()),
                repeat: repeat.of_all(context),
            }
        })
        .filter(|repeated| repeated.counts() || repeated.is_transaction())
        .collect()
}

impl Repeated<'_> {
    fn counts(&self) -> bool {
        const VERBS: [&str; 6] = ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "REPLACE"];
        VERBS.contains(&query::verb(self.digest).as_str()) || self.store().is_some()
    }

    fn store(&self) -> Option<Store> {
        Store::of(self.digest)
    }

    /// Whether it begins or ends a transaction: around statements of a loop these are part of what the loop costs.
    fn is_transaction(&self) -> bool {
        const VERBS: [&str; 6] = [
            "BEGIN",
            "START",
            "COMMIT",
            "ROLLBACK",
            "SAVEPOINT",
            "RELEASE",
        ];
        VERBS.contains(&query::verb(self.digest).as_str())
    }

    fn reads(&self) -> bool {
        matches!(query::verb(self.digest).as_str(), "SELECT" | "WITH")
    }

    fn is_sure(&self) -> bool {
        (self.reads() || self.store().is_some()) && self.repeat.per_request() >= REPEATS_SURE
    }

    fn evidence(&self, names_route: bool) -> [Text; 2] {
        let repeat = &self.repeat;
        let count = times(repeat.per_request());
        let each = ms(repeat.time.as_millis_f64() / repeat.count as f64);
        // Some drivers do not tell rows, and statements that write have none.
        let rows = match repeat.rows {
            0 => Text::default(),
            rows => text!(", {rows} rows in all", rows = numbers::count(rows)),
        };
        let requests = numbers::count(repeat.requests);
        let of = if names_route {
            text!(" of {route}", route = self.route)
        } else {
            Text::default()
        };
        [
            text!(
                "{count} executions per request in {requests} requests{of}, {each} each{rows}",
                count,
                requests,
                of,
                each,
                rows
            ),
            fit(self.digest, 200).into(),
        ]
    }
}

impl Repeat {
    fn add(&mut self, request: RequestId, used: &SqlUse) {
        if self.last != Some(request) {
            self.last = Some(request);
            self.requests += 1;
        }
        self.count += u64::from(used.count);
        self.time += used.time;
        self.gvl_wait += used.gvl_wait;
        self.rows += used.rows;
        self.site = used.site;
    }

    /// In all requests of the run, where only some carried a number.
    fn of_all(&self, context: &Context<'_>) -> Repeat {
        let all = |count| context.joined.in_all(count);
        Repeat {
            last: self.last,
            requests: all(self.requests),
            count: all(self.count),
            time: Nanos(all(self.time.0)),
            gvl_wait: Nanos(all(self.gvl_wait.0)),
            rows: all(self.rows),
            site: self.site,
        }
    }

    fn per_request(&self) -> f64 {
        self.count as f64 / self.requests as f64
    }

    /// What all its executions take in all requests: time in the driver without waiting for the GVL, and where samples say
    /// it all that runs below the line that issues them, without what makes objects of rows: they are needed however they are
    /// fetched. Statements that share the line share that by their time.
    fn cost(
        &self,
        context: &Context<'_>,
        (route, digest): (usize, &str),
        of_line: Nanos,
    ) -> Demand {
        let own = (self.time - self.gvl_wait).as_millis_f64();
        let all = own * context.joined.weight;
        let driver = match Store::of(digest) {
            Some(_) => context.service_demand(route, all),
            None => context.sql_demand(&context.joined.routes[route], all),
        };
        match context.shares_below(route, self.site) {
            Some(shares) if of_line > Nanos::ZERO => {
                let (held, _) = context.held_of(route);
                let share = (own / of_line.as_millis_f64()).min(1.0);
                driver.at_least_held(route, shares.issuing * held * share)
            }
            _ => driver,
        }
    }
}

/// A store that is not SQL, as the agent names its calls.
#[derive(Clone, Copy)]
enum Store {
    Redis,
    Memcached,
}

impl Store {
    fn of(digest: &str) -> Option<Store> {
        match digest.split(' ').next() {
            Some("Redis") => Some(Store::Redis),
            Some("Memcached") => Some(Store::Memcached),
            _ => None,
        }
    }

    fn remedy(self) -> Remedy {
        let text = match self {
            Store::Redis => {
                text!(
                    "ask once for all of them: `MGET`, `HMGET` or `redis.pipelined`, for `Rails.cache` `read_multi` or \
                     `fetch_multi`; or keep what is read together under one key"
                )
            }
            Store::Memcached => {
                text!(
                    "ask once for all of them: `get_multi`, for `Rails.cache` `read_multi` or `fetch_multi`; or keep \
                     what is read together under one key"
                )
            }
        };
        Remedy {
            text: text.to_owned(),
            exact: None,
            safety: Safety::Code,
        }
    }
}

/// One finding for all that one loop repeats, the costliest first.
fn finding(context: &Context<'_>, found: &[Repeated<'_>]) -> Option<Finding> {
    let most = found.first().filter(|most| most.counts())?;
    let transactions = found.iter().filter(|each| each.is_transaction()).count();
    let saved = found.iter().map(|each| each.saved.clone()).sum::<Demand>();
    let gain = context.gain(&saved);
    let of_route = found.iter().filter(|each| each.route == most.route);
    let saved_each: f64 = of_route
        .map(|each| each.saved.sum() / each.repeat.requests as f64)
        .sum();
    let mean = context
        .route(most.route)
        .map_or(0.0, |route| route.seen_mean_ms);
    let more = match found.len() - 1 - transactions {
        0 => Text::default(),
        more => text!(" and {more} more", more),
    };
    let room = if more.is_empty() { 36 } else { 26 };
    let what = text!(
        "{kind} on {route}: {times} × {statement}{more} at {place}",
        kind = if most.store().is_some() {
            text!("many calls")
        } else {
            text!("N+1")
        },
        route = most.route,
        times = times(most.repeat.per_request()),
        statement = fit(&query::brief(most.digest), room),
        more,
        place = place(most.site)
    );
    let several = found.iter().any(|each| each.route != most.route);
    let mut evidence: Vec<Text> = most.evidence(several).into();
    evidence.extend(most.site.map(called_from));
    for each in found.iter().skip(1).take(SHOWN - 1) {
        evidence.extend(each.evidence(several));
    }
    let store = most.store();
    Some(Finding {
        rule: if store.is_some() {
            "store-calls"
        } else {
            "n-plus-one"
        },
        route: most.route.to_owned(),
        title: title(what),
        why: text!(
            "each execution is a round trip and work in the driver, and their number grows with the data"
        ),
        evidence,
        remedy: store.map_or_else(
            || remedy(most.digest, most.reads(), transactions > 0),
            Store::remedy,
        ),
        estimated_gain: text!(
            "{gain}: −{saved} of {mean} per request on {route}",
            gain = gain.text,
            saved = ms(saved_each),
            mean = ms(mean),
            route = most.route
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: if found.iter().any(Repeated::is_sure) {
            Confidence::High
        } else {
            Confidence::Medium
        },
    })
}

fn remedy(digest: &str, reads: bool, in_transactions: bool) -> Remedy {
    let query = query::read(digest);
    let column = query
        .as_ref()
        .and_then(|query| match query.equal.as_slice() {
            [column] => Some(column.name.as_str()),
            _ => None,
        });
    let text = match column {
        _ if !reads && in_transactions => text!(
            "write all rows with one statement (`insert_all`, `upsert_all`, VALUES with several rows), or at \
             least in one transaction around the loop: each COMMIT waits for the disk"
        ),
        _ if !reads => text!(
            "write all rows with one statement (VALUES with several rows, or a condition that picks them all)"
        ),
        Some(column) if aggregates(digest) => {
            text!(
                "query once: {column} IN (…) with GROUP BY {column}; or keep the number in a column",
                column
            )
        }
        Some(column) => {
            text!(
                "collect the values first and query once, with {column} IN (…) or a JOIN",
                column
            )
        }
        None => text!("query once for all of them, with a JOIN or IN (…)"),
    };
    // A LIMIT counts the rows of one value only, and a GROUP BY of its own has another meaning with many.
    let plain = query
        .as_ref()
        .is_some_and(|query| !query.limited && !query.grouped);
    let exact = column.filter(|_| reads && plain);
    Remedy {
        text,
        exact: exact.and_then(|column| for_all(digest, column)),
        safety: Safety::Code,
    }
}

/// The statement for all values at once; `None` when it is not plain how. The rows tell which value they
/// belong to, or nobody could hand them out.
fn for_all(digest: &str, column: &str) -> Option<String> {
    if digest.matches(" = ?").count() != 1 {
        return None;
    }
    let (_, rest) = digest.split_once("SELECT ")?;
    let (selected, tail) = rest.split_once(" FROM ")?;
    if selected.to_ascii_uppercase().starts_with("DISTINCT") {
        return None;
    }
    // As the statement spells it, with its table and quotes.
    let spelled = tail.split(" = ?").next()?.rsplit([' ', '(']).next()?;
    let tail = tail.replace(" = ?", " IN (?)");
    if aggregates(digest) {
        return Some(format!(
            "SELECT {spelled}, {selected} FROM {tail} GROUP BY {spelled}"
        ));
    }
    let named = selected
        .split([',', ' ', '.', '`', '"'])
        .any(|word| word == "*" || word.eq_ignore_ascii_case(column));
    let first = if named {
        String::new()
    } else {
        format!("{spelled}, ")
    };
    Some(format!("SELECT {first}{selected} FROM {tail}"))
}

/// Whether a statement sums its rows up.
fn aggregates(digest: &str) -> bool {
    let upper = digest.to_ascii_uppercase();
    ["COUNT(", "SUM(", "MAX(", "MIN(", "AVG("]
        .iter()
        .any(|function| upper.contains(function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_for_all_values_keep_their_meaning() {
        let check = |digest: &str, expected: Option<&str>| {
            assert_eq!(sql_digest::digest(digest.as_bytes()), digest, "no digest");
            assert_eq!(remedy(digest, true, false).exact.as_deref(), expected);
        };
        check(
            "SELECT COUNT(*) AS cnt FROM message WHERE channel_id = ?",
            Some(
                "SELECT channel_id, COUNT(*) AS cnt FROM message WHERE channel_id IN (?) GROUP BY channel_id",
            ),
        );
        check(
            "SELECT name, icon FROM users WHERE id = ?",
            Some("SELECT id, name, icon FROM users WHERE id IN (?)"),
        );
        check(
            "SELECT id, name FROM users WHERE id = ?",
            Some("SELECT id, name FROM users WHERE id IN (?)"),
        );
        check(
            "SELECT * FROM users WHERE id = ?",
            Some("SELECT * FROM users WHERE id IN (?)"),
        );
        check(
            "SELECT `u`.* FROM `users` `u` WHERE `u`.`id` = ?",
            Some("SELECT `u`.* FROM `users` `u` WHERE `u`.`id` IN (?)"),
        );
        check(
            "SELECT m.a FROM m JOIN u ON m.x = u.y WHERE u.`key` = ?",
            Some("SELECT u.`key`, m.a FROM m JOIN u ON m.x = u.y WHERE u.`key` IN (?)"),
        );
        check("SELECT DISTINCT a FROM t WHERE b = ?", None);
        check("SELECT * FROM users WHERE id = ? AND team = ?", None);
        check("SELECT * FROM users WHERE id > ?", None);
        check(
            "SELECT * FROM message WHERE user_id = ? ORDER BY id LIMIT ?",
            None,
        );
        check("SELECT COUNT(*) FROM a WHERE b = ? GROUP BY c", None);
    }
}
