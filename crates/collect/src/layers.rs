//! Where between load, proxy, app and database the time of a request is, by host: the balance of
//! several hosts. Pure.
//!
//! What is known, from outside to inside: the generator's own time (of `hakaru run`), the proxy's
//! time (`$request_time`), the proxy's wait for each app host (`$upstream_response_time` by
//! `$upstream_addr`), the app's own account (its agents' records, else `X-Runtime` in the proxy's
//! log), the number of statements and their time in the server (slow log or counters), and the
//! round trips of the connections between hosts. A layer is what one knows more than the next. What
//! is not known makes no layer of its own: it stays in the layer outside of it.
//!
//! Each of these is a duration by one clock. No stamps of two hosts are subtracted, so how far
//! their clocks are apart, and how surely that is known, changes nothing here.

mod recorded;

use std::net::IpAddr;

use logs::access::Behind;

use crate::notes::Subject;
pub use recorded::{Recorded, TERMS};

/// Share of an app host's requests with the app's own account, from which the account counts; and
/// share of the proxy's requests among those with an account by agents.
const OWN_SHARE: f64 = 0.9;

/// The load's view of the same requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Client {
    /// Mean time from sent to answered, seconds.
    pub mean_s: f64,
}

/// What a database did in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statements {
    /// Executions.
    pub count: u64,
    /// Time of all executions inside of the server, seconds.
    pub total_s: f64,
    /// Round trips of clients, at the least: one of each execution, of each prepared statement, and
    /// some of each opened connection. 0 where not known.
    pub round_trips: u64,
}

/// Where time passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Between the load and a host.
    Outside(String),
    /// In the web server of a host.
    Proxy(String),
    /// In the app on a host.
    App {
        /// The host, or an address of no known host.
        host: String,
        /// Whether the way from the proxy is included, without an account of the app.
        with_way: bool,
    },
    /// Between two hosts: connections being opened, the way, and queues before the second.
    Between(String, String),
    /// In the database of a host.
    Database(String),
}

/// A part of the mean request.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Where.
    pub place: Place,
    /// Seconds of the mean request of the proxy's log.
    pub mean_s: f64,
    /// The same seconds by the agents' terms, in the order of [`TERMS`]; of apps with agents only.
    pub terms_s: Option<[f64; TERMS.len()]>,
}

/// The mean request of a proxy, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// Requests of the proxy's log.
    pub requests: u64,
    /// Seconds from sent to answered where the load is known, else in the proxy.
    pub mean_s: f64,
    /// Parts in the order of a request's way, `mean_s` together.
    pub layers: Vec<Layer>,
}

/// Returns the name of the host with an address such as `10.0.0.2:9292`, as in the log of a proxy.
/// A socket in a file and an address of the loopback are on the proxy's own host.
pub fn host_at<'a>(hosts: &[Subject<'a>], proxy: &Subject<'a>, address: &str) -> Option<&'a str> {
    if address.starts_with("unix:") {
        return Some(proxy.name);
    }
    let bare = address
        .rsplit_once(':')
        .map_or(address, |(bare, _port)| bare)
        .trim_matches(['[', ']']);
    let address: IpAddr = bare.parse().ok()?;
    match address.is_loopback() {
        true => Some(proxy.name),
        false => owner(hosts, address),
    }
}

/// Returns the host with connections from the address.
pub(crate) fn owner<'a>(hosts: &[Subject<'a>], address: IpAddr) -> Option<&'a str> {
    let has = |host: &&Subject<'a>| host.usage.links.iter().any(|link| link.local == address);
    hosts.iter().find(has).map(|host| host.name)
}

/// Returns the shortest round trip between two hosts, seconds, by either side.
pub(crate) fn round_trip(hosts: &[Subject], one: &str, other: &str) -> Option<f64> {
    let seen = |from: &str, to: &str| {
        let from = hosts.iter().find(|host| host.name == from)?;
        let to = |link: &&crate::sockets::Link| owner(hosts, link.peer) == Some(to);
        let links = from.usage.links.iter().filter(to);
        links
            .map(|link| f64::from(link.rtt_min_us) / 1e6)
            .reduce(f64::min)
    };
    seen(one, other)
        .into_iter()
        .chain(seen(other, one))
        .reduce(f64::min)
}

/// Takes the mean request apart; `None` without an access log with times.
pub fn balance(hosts: &[Subject], client: Option<Client>) -> Option<Balance> {
    let proxy = hosts
        .iter()
        .filter(|host| host.took_s > 0.0)
        .max_by_key(|host| host.requests)?;
    let requests = proxy.requests as f64;
    let waited_s = proxy.behind.iter().map(|one| one.waited.sum()).sum::<f64>() / requests;
    // Each time of a log is rounded by itself.
    let took_s = (proxy.took_s / requests).max(waited_s);
    let mean_s = client.map_or(took_s, |client| client.mean_s.max(took_s));
    let mut layers = Vec::new();
    if client.is_some() {
        let place = Place::Outside(proxy.name.to_owned());
        layers.push(layer(place, mean_s - took_s));
    }
    let place = Place::Proxy(proxy.name.to_owned());
    layers.push(layer(place, took_s - waited_s));
    let database = Inner::of(hosts, proxy);
    let mut database_s = 0.0;
    for one in proxy.behind {
        let (of_app, inner_s) = of_app(hosts, proxy, one, &database);
        layers.extend(of_app);
        database_s += inner_s;
    }
    if let Some(host) = database.host {
        let place = Place::Database(host.to_owned());
        layers.push(layer(place, database_s / requests));
    }
    Some(Balance {
        requests: proxy.requests,
        mean_s,
        layers,
    })
}

/// The database behind the apps, as a share for each request passed on.
struct Inner<'a> {
    host: Option<&'a str>,
    /// Round trips of a request passed on, and the seconds of all statements.
    trips: f64,
    seconds: f64,
}

impl<'a> Inner<'a> {
    fn of(hosts: &[Subject<'a>], proxy: &Subject) -> Inner<'a> {
        let passed_on: u64 = proxy.behind.iter().map(Behind::requests).sum();
        let database = hosts
            .iter()
            .filter_map(|host| Some((host.name, host.statements?)))
            .max_by(|a, b| a.1.total_s.total_cmp(&b.1.total_s));
        let each = |of: f64| of / passed_on.max(1) as f64;
        let (host, done) = database.unzip();
        let done = done.unwrap_or_default();
        let trips = match done.round_trips {
            0 => done.count,
            trips => trips,
        };
        Inner {
            host,
            trips: each(trips as f64),
            seconds: each(done.total_s),
        }
    }
}

/// Returns the layers of one app host (the way there, the app, the way to the database), and the
/// seconds of all requests in the database.
fn of_app(hosts: &[Subject], proxy: &Subject, one: &Behind, database: &Inner) -> (Vec<Layer>, f64) {
    let share = 1.0 / proxy.requests as f64;
    let name = app_host(hosts, proxy, one);
    let waited_s = one.waited.sum();
    let recorded = recorded_by(hosts, proxy, &name)
        .map(|recorded| recorded.of_requests(one.requests(), waited_s));
    let own_s = recorded
        .map(|recorded| recorded.total_s())
        .or_else(|| by_header(one));
    let mut layers = Vec::new();
    if let Some(own_s) = own_s {
        let place = Place::Between(proxy.name.to_owned(), name.clone());
        layers.push(layer(place, (waited_s - own_s) * share));
    }
    let inside_s = own_s.unwrap_or(waited_s);
    // Statements of other clients than these apps may be among those of the database.
    let outside_s = recorded.map_or(inside_s, |recorded| recorded.outside_s());
    let database_s = (database.seconds * one.requests() as f64).min(outside_s);
    let round_trip_s = database
        .host
        .and_then(|host| round_trip(hosts, &name, host))
        .unwrap_or(0.0);
    let way_s = database.trips * one.requests() as f64 * round_trip_s;
    let way_s = way_s.min(outside_s - database_s);
    let place = Place::App {
        host: name.clone(),
        with_way: own_s.is_none(),
    };
    let terms_s = recorded.map(|recorded| recorded.without(database_s + way_s));
    layers.push(Layer {
        terms_s: terms_s.map(|terms_s| terms_s.map(|seconds| seconds * share)),
        ..layer(place, (inside_s - database_s - way_s) * share)
    });
    if let Some(host) = database.host.filter(|host| **host != name) {
        let place = Place::Between(name, host.to_owned());
        layers.push(layer(place, way_s * share));
    }
    (layers, database_s)
}

/// Returns the name of the host of a server behind a proxy, else the server's address: one of no
/// host belongs to none.
fn app_host(hosts: &[Subject], proxy: &Subject, one: &Behind) -> String {
    let only_app = || only_app(hosts, proxy).filter(|_| one.address.is_empty());
    host_at(hosts, proxy, &one.address)
        .or_else(only_app)
        .map_or_else(|| one.address.clone(), str::to_owned)
}

/// Returns the seconds of all requests by the app's header, where most requests have one.
fn by_header(one: &Behind) -> Option<f64> {
    let has_own = one.own.count() as f64 >= OWN_SHARE * one.requests() as f64;
    // Requests without an account are taken to be like the others.
    let mean_s = one.own.mean().filter(|_| has_own)?;
    Some((mean_s * one.requests() as f64).min(one.waited.sum()))
}

/// Returns what the agents of an app host recorded. Of more requests than the proxy passed there
/// many are not the proxy's, and nobody knows which.
fn recorded_by(hosts: &[Subject], proxy: &Subject, name: &str) -> Option<Recorded> {
    let recorded = hosts.iter().find(|host| host.name == name)?.recorded?;
    let is_there = |one: &&Behind| app_host(hosts, proxy, one) == name;
    let passed_on: u64 = (proxy.behind.iter().filter(is_there))
        .map(Behind::requests)
        .sum();
    let is_proxys = OWN_SHARE * recorded.requests as f64 <= passed_on as f64;
    (is_proxys && recorded.requests > 0).then_some(recorded)
}

/// Returns the only possible app host of a log without addresses.
fn only_app<'a>(hosts: &[Subject<'a>], proxy: &Subject<'a>) -> Option<&'a str> {
    let is_app = |host: &&Subject| host.roles.iter().any(|role| role == "app");
    let mut apps = hosts.iter().filter(is_app);
    match (apps.next(), apps.next()) {
        (Some(app), None) => Some(app.name),
        _ if proxy.behind.len() == 1 && hosts.len() == 1 => Some(proxy.name),
        _ => None,
    }
}

fn layer(place: Place, mean_s: f64) -> Layer {
    Layer {
        place,
        mean_s: mean_s.max(0.0),
        terms_s: None,
    }
}
