//! Costs of the app's source lines with the GVL, by the samples of the run's profile.
//!
//! A driver's time is the lesser part of what a statement costs: an object mapper builds it, reads
//! its result, and makes objects of the rows, all below the line that issues it. Samples there
//! know.

mod around;
mod callers;
mod held;
mod io;
mod seen;
mod work;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use breakdown::Joined;
use recording::{Handled, Recording, TextId};
use stacks::{Profile, Sample, State};

use crate::text::file_of;
use around::Around;
use callers::Callers;
use held::Waiting;
pub(crate) use held::{HeldWait, Holds};
pub(crate) use io::IoLine;
use io::{Io, reads_or_writes, waits};
pub(crate) use seen::is_template;
use seen::{Seen, Stacks, spawns};
use work::Works;
pub(crate) use work::{ByKind, Named};

/// Samples of a route below which nothing is said of the route's lines.
const SAMPLES_MIN: u32 = 30;

/// The samples with the GVL held, by route.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    routes: BTreeMap<usize, OfRoute>,
    collecting: Collecting,
    waiting: Waiting,
    around: Around,
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

/// A method of the app, and what ran in the method or in libraries below.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hot {
    /// Index of the route.
    pub(crate) route: usize,
    /// Such as `Roster#find_all`.
    pub(crate) method: String,
    /// The busiest line of the method, such as `lib/roster.rb:12`.
    pub(crate) line: String,
    /// Share of the route's time with the GVL, 0 to 1.
    pub(crate) share: f64,
    /// The most frequent innermost method, with a share of the samples of the outer one.
    pub(crate) innermost: (String, f64),
    /// The library's method called most by the busiest line, with a share of the samples of the
    /// line.
    pub(crate) called: (String, f64),
    /// Share of the route's time with the GVL in the busiest line, without templates rendered from
    /// there.
    pub(crate) line_share: f64,
    /// Share of the route's time with the GVL spent starting other programs.
    pub(crate) spawning: f64,
    /// Share of the method's samples collecting garbage.
    pub(crate) collecting: f64,
    /// Share of the route's waits for files and sockets.
    pub(crate) reading: f64,
    weight: u64,
    collected: u64,
    read: u64,
    lines: HashMap<String, u64>,
    leaves: HashMap<String, u64>,
    /// Weights of the library's methods called, by line.
    calls: HashMap<String, HashMap<String, u64>>,
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
        costs.around = Around::of(profile, &routes);
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

    /// Share of the app's work outside of requests spent compressing responses; `None` with too
    /// few samples.
    pub(crate) fn compressing(&self) -> Option<f64> {
        self.around.compressing()
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
            hot.reading = hot.read as f64 / self.read.max(1) as f64;
            hot.share = hot.weight as f64 / self.weight.max(1) as f64;
            hot.collecting = hot.collected as f64 / hot.weight.max(1) as f64;
            if let Some((line, weight)) = most(&hot.lines) {
                if let Some((called, of_call)) = hot.calls.get(line).and_then(most) {
                    hot.called = (called.clone(), *of_call as f64 / (*weight).max(1) as f64);
                }
                hot.line_share = *weight as f64 / self.weight.max(1) as f64;
                hot.line = line.clone();
            }
            let spawning = hot.leaves.iter().filter(|(leaf, _)| spawns(leaf));
            let spawning: u64 = spawning.map(|(_, weight)| weight).sum();
            hot.spawning = spawning as f64 / self.weight.max(1) as f64;
            if let Some((leaf, weight)) = most(&hot.leaves) {
                hot.innermost = (leaf.clone(), *weight as f64 / hot.weight.max(1) as f64);
            }
        }
    }
}

/// The heaviest, by name where two weigh the same.
fn most(weights: &HashMap<String, u64>) -> Option<(&String, &u64)> {
    weights
        .iter()
        .max_by_key(|(name, weight)| (**weight, *name))
}

/// The samples in the order of sampling.
fn in_order(profile: &Profile) -> Vec<&Sample> {
    let mut samples: Vec<&Sample> = profile.samples.iter().collect();
    samples.sort_by_key(|sample| sample.at);
    samples
}

/// The source lines of a chain, equal neighbours once: a block and a method may stand on one
/// line.
fn lines(site: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = breakdown::lines_of(site).collect();
    lines.dedup();
    lines
}

/// The source lines named by the requests' statements and acts.
fn sites<'a>(recording: &'a Recording, joined: &Joined<'a>) -> Vec<&'a str> {
    let acts = |handled: &'a Handled| handled.acts.iter().map(|act| act.site);
    let mut sites = texts(recording, joined, acts);
    sites.extend(texts(recording, joined, statements));
    sites
}

/// The innermost lines issuing statements.
fn issuing<'a>(recording: &'a Recording, joined: &Joined<'a>) -> HashSet<&'a str> {
    let sites = texts(recording, joined, statements).into_iter();
    sites.map(breakdown::line_of).collect()
}

fn statements(handled: &Handled) -> impl Iterator<Item = TextId> {
    handled.sql.iter().map(|used| used.site)
}

/// The texts named by all requests in the given way, each once.
fn texts<'a, Named: Iterator<Item = TextId>>(
    recording: &'a Recording,
    joined: &Joined<'a>,
    named: impl Fn(&'a Handled) -> Named,
) -> Vec<&'a str> {
    let handled = joined.requests.iter().filter_map(|request| request.handled);
    let named: BTreeSet<TextId> = handled.flat_map(named).collect();
    let texts = named
        .into_iter()
        .filter_map(|site| recording.texts.get(site));
    texts.filter(|text| !text.is_empty()).collect()
}

/// The app's folder: the root of the relative source lines, as found in the profile's files.
fn root(profile: &Profile, sites: &[&str]) -> Option<String> {
    let mut votes: BTreeMap<String, usize> = BTreeMap::new();
    let named = sites.iter().flat_map(|site| lines(site));
    let mut files: Vec<&str> = named.filter_map(file_of).collect();
    files.sort_unstable();
    files.dedup();
    for frame in profile.frames() {
        for file in &files {
            let root = frame
                .file
                .strip_suffix(file)
                .and_then(|root| root.strip_suffix('/'));
            if let Some(root) = root.filter(|root| !root.contains("/gems")) {
                *votes.entry(root.to_owned()).or_default() += 1;
            }
        }
    }
    let most = votes.into_iter().max_by_key(|(_, votes)| *votes);
    most.map(|(root, _)| root)
}
