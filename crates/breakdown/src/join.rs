//! The client's and the app's view of each measured request, with the route.

use std::collections::HashMap;

use recording::{Exchange, Handled, Recording, RequestId, TextId};

use crate::routes;
use crate::sites::Sites;

/// One measured request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The request as observed by the load generator.
    pub exchange: &'a Exchange,
    /// The request as observed by the app; `None` without a record or a number.
    pub handled: Option<&'a Handled>,
    /// Index into [`Joined::routes`].
    pub route: usize,
}

/// The measured requests of a recording.
#[derive(Clone, Debug, Default)]
pub struct Joined<'a> {
    /// Exchanges due in the measured window, in the recording's order.
    pub requests: Vec<Request<'a>>,
    /// Names of the routes, such as `GET /channel/:id`.
    pub routes: Vec<String>,
    /// Requests represented by each recorded one: 1, or more at rates with only a random part of
    /// the requests numbered.
    pub weight: f64,
    by_line: HashMap<TextId, usize>,
    sites: Sites,
}

impl Joined<'_> {
    /// Returns the route of a request line; `None` for a line without a measured exchange.
    pub fn route_of_line(&self, line: TextId) -> Option<&str> {
        let route = *self.by_line.get(&line)?;
        self.routes.get(route).map(String::as_str)
    }

    /// Returns the index of the named route.
    pub fn route_named(&self, name: &str) -> Option<usize> {
        self.routes.iter().position(|route| route == name)
    }

    /// Scales a count from the app's records to all requests.
    pub fn in_all(&self, counted: u64) -> u64 {
        weighted(counted, self.weight)
    }

    /// The telling part of a source line, innermost frame first: helpers through which many
    /// statements go are left out. `None` when its text was lost.
    pub fn site(&self, site: TextId) -> Option<&str> {
        self.sites.get(site)
    }
}

/// Returns the count multiplied by the weight, rounded.
pub(crate) fn weighted(counted: u64, weight: f64) -> u64 {
    (counted as f64 * weight).round() as u64
}

/// Joins exchanges due in the window with the app's records, and names the routes.
///
/// The framework's own pattern names a route if reported for any request with the same line; other
/// lines are matched against these patterns, and what is left is clustered by its segments.
pub fn join(recording: &Recording) -> Joined<'_> {
    let handled: HashMap<RequestId, &Handled> = recording
        .handled
        .iter()
        .filter(|handled| handled.id != RequestId::default())
        .map(|handled| (handled.id, handled))
        .collect();
    let measured: Vec<(&Exchange, Option<&Handled>)> = recording
        .exchanges
        .iter()
        .filter(|exchange| recording.window.contains(exchange.due))
        .map(|exchange| (exchange, handled.get(&exchange.id).copied()))
        .collect();
    let named = name_lines(recording, &measured);
    let mut joined = Joined {
        weight: recording.weight(),
        ..Joined::default()
    };
    let mut index_of: HashMap<String, usize> = HashMap::new();
    let mut intern = |routes: &mut Vec<String>, name: &str| match index_of.get(name) {
        Some(index) => *index,
        None => {
            routes.push(name.to_owned());
            index_of.insert(name.to_owned(), routes.len() - 1);
            routes.len() - 1
        }
    };
    let mut by_framework: HashMap<TextId, usize> = HashMap::new();
    for (line, name) in &named {
        let index = intern(&mut joined.routes, name);
        joined.by_line.insert(*line, index);
    }
    for (exchange, handled) in measured {
        let told = handled.and_then(|handled| {
            let text = recording.texts.get(handled.route)?;
            Some(
                *by_framework
                    .entry(handled.route)
                    .or_insert_with(|| intern(&mut joined.routes, text)),
            )
        });
        let route = told.unwrap_or_else(|| joined.by_line[&exchange.line]);
        joined.requests.push(Request {
            exchange,
            handled,
            route,
        });
    }
    joined.sites = Sites::of(recording, &joined.requests);
    joined
}

/// A route for every line among the measured exchanges, in the order of the lines.
fn name_lines(
    recording: &Recording,
    measured: &[(&Exchange, Option<&Handled>)],
) -> Vec<(TextId, String)> {
    let mut told: HashMap<TextId, Option<&str>> = HashMap::new();
    for (exchange, handled) in measured {
        let route = handled.and_then(|handled| recording.texts.get(handled.route));
        let known = told.entry(exchange.line).or_default();
        *known = known.or(route);
    }
    let lines: Vec<(TextId, String, Option<&str>)> = told
        .into_iter()
        .map(|(line, route)| {
            let text = recording.texts.get(line).map(str::to_owned);
            let text = text.unwrap_or_else(|| format!("unknown request {:016x}", line.0));
            (line, text, route)
        })
        .collect();
    let mut named = routes::name(&lines);
    named.sort();
    named
}
