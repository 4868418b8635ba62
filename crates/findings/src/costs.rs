//! Costs of the app's source lines with the GVL, by the samples of the run's profile.
//!
//! A driver's time is the lesser part of what a statement costs: an object mapper builds it, reads
//! its result, and makes objects of the rows, all below the line that issues it. Samples there
//! know.

mod callers;
mod held;
mod hot;
mod io;
mod lines;
mod seen;
mod work;

use std::collections::{BTreeMap, HashMap};

use breakdown::Joined;
use recording::Recording;
use stacks::{Profile, Sample, State};

use callers::Callers;
use held::Waiting;
pub(crate) use held::{HeldWait, Holds};
pub(crate) use hot::Hot;
use hot::most;
pub(crate) use io::IoLine;
use io::{Io, reads_or_writes, waits};
use lines::{issuing, lines, root, sites};
pub(crate) use seen::is_template;
use seen::{Seen, Stacks};
use work::Works;
pub(crate) use work::{ByKind, Named};

/// Samples of a route below which nothing is said of the route's lines.
const SAMPLES_MIN: u32 = 30;

/// Weight of a route's share, in samples, in the share of one request: fewer samples of the request
/// say little, many more say nearly all. Chosen by judgement.
const KNOWN: f64 = 10.0;

/// The samples with the GVL held, by route.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    routes: BTreeMap<usize, OfRoute>,
    collecting: Collecting,
    waiting: Waiting,
}

/// Origin of collections: the greatest allocator starts most collections.
#[derive(Clone, Debug, Default)]
struct Collecting {
    weight: u64,
    samples: u32,
    /// Weights by the app's innermost line; collections below no line count in the sums only.
    lines: HashMap<String, u64>,
}

/// A line of the app below which garbage is collected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Allocator<'a> {
    /// Such as `app/models/report.rb:12`.
    pub(crate) line: &'a str,
    /// Share of all collecting, 0 to 1.
    pub(crate) share: f64,
}

impl Collecting {
    fn add(&mut self, stack: &Seen<'_>, sample: &Sample) {
        self.weight += sample.weight;
        self.samples += sample.count;
        if let Some(line) = stack.chain.first() {
            *self.lines.entry(line.clone()).or_default() += sample.weight;
        }
    }
}

#[derive(Clone, Debug, Default)]
struct OfRoute {
    weight: u64,
    samples: u32,
    /// Weights by request.
    requests: HashMap<u64, u64>,
    /// Waits for files and sockets, and the waits for the GVL right after.
    read: u64,
    /// Weights of statements by chains of the app's lines, innermost first, such as
    /// `app/models/order.rb:12`.
    chains: HashMap<Vec<String>, Below>,
    methods: HashMap<(String, String), Hot>,
    /// Samples making JSON, by the line of the app asking for the JSON.
    json: HashMap<String, u64>,
    /// Samples of loading associations for the JSON.
    json_loads: u64,
    /// Samples around other templates rendered by a template, by the template's line.
    renders: HashMap<String, u64>,
    works: Works,
    io: Io,
}

/// Weights below a chain of lines.
#[derive(Clone, Copy, Debug, Default)]
struct Below {
    weight: u64,
    /// The part of the weight spent making objects of rows.
    rows: u64,
}

/// Shares of a route's time with the GVL, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shares {
    /// Share spent building a statement, issuing the statement and reading the result.
    pub(crate) issuing: f64,
    /// Making objects of the statement's rows.
    pub(crate) rows: f64,
}

impl Costs {
    /// `told` is the app's folder, where reported by the app.
    pub(crate) fn of(
        profile: &Profile,
        recording: &Recording,
        joined: &Joined<'_>,
        told: Option<&str>,
    ) -> Costs {
        let mut costs = Costs::default();
        let told = told.map(|root| root.trim_end_matches('/').to_owned());
        let Some(root) = told.or_else(|| root(profile, &sites(recording, joined))) else {
            return costs;
        };
        let handled = joined.requests.iter().filter_map(|request| {
            let handled = request.handled?;
            Some((handled.id.0, request.route))
        });
        let routes: HashMap<u64, usize> = handled.collect();
        let stacks = Stacks::of(profile, &root, &issuing(recording, joined));
        let mut callers = Callers::of(profile, &root, &stacks, &routes);
        for sample in in_order(profile) {
            let Some(route) = routes.get(&sample.request) else {
                continue;
            };
            costs.waiting.add(profile, &root, *route, sample);
            callers.follow(&stacks, sample);
            let resumed = callers.resumed(profile, &stacks, *route, sample);
            let stack = resumed
                .as_ref()
                .unwrap_or_else(|| stacks.seen(sample.stack));
            let of = costs.routes.entry(*route).or_default();
            of.io.add(stack, sample);
            of.works.add(stack, sample);
            let is_held = matches!(sample.state, State::Running | State::Gc);
            if is_held && stack.loads_json {
                of.json_loads += sample.weight;
            }
            of.add_wait(*route, stack, sample);
            if is_held {
                of.add(*route, stack, sample);
                if sample.state == State::Gc {
                    costs.collecting.add(stack, sample);
                }
            }
        }
        costs.routes.values_mut().for_each(OfRoute::finish);
        costs
    }

    /// Returns the shares of what runs with the GVL below the line issuing a statement. `site` is
    /// the line as it was recorded, of which `telling` leaves out helpers. `None` where nothing
    /// says it.
    pub(crate) fn share_below(&self, route: usize, site: &str, telling: &str) -> Option<Shares> {
        let of = self.routes.get(&route)?;
        let (mut all, told) = (lines(site), lines(telling));
        let helpers = all.len().saturating_sub(told.len());
        all.truncate(helpers + 1);
        let below = of.chains.iter().filter(|(chain, _)| {
            let begins = chain.iter().map(String::as_str).take(all.len());
            begins.eq(all.iter().copied())
        });
        let (mut cost, mut rows) = (0, 0);
        for (_, below) in below {
            cost += below.weight;
            rows += below.rows;
        }
        let share = |weight: u64| weight as f64 / of.weight as f64;
        (of.samples >= SAMPLES_MIN && cost > 0).then(|| Shares {
            issuing: share(cost - rows),
            rows: share(rows),
        })
    }

    /// Whether there are enough samples of a route.
    pub(crate) fn is_sampled(&self, route: usize) -> bool {
        let of = self.routes.get(&route);
        of.is_some_and(|of| of.samples >= SAMPLES_MIN)
    }

    /// Share of a route's time with the GVL spent turning objects into JSON, and the app's line
    /// asking for the greatest part.
    pub(crate) fn json(&self, route: usize) -> Option<(&str, f64)> {
        let of = self.routes.get(&route)?;
        let (line, _) = most(&of.json)?;
        let all: u64 = of.json.values().sum();
        (of.samples >= SAMPLES_MIN).then(|| (line.as_str(), all as f64 / of.weight as f64))
    }

    /// Share of a route's time with the GVL spent loading associations for JSON, all at once while
    /// the JSON is made. Loading them one by one is a finding of its own, and the list's own
    /// rows are needed in any case.
    pub(crate) fn json_loads(&self, route: usize) -> f64 {
        let of = self.routes.get(&route);
        let of = of.filter(|of| of.samples >= SAMPLES_MIN);
        of.map_or(0.0, |of| of.json_loads as f64 / of.weight as f64)
    }

    /// Shares of a route's time, of each kind, in named work and below; `None` without a sample of
    /// the work, or with too few of the route.
    pub(crate) fn work(&self, route: usize, named: Named) -> Option<ByKind> {
        let of = self.routes.get(&route)?;
        let of = Some(of).filter(|of| of.samples >= SAMPLES_MIN)?;
        of.works.shares(named)
    }

    /// Lines of templates with others rendered below, by line and route; each with the share of the
    /// route's time with the GVL spent around the others.
    pub(crate) fn renders(&self) -> BTreeMap<&str, BTreeMap<usize, f64>> {
        let mut lines: BTreeMap<&str, BTreeMap<usize, f64>> = BTreeMap::new();
        for (route, of) in &self.routes {
            let enough = of.renders.iter().filter(|_| of.samples >= SAMPLES_MIN);
            for (line, weight) in enough {
                let share = *weight as f64 / of.weight as f64;
                lines.entry(line).or_default().insert(*route, share);
            }
        }
        lines
    }

    /// Waits of requests with a transaction or a pooled connection in hand.
    pub(crate) fn held_waits(&self) -> Vec<HeldWait> {
        self.waiting.held()
    }

    /// The line of the app below which a route waits longest to read and write.
    pub(crate) fn io(&self, route: usize) -> Option<IoLine<'_>> {
        let of = self.routes.get(&route)?;
        of.io.most(of.weight).filter(|_| of.samples >= SAMPLES_MIN)
    }

    /// The method in which a line of the app waits longest on a route, with a share of the waits.
    pub(crate) fn waits_in(&self, route: usize, line: &str) -> Option<(&str, f64)> {
        self.routes.get(&route)?.io.inside(line)
    }

    /// The line of the app below which most garbage is collected. `None` where too few samples say
    /// it.
    pub(crate) fn allocator(&self) -> Option<Allocator<'_>> {
        let (line, weight) = most(&self.collecting.lines)?;
        (self.collecting.samples >= SAMPLES_MIN).then(|| Allocator {
            line,
            share: *weight as f64 / self.collecting.weight.max(1) as f64,
        })
    }

    /// Share of one request's time with the GVL in a method, 0 to 1: the route's share, as if known
    /// by [`KNOWN`] samples of each request, and the request's own samples.
    pub(crate) fn method_share(&self, hot: &Hot, request: u64) -> f64 {
        let Some(of) = self.routes.get(&hot.route) else {
            return hot.share;
        };
        let known = KNOWN * of.weight as f64 / f64::from(of.samples.max(1));
        let weight =
            |weights: &HashMap<u64, u64>| weights.get(&request).copied().unwrap_or(0) as f64;
        (weight(&hot.requests) + known * hot.share) / (weight(&of.requests) + known).max(1.0)
    }

    /// The methods of the app in which routes run, sorted by share of the route, greatest first.
    pub(crate) fn hot_methods(&self) -> Vec<&Hot> {
        let routes = self.routes.values().filter(|of| of.samples >= SAMPLES_MIN);
        let mut hot: Vec<&Hot> = routes.flat_map(|of| of.methods.values()).collect();
        hot.sort_by(|a, b| {
            b.share
                .total_cmp(&a.share)
                .then_with(|| a.line.cmp(&b.line))
        });
        hot
    }
}

impl OfRoute {
    fn add(&mut self, route: usize, stack: &Seen<'_>, sample: &Sample) {
        let weight = sample.weight;
        self.weight += weight;
        self.samples += sample.count;
        *self.requests.entry(sample.request).or_default() += weight;
        if let Some(line) = &stack.json {
            *self.json.entry(line.clone()).or_default() += weight;
        }
        let Some(innermost) = stack.chain.first() else {
            return;
        };
        if stack.renders {
            *self.renders.entry(innermost.clone()).or_default() += weight;
        }
        if stack.issues {
            let below = self.chains.entry(stack.chain.clone()).or_default();
            below.weight += weight;
            below.rows += if stack.makes_rows { weight } else { 0 };
            return;
        }
        let hot = self.method(route, stack);
        hot.weight += weight;
        *hot.requests.entry(sample.request).or_default() += weight;
        if sample.state == State::Gc {
            hot.collected += weight;
        }
        // What a template renders has lines of its own.
        if !stack.renders {
            *hot.lines.entry(innermost.clone()).or_default() += weight;
        }
        let calls = hot.calls.entry(innermost.clone()).or_default();
        *calls.entry(stack.called.name.clone()).or_default() += weight;
        *hot.leaves.entry(stack.leaf.name.clone()).or_default() += weight;
    }

    fn method(&mut self, route: usize, stack: &Seen<'_>) -> &mut Hot {
        let name = (stack.method.name.clone(), stack.method.file.clone());
        let hot = self.methods.entry(name).or_default();
        hot.route = route;
        hot.method = stack.method.name.clone();
        hot
    }

    /// Takes a sample of a wait for a file or a socket, or for the GVL after one.
    fn add_wait(&mut self, route: usize, stack: &Seen<'_>, sample: &Sample) {
        if !waits(sample) || !reads_or_writes(stack) {
            return;
        }
        self.read += sample.weight;
        if !stack.chain.is_empty() && !stack.issues {
            self.method(route, stack).read += sample.weight;
        }
    }

    fn finish(&mut self) {
        for hot in self.methods.values_mut() {
            hot.finish(self.weight, self.read);
        }
    }
}

/// The samples in the order of sampling.
fn in_order(profile: &Profile) -> Vec<&Sample> {
    let mut samples: Vec<&Sample> = profile.samples.iter().collect();
    samples.sort_by_key(|sample| sample.at);
    samples
}
