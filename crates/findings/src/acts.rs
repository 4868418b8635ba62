//! Activities and waits of requests besides calls, added up by kind, name and source line.

use std::collections::BTreeMap;

use breakdown::Joined;
use recording::{ActKind, Handled, Recording, TextId};

/// One kind of act at one source line, over the measured requests.
#[derive(Clone, Debug)]
pub(crate) struct ActSum<'a> {
    pub(crate) kind: ActKind,
    /// Name of the act; empty when unnamed.
    pub(crate) what: &'a str,
    /// Source lines, innermost first; empty if not recorded.
    pub(crate) site: &'a str,
    pub(crate) count: u64,
    pub(crate) time_ms: f64,
    /// Routes with the requests and milliseconds of the act; the longest time first.
    pub(crate) routes: Vec<(usize, u64, f64)>,
    /// Name and source lines of the acts, as recorded.
    ids: Vec<(TextId, TextId)>,
}

#[derive(Default)]
struct Sum {
    count: u64,
    nanos: u64,
    routes: BTreeMap<usize, (u64, u64)>,
}

/// All acts of the measured requests, the one with most time first.
pub(crate) fn sum<'a>(recording: &'a Recording, joined: &Joined<'a>) -> Vec<ActSum<'a>> {
    let mut sums: BTreeMap<(ActKind, TextId, TextId), Sum> = BTreeMap::new();
    for request in &joined.requests {
        for act in request.handled.iter().flat_map(|handled| &handled.acts) {
            let sum = sums.entry((act.kind, act.what, act.site)).or_default();
            sum.count += u64::from(act.count);
            sum.nanos += act.time.0;
            let route = sum.routes.entry(request.route).or_default();
            *route = (route.0 + 1, route.1 + act.time.0);
        }
    }
    let text = |id| recording.texts.get(id).unwrap_or("");
    let mut all: Vec<ActSum<'a>> = sums
        .into_iter()
        .map(|((kind, what, site), sum)| {
            let ms = |nanos: u64| nanos as f64 / 1e6 * joined.weight;
            let route = |(route, (requests, nanos))| (route, joined.in_all(requests), ms(nanos));
            let mut routes: Vec<_> = sum.routes.into_iter().map(route).collect();
            routes.sort_by(|a, b| b.2.total_cmp(&a.2));
            ActSum {
                kind,
                what: text(what),
                site: text(site),
                count: joined.in_all(sum.count),
                time_ms: ms(sum.nanos),
                routes,
                ids: vec![(what, site)],
            }
        })
        .collect();
    all.sort_by(|a, b| b.time_ms.total_cmp(&a.time_ms));
    all
}

impl<'a> ActSum<'a> {
    /// Sums all acts into one, at the place of the longest. `None` without an act.
    pub(crate) fn together(acts: &[&ActSum<'a>]) -> Option<ActSum<'a>> {
        let (first, others) = acts.split_first()?;
        let mut sum = ActSum::clone(first);
        for act in others {
            sum.count += act.count;
            sum.time_ms += act.time_ms;
            sum.ids.extend(&act.ids);
            for (route, requests, ms) in &act.routes {
                match sum.routes.iter_mut().find(|known| known.0 == *route) {
                    Some(known) => *known = (*route, known.1.max(*requests), known.2 + ms),
                    None => sum.routes.push((*route, *requests, *ms)),
                }
            }
        }
        sum.routes.sort_by(|a, b| b.2.total_cmp(&a.2));
        Some(sum)
    }
}

impl ActSum<'_> {
    /// Requests with the act.
    pub(crate) fn requests(&self) -> u64 {
        self.routes.iter().map(|(_, requests, _)| requests).sum()
    }

    /// Returns the time of the act in one request, milliseconds.
    pub(crate) fn ms_in(&self, handled: &Handled) -> f64 {
        let acts = handled.acts.iter();
        let same =
            acts.filter(|act| act.kind == self.kind && self.ids.contains(&(act.what, act.site)));
        same.map(|act| act.time.as_millis_f64()).sum()
    }

    /// Mean time of the act in a request with such an act, milliseconds.
    pub(crate) fn each_ms(&self) -> f64 {
        self.time_ms / self.requests().max(1) as f64
    }
}
