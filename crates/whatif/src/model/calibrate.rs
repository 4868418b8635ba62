//! Calibration: finds what the recording does not show by replaying the recorded setting.

use recording::Nanos;

use super::Model;
use crate::cores::STOLEN_MAX;
use crate::{Costs, Demands, Load, Prediction, Setup, TURNAROUND};

/// Requests replayed for each try.
const TRIED: u32 = 4_000;
/// Rounds of scaling SQL; each brings the replayed mean closer to the recorded one.
const SQL_ROUNDS: u32 = 4;
/// Halvings of the interval in which the cost lies: the last is a thousandth of the first.
const HALVINGS: u32 = 10;
/// Share of busy time below which a station does not limit the throughput.
const LIMITING: f64 = 0.9;
/// Largest credible cost, as a share of a request's own time: the rest is an error of the model,
/// and is reported as one.
const COST_SHARE_MAX: f64 = 0.5;

/// Share of the server's work around the handler left without what pauses cost.
const SERVER_LEFT_MIN: f64 = 0.5;

/// A usual switch on Linux in a virtual machine; [`SWITCH_MAX`] is the largest credible one, ns.
const SWITCH_TRIED: Nanos = Nanos(10_000);
const SWITCH_MAX: f64 = 200_000.0;
/// Share of native code in the CPU off the GVL above which the rest says nothing.
const COMPUTING_MOST: f64 = 0.5;
/// Smallest and largest credible scale of waits in SQL: beyond, the database used CPU recorded
/// elsewhere.
const SQL_SCALE: (f64, f64) = (0.01, 100.0);

/// Largest credible growth: each other statement takes as long again, as if all waited for one
/// lock.
const STRETCH_MAX: f64 = 1.0;
/// Error from which a second run was slowed down by something else.
const STRETCH_ERROR: f64 = 0.1;
/// Error of shares of CPU taken from a sample of requests.
const ON_CORE_ERROR: f64 = 0.02;
/// Most jobs of other programs for each core; a machine with more cannot be measured on.
const FOREIGN_MAX: f64 = 16.0;

/// The cost adjusted to the measured rate.
#[derive(Clone, Copy)]
enum Unknown {
    Turnaround,
    Wake,
    /// Share of the time after a wait for the lock spent holding the lock.
    Held,
}

/// Totals of the recording, to be met by the replay.
pub(super) struct Sums {
    /// Share of running time spent on a core.
    pub(super) on_core: f64,
    /// Mean number of cores used by other programs, and by the app, the database and the generator.
    pub(super) others: f64,
    pub(super) ours: f64,
    /// Mean number of cores given to others by the hypervisor, by the host's count.
    pub(super) stolen: f64,
    /// CPU of a request off the GVL, ns; `None` without a request whose CPU was read.
    pub(super) off_gvl: Option<f64>,
}

pub(super) fn fit(model: &mut Model, sums: &Sums) {
    let on_core = sums.on_core;
    let sql_mean = model.measured.sql_mean;
    // The workload was laid out without what requests compute and hold.
    model.set_demands(model.demands);
    model.recorded.costs.turnaround = TURNAROUND;
    let foreign_max = FOREIGN_MAX * f64::from(model.recorded.cores);
    // They were on a core for the same share of the time in which they would have run.
    model.recorded.costs.foreign = (sums.others / on_core.max(1.0 - STOLEN_MAX)).min(foreign_max);
    fit_stolen(model, sums);
    for _ in 0..SQL_ROUNDS {
        fit_sql(model, sql_mean);
    }
    let server = model.demands;
    fit_lock(model);
    fit_computing(model);
    fit_rate(model);
    // With what is between the requests known, so are the pauses.
    fit_pause(model, server);
    fit_rate(model);
    fit_switch(model, sums);
    fit_sql(model, sql_mean);
    // Switches take a part of what the rate's cost was found to be without them.
    fit_rate(model);
    fit_sql(model, sql_mean);
}

/// Takes out of the workload what a replay of the recorded setting adds for pauses: first from the
/// stretches after waits, at most as if nobody else had run meanwhile, then from the server's work
/// around the handler, given in `server`.
fn fit_pause(model: &mut Model, server: Demands) {
    let most = model.recorded.costs.pause.0 as f64;
    let added = replay(model).pausing_mean.0 as f64;
    let with_pauses = model.workload.means().run;
    let mut taken = |pause| {
        model.set_pause(pause);
        with_pauses - model.workload.means().run
    };
    let (pause, _) = halved(most, |pause| taken(pause) < added);
    let rest = (added - taken(pause)).max(0.0) / 2.0;
    let left = |nanos: f64| (nanos - rest).max(nanos * SERVER_LEFT_MIN);
    model.set_demands(Demands {
        before: left(server.before),
        after: left(server.after),
        ..model.demands
    });
}

/// Finds the cost of a switch of the GVL: the switches of a request and of the statements are to
/// take the CPU recorded off the GVL and not computed there. The CPU is proportional to the cost,
/// so two replays are enough. Where native code takes most of the CPU, the rest is the error of
/// that figure, and no switch takes more than a usual one.
fn fit_switch(model: &mut Model, sums: &Sums) {
    let most = match computes_mostly(model, sums) {
        true => SWITCH_TRIED.0 as f64,
        false => SWITCH_MAX,
    };
    let computing = model.workload.means().computing;
    let off_gvl = (sums.off_gvl.unwrap_or(0.0) - computing).max(0.0);
    let mut with = |switch| {
        model.recorded.costs.switch = switch;
        replay(model).switching_mean.0 as f64
    };
    let (released, tried) = (with(Nanos::ZERO), with(SWITCH_TRIED));
    let share = (off_gvl - released).max(0.0) / (tried - released).max(1.0);
    let found = share * SWITCH_TRIED.0 as f64;
    let found = if tried > released {
        found.min(most)
    } else {
        0.0
    };
    model.recorded.costs.switch = Nanos(found as u64);
}

/// Whether native code takes most of the CPU off the GVL.
fn computes_mostly(model: &Model, sums: &Sums) -> bool {
    let off_gvl = sums.off_gvl.unwrap_or(0.0);
    model.workload.means().computing > off_gvl * COMPUTING_MOST
}

fn replay(model: &Model) -> Prediction {
    model.predict_with(&model.recorded, TRIED)
}

/// Scales the stretches in SQL to give the recorded mean when replayed.
fn fit_sql(model: &mut Model, recorded: Nanos) {
    let replayed = replay(model).sql_mean;
    if recorded == Nanos::ZERO || replayed == Nanos::ZERO {
        return;
    }
    let demands = model.demands;
    let scale = demands.sql_scale * recorded.0 as f64 / replayed.0 as f64;
    model.set_demands(Demands {
        sql_scale: scale.clamp(SQL_SCALE.0, SQL_SCALE.1),
        ..demands
    });
}

/// Finds the share of time on a core for native code wanting one, between no waits and all of the
/// rest of the stretches being such waits: the replay is to be as fast as the run. An open load's
/// throughput does not say it.
fn fit_computing(model: &mut Model) {
    let computes = model
        .computing
        .iter()
        .any(|computing| computing.share > 0.0);
    if !computes || matches!(model.recorded.load, Load::Open { .. }) {
        return;
    }
    let measured = model.measured.rps;
    let mut is_fast = |waits: f64| {
        for computing in &mut model.computing {
            let share = computing.share;
            computing.on_core = if share > 0.0 {
                share + (1.0 - share) * waits
            } else {
                1.0
            };
        }
        model.set_demands(model.demands);
        replay(model).rps >= measured
    };
    if is_fast(1.0) {
        return;
    }
    let (waits, _) = halved(1.0, &mut is_fast);
    is_fast(waits);
}

/// Finds how long the lock is held after a wait, from the recorded wait of requests for the lock.
fn fit_lock(model: &mut Model) {
    let Some(recorded) = model.lock.as_ref().map(|lock| lock.wait_mean) else {
        return;
    };
    let (held, _) = halved(1.0, |held| {
        model.set_held(held);
        replay(model).lock_wait_mean < recorded
    });
    model.set_held(held);
}

/// Returns the ends of an interval from 0 to `most`, halved repeatedly; `holds` is true at the
/// lower end and false at the upper.
fn halved(most: f64, mut holds: impl FnMut(f64) -> bool) -> (f64, f64) {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low, high)
}

/// Finds the stolen share of the cores: the share missing where neither the replayed jobs nor other
/// programs explain the recorded waits for a core. Time in which the app, its database and the
/// generator were on a core was not stolen. Beside native code competing for the cores, only time
/// counted as stolen by the host is.
fn fit_stolen(model: &mut Model, sums: &Sums) {
    let on_core = sums.on_core;
    if replay(model).on_core <= on_core + ON_CORE_ERROR {
        return;
    }
    let cores = f64::from(model.recorded.cores);
    let most = match computes_mostly(model, sums) {
        true => sums.stolen / cores,
        false => 1.0 - sums.ours / cores,
    };
    let most = most.clamp(0.0, STOLEN_MAX);
    let (stolen, _) = halved(most, |stolen| {
        model.recorded.costs.stolen = stolen;
        replay(model).on_core > on_core
    });
    model.recorded.costs.stolen = stolen;
}

/// Finds how much stretches in SQL grow with each other one, to make the first run's model give the
/// second's mean too.
pub(super) fn fit_stretch(model: &mut Model, second: &Model) -> bool {
    let (first, wanted) = (model.measured.sql_mean, second.measured.sql_mean);
    if first == Nanos::ZERO || wanted == Nanos::ZERO {
        return false;
    }
    let setup = |model: &Model| Setup {
        costs: model.recorded.costs,
        ..second.recorded
    };
    let mut try_with = |stretch: f64| {
        model.recorded.costs.sql_stretch = stretch;
        for _ in 0..SQL_ROUNDS {
            fit_sql(model, first);
        }
        model.predict_with(&setup(model), TRIED).sql_mean.0 as f64
    };
    let wanted = wanted.0 as f64;
    let rising = try_with(STRETCH_MAX) > try_with(0.0);
    let (low, high) = halved(STRETCH_MAX, |stretch| {
        (try_with(stretch) < wanted) == rising
    });
    let reached = try_with((low + high) / 2.0);
    fit_rate(model);
    (reached / wanted - 1.0).abs() <= STRETCH_ERROR
}

/// Finds the cost to slow a closed load's replay down to the measured rate.
fn fit_rate(model: &mut Model) {
    if matches!(model.recorded.load, Load::Open { .. }) || model.measured.rps <= 0.0 {
        return;
    }
    let now = replay(model);
    let unknown = if now.gvl_busy >= LIMITING {
        Unknown::Wake
    } else if model.lock.is_some() && now.lock_busy >= LIMITING {
        Unknown::Held
    } else {
        Unknown::Turnaround
    };
    let means = model.workload.means();
    let time = COST_SHARE_MAX * (means.run + means.wait + means.beside());
    let before = model.recorded.costs;
    let set = |model: &mut Model, value: f64| match unknown {
        Unknown::Held => model.set_held(value),
        Unknown::Turnaround | Unknown::Wake => model.recorded.costs = with(before, unknown, value),
    };
    let most = match unknown {
        Unknown::Held => 1.0,
        Unknown::Turnaround | Unknown::Wake => time,
    };
    let (value, _) = halved(most, |value| {
        set(model, value);
        replay(model).rps > model.measured.rps
    });
    set(model, value);
}

fn with(costs: Costs, unknown: Unknown, nanos: f64) -> Costs {
    let nanos = Nanos(nanos as u64);
    match unknown {
        Unknown::Turnaround => Costs {
            turnaround: nanos,
            ..costs
        },
        Unknown::Wake => Costs {
            wake: nanos,
            ..costs
        },
        Unknown::Held => costs,
    }
}
