//! Derived facts shared by several rules, computed once.

use database::Kind;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use breakdown::{Breakdown, Joined, RouteBalance, SqlSummary};
use recording::{BurstKind, LoadMode, Nanos, Recording, TextId};
use whatif::{Baseline, Model, Removal, Setup};

use crate::acts::{self, ActSum};
use crate::associations::{self, Association};
use crate::calls::{self, LineTimes};
use crate::costs::{Allocator, Costs, HeldWait, Hot, IoLine, Named, Shares};
use crate::demand::{Demand, Demands, Gain, held_ms, most_sure};
use crate::host;
use crate::lookups;
use crate::query;
use crate::types::{Confidence, Facts, Finding};

/// The facts of a run, and requests joined with routes.
pub(crate) struct Context<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) breakdown: &'a Breakdown,
    pub(crate) joined: Joined<'a>,
    /// Sent → answered time of all answered requests.
    pub(crate) service: Nanos,
    demands: Demands,
    /// The run, ready to be replayed; `None` where a replay is impossible.
    pub(crate) model: Option<Replay>,
    /// Costs of source lines by the samples of the run's profile; `None` without a profile.
    costs: Option<Costs>,
    /// Activities of requests besides calls.
    pub(crate) acts: Vec<ActSum<'a>>,
    associations: Vec<Association>,
    held_waits: Vec<HeldWait>,
    lookup_ms: OnceCell<Option<f64>>,
    line_times: OnceCell<LineTimes>,
}

impl<'a> Context<'a> {
    /// Returns the kind of the app's database; `None` where unknown.
    pub(crate) fn database_kind(&self) -> Option<Kind> {
        Kind::of_description(&self.recording.meta.target.database)
    }

    pub(crate) fn new(facts: Facts<'a>) -> Self {
        let joined = breakdown::join(facts.recording);
        let costs = facts.profile.map(|profile| {
            let root = setting(facts.recording, "app root");
            Costs::of(profile, facts.recording, &joined, root)
        });
        Context {
            acts: acts::sum(facts.recording, &joined),
            associations: associations::of(facts.recording),
            recording: facts.recording,
            breakdown: facts.breakdown,
            demands: Demands::of(facts.recording, &joined),
            model: model(facts, &joined),
            held_waits: costs.as_ref().map_or_else(Vec::new, Costs::held_waits),
            lookup_ms: OnceCell::new(),
            line_times: OnceCell::new(),
            costs,
            joined,
            service: facts.breakdown.overall.service.iter().copied().sum(),
        }
    }

    /// `saved_ms` as a share of all sent → answered time.
    pub(crate) fn share(&self, saved_ms: f64) -> f64 {
        if self.service == Nanos::ZERO {
            return 0.0;
        }
        (saved_ms / self.service.as_millis_f64()).clamp(0.0, 1.0)
    }

    /// `time_ms` as a share of the handlers' time. A handler's time leaves out the queue, in which
    /// a request waits for the work of others.
    pub(crate) fn share_inside(&self, time_ms: f64) -> f64 {
        share_of(time_ms, self.handled_ms(|_| true))
    }

    /// Returns an activity's share of the handlers' time on the route with most of the activity; 0
    /// without a known route.
    pub(crate) fn share_of_route(&self, act: &ActSum<'_>) -> f64 {
        let share = |(route, _, ms): &(usize, u64, f64)| self.share_of_handlers(*route, *ms);
        act.routes.first().map_or(0.0, share)
    }

    /// `time_ms` as a share of the handlers' time on one route.
    pub(crate) fn share_of_handlers(&self, route: usize, time_ms: f64) -> f64 {
        share_of(time_ms, self.handled_ms(|of| of == route))
    }

    /// The handlers' time of all requests whose route is wanted, in milliseconds.
    fn handled_ms(&self, is_wanted: impl Fn(usize) -> bool) -> f64 {
        let requests = self.joined.requests.iter();
        let handled = requests
            .filter(|request| is_wanted(request.route))
            .filter_map(|request| request.handled);
        handled
            .map(|handled| handled.parts.total().as_millis_f64() * self.joined.weight)
            .sum()
    }

    /// Returns the gain without `saved`: by replay where the run has one, else by the share of the
    /// time.
    pub(crate) fn gain(&self, saved: &Demand) -> Gain {
        let replay = self.model.as_ref();
        match replay.and_then(|replay| replay.gain(&self.demands.removal(saved))) {
            Some(gain) => Gain::replayed(gain, self.is_open()),
            None => self.demands.gain(saved, self.service.as_millis_f64()),
        }
    }

    /// Returns the gain of other numbers of workers or threads by replay; `None` if the run cannot
    /// be replayed. `None` where this run cannot be replayed.
    pub(crate) fn gain_at(&self, change: impl FnOnce(Setup) -> Setup) -> Option<Gain> {
        let replay = self.model.as_ref()?;
        let setup = change(replay.model.recorded);
        let gain = replay.model.gain_at(replay.baseline.as_ref()?, &setup)?;
        Some(Gain::replayed(gain, self.is_open()))
    }

    /// Returns the greatest confidence in a finding by the replay of its remedy.
    pub(crate) fn most_sure(&self, finding: &Finding) -> Confidence {
        let gain = finding.gain.as_ref();
        gain.map_or(Confidence::High, |gain| most_sure(gain, self.is_open()))
    }

    fn is_open(&self) -> bool {
        self.recording.meta.load.mode == LoadMode::Open
    }

    /// Share of a route's time off the GVL without another name in which native code computes, or
    /// waits for a core to.
    pub(crate) fn computing_share(&self, route: usize) -> f64 {
        let replay = self.model.as_ref();
        replay.map_or(0.0, |replay| replay.model.computing_share(route))
    }

    /// CPU milliseconds per request of native code off the GVL, as carried by the replay.
    pub(crate) fn computing_ms(&self) -> f64 {
        let replay = self.model.as_ref();
        replay.map_or(0.0, |replay| {
            replay.model.workload().means().computing / 1e6
        })
    }

    /// Milliseconds per request of waiting for the lock carried by the replay.
    pub(crate) fn lock_wait_ms(&self) -> f64 {
        let replay = self.model.as_ref();
        replay.map_or(0.0, |replay| replay.model.lock_wait_mean().as_millis_f64())
    }

    /// Returns a demand of `ms` of one kind, on the routes with time of the same kind.
    pub(crate) fn everywhere(&self, kind: BurstKind, ms: f64) -> Demand {
        self.demands.everywhere(kind, ms)
    }

    /// Returns an act's time as a demand of the given kind, from each request by the request's
    /// own. A lock goes with its route, for all requests that take it.
    pub(crate) fn act_demand(&self, act: &ActSum<'_>, kind: BurstKind) -> Demand {
        let parts = act
            .routes
            .iter()
            .map(|(route, _, ms)| Demand::on(*route, kind, *ms));
        let demand: Demand = parts.sum();
        match kind {
            BurstKind::Lock => demand,
            _ => self.placed_by(demand, |handled| act.ms_in(handled)),
        }
    }

    /// A share of a route's time with the GVL.
    pub(crate) fn held_demand(&self, route: usize, share: f64) -> Demand {
        Demand::on(
            route,
            BurstKind::Running,
            share * self.demands.held_ms(route),
        )
    }

    /// The part of a route's time in named work and below, of each kind; `None` without samples of
    /// the work.
    pub(crate) fn work_demand(&self, route: usize, named: Named) -> Option<Demand> {
        let shares = self.costs.as_ref()?.work(route, named)?;
        let of = |kind| {
            Demand::on(
                route,
                kind,
                shares[kind as usize] * self.time_of(route, kind),
            )
        };
        Some(BurstKind::ALL.map(of).into_iter().sum())
    }

    /// A share of a route's time with the GVL in a method, from each request by what samples say
    /// of the request.
    pub(crate) fn method_demand(&self, hot: &Hot, share: f64) -> Demand {
        let demand = self.held_demand(hot.route, share);
        let Some(costs) = &self.costs else {
            return demand;
        };
        self.placed(demand, hot.route, |handled| {
            costs.method_share(hot, handled.id.0) * held_ms(handled)
        })
    }

    /// The lines of the app below which a route's requests run longest.
    pub(crate) fn hot_methods(&self) -> Vec<&Hot> {
        self.costs
            .as_ref()
            .map_or_else(Vec::new, Costs::hot_methods)
    }

    /// The line of the app below which most garbage is collected.
    pub(crate) fn allocator(&self) -> Option<Allocator<'_>> {
        self.costs.as_ref()?.allocator()
    }

    /// Waits of requests with a transaction or a pooled connection in hand, by samples.
    pub(crate) fn held_waits(&self) -> &[HeldWait] {
        &self.held_waits
    }

    /// Mean time of the run's quickest statement for finding a row by a key, milliseconds, see
    /// [`lookups`].
    pub(crate) fn lookup_ms(&self) -> Option<f64> {
        let quickest = || lookups::quickest_ms(self, None, None);
        *self.lookup_ms.get_or_init(quickest)
    }

    /// Milliseconds in a route's calls of one line, without waits for the GVL.
    pub(crate) fn line_ms(&self, route: usize, site: TextId) -> f64 {
        let times = self.line_times.get_or_init(|| calls::line_times(self));
        let time = times.get(&(route, site)).copied();
        time.unwrap_or_default().as_millis_f64()
    }

    /// The line of the app below which a route waits longest to read and write.
    pub(crate) fn io_of(&self, route: usize) -> Option<IoLine<'_>> {
        self.costs.as_ref()?.io(route)
    }

    /// The method in which a line of the app waits longest on a route, with a share of the line's
    /// unnamed waits, by samples.
    pub(crate) fn waits_in(&self, route: usize, line: &str) -> Option<(&str, f64)> {
        self.costs.as_ref()?.waits_in(route, line)
    }

    /// Time of one kind in all requests of a route.
    pub(crate) fn time_of(&self, route: usize, kind: BurstKind) -> f64 {
        self.demands.time_of(route, kind)
    }

    /// Lines of templates with others rendered below; for each route, the share of time with the
    /// GVL spent around the others.
    pub(crate) fn renders(&self) -> BTreeMap<&str, BTreeMap<usize, f64>> {
        let costs = self.costs.as_ref();
        costs.map_or_else(BTreeMap::new, Costs::renders)
    }

    /// Returns the time of a route with the GVL, and the number of the route's requests.
    pub(crate) fn held_of(&self, route: usize) -> (f64, f64) {
        (self.demands.held_ms(route), self.demands.requests(route))
    }

    /// Returns the shares of what runs with the GVL below the line issuing a statement. `None`
    /// without a sample of the line.
    pub(crate) fn shares_below(&self, route: usize, site: TextId) -> Option<Shares> {
        let telling = self.joined.site(site)?;
        let costs = self.costs.as_ref()?;
        costs.share_below(route, self.text(site), telling)
    }

    /// The routes issuing a statement, each with the issuing lines, as recorded.
    pub(crate) fn sites_of(&self, sql: &SqlSummary) -> BTreeSet<(usize, TextId)> {
        let mut sites = BTreeSet::new();
        for request in &self.joined.requests {
            let used = request.handled.iter().flat_map(|handled| &handled.sql);
            let of_statement = used.filter(|used| used.digest == sql.id);
            sites.extend(of_statement.map(|used| (request.route, used.site)));
        }
        sites
    }

    /// Whether samples say where a route's requests run.
    pub(crate) fn is_sampled(&self, route: usize) -> bool {
        let costs = self.costs.as_ref();
        costs.is_some_and(|costs| costs.is_sampled(route))
    }

    /// Share of a route's time with the GVL spent turning objects into JSON, and the app's line
    /// asking for the greatest part.
    pub(crate) fn json_share(&self, route: usize) -> Option<(&str, f64)> {
        self.costs.as_ref()?.json(route)
    }

    /// Demand of loading the associations in a route's JSON.
    pub(crate) fn json_loads(&self, route: usize) -> Demand {
        let costs = self.costs.as_ref();
        let share = costs.map_or(0.0, |costs| costs.json_loads(route));
        self.held_demand(route, share)
    }

    /// Share of the time in which a worker's GVL is held, where the GVL is the scarce resource.
    pub(crate) fn gvl_is_scarce(&self) -> Option<f64> {
        self.demands.gvl_is_scarce()
    }

    /// Returns the mean demand of one request of a route.
    pub(crate) fn request_demand(&self, route: &str) -> Demand {
        self.demands.of_request(&self.joined, route)
    }

    /// Returns the demand of `ms` in SQL calls of a route; waiting for the GVL is left out of `ms`.
    pub(crate) fn sql_demand(&self, route: &str, ms: f64) -> Demand {
        self.demands.of_sql(&self.joined, route, ms)
    }

    /// Returns the demand on a route of `ms` in calls of another service: split as all outgoing
    /// calls of the route are.
    pub(crate) fn service_demand(&self, route: usize, ms: f64) -> Demand {
        self.demands.of_service(route, ms)
    }

    /// Returns the associations between the app's models, as far as reported by the app.
    pub(crate) fn associations(&self) -> &[Association] {
        &self.associations
    }

    /// The tables read by a route's statements.
    pub(crate) fn tables_of(&self, route: &str) -> BTreeSet<String> {
        let on_route = |sql: &&SqlSummary| sql.routes.iter().any(|(name, _)| name == route);
        let statements = self.breakdown.sql.iter().filter(on_route);
        let queries = statements.filter_map(|sql| query::read(&sql.digest));
        let tables = queries.flat_map(|query| query.tables);
        tables.map(|table| table.name).collect()
    }

    /// The balance of a route.
    pub(crate) fn route(&self, name: &str) -> Option<&'a RouteBalance> {
        self.breakdown
            .routes
            .iter()
            .find(|route| route.route == name)
    }

    /// Returns the text with the given id, empty when lost.
    pub(crate) fn text(&self, id: TextId) -> &'a str {
        self.recording.texts.get(id).unwrap_or("")
    }

    /// The route on which an act takes most time; empty when there is none.
    pub(crate) fn route_of(&self, act: &ActSum<'_>) -> &str {
        let route = act
            .routes
            .first()
            .and_then(|(route, ..)| self.joined.routes.get(*route));
        route.map_or("", String::as_str)
    }

    /// Returns the value of a setting, as reported by a process with requests.
    pub(crate) fn setting(&self, name: &str) -> Option<&'a str> {
        setting(self.recording, name)
    }

    /// Whether processes outside of the run, or the hypervisor, used enough CPU to explain waits.
    pub(crate) fn host_is_shared(&self) -> bool {
        host::shares(self.recording).is_some_and(|shares| shares.is_shared())
    }
}

fn share_of(part: f64, whole: f64) -> f64 {
    match whole > 0.0 {
        true => (part / whole).clamp(0.0, 1.0),
        false => 0.0,
    }
}

fn setting<'a>(recording: &'a Recording, name: &str) -> Option<&'a str> {
    let agents = recording.agents.iter();
    let serving = agents.filter(|agent| agent.requests > 0);
    serving.filter_map(|agent| agent.setting(name)).next()
}

/// A run's model.
pub(crate) struct Replay {
    pub(crate) model: Model,
    /// Deviation of the replay of the recorded setting from the measurement, relative to the
    /// latter.
    pub(crate) error: f64,
    /// To which gains are compared; `None` where the replay is too far off.
    baseline: Option<Baseline>,
}

impl Replay {
    fn gain(&self, removal: &Removal) -> Option<whatif::Gain> {
        self.model.gain(self.baseline.as_ref()?, removal)
    }
}

/// Error of a replay above which no gain is derived: the model lacks something of the app.
const REPLAY_ERROR_MAX: f64 = 0.25;

fn model(facts: Facts<'_>, joined: &Joined<'_>) -> Option<Replay> {
    let has_clients = facts.recording.meta.load.connections > 0;
    let model = Model::of(facts.recording, joined, facts.breakdown);
    let model = model.ok().filter(|_| has_clients)?;
    let error = model.error();
    let baseline = (error <= REPLAY_ERROR_MAX).then(|| model.baseline());
    Some(Replay {
        model,
        error,
        baseline,
    })
}
