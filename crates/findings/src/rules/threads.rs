//! Threads a worker: too few (requests wait for a thread) or too many (threads wait for the GVL).
//!
//! The recorded bursts are replayed with other numbers of threads. Recommended is the smallest number
//! that reaches [`CEILING_SHARE`] of the best throughput, within the clients seen and the database pool.

use std::collections::HashMap;

use breakdown::RouteBalance;
use recording::{Burst, BurstKind, LoadMode, Nanos};
use whatif::{Arrivals, Costs, Demands, HandOut, Load, Prediction, Setup, Workload, simulate};

use crate::context::Context;
use crate::numbers::counted;
use crate::text::{ms, percent, times, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// The last tenth of throughput costs most threads: the rule of the recommendation.
const CEILING_SHARE: f64 = 0.9;
/// Most threads tried; beyond it a thread's memory and the scheduler matter, which are not modelled.
const THREADS_MAX: u32 = 64;
/// Requests replayed for each number of threads: p95 then varies by a few percent between seeds.
const REPLAYED: u32 = 8_000;
/// Recorded requests below which nothing is said. Found by weighing.
const SAMPLE_MIN: usize = 50;
/// Share of requests whose routes must have recorded bursts.
const COVERAGE_MIN: f64 = 0.8;
/// Share of the time in the queue, or waiting for the GVL, from which it hurts. Found by weighing.
const WAIT_SHARE_MIN: f64 = 0.2;
/// Share of time a worker's GVL is held by handlers from which further threads only take turns: the rest is
/// taken by the server between them. Found by weighing.
const GVL_FULL: f64 = 0.8;
/// Throughput that more threads must give. Below, noise would be taken for an effect.
const GAIN_MIN: f64 = 0.1;
/// How far the replay of the present setting may be from what was measured before it is doubted.
const MODEL_ERROR_MAX: f64 = 0.25;
/// And before nothing is said at all.
const MODEL_ERROR_HOPELESS: f64 = 0.6;
/// Mean wait for the GVL in ms from which the title tells it. Below, clocks and wake-ups are what is seen.
const WAIT_SHOWN_MIN_MS: f64 = 0.1;
const SEED: u64 = 1;

struct Plan {
    requests: Vec<Vec<Burst>>,
    workload: Workload,
    setup: Setup,
    /// Threads in use now.
    threads: u32,
    /// Most threads that make sense.
    limit: u32,
    recommended: u32,
    /// Relative error of the replay against the run.
    error: f64,
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    plan(context)
        .and_then(|plan| judge(context, &plan))
        .into_iter()
        .collect()
}

fn judge(context: &Context<'_>, plan: &Plan) -> Option<Finding> {
    let overall = &context.breakdown.overall;
    let balance = overall.balance;
    // All of it, `receive` included: the generator sends each request at once, and Puma reads a request
    // on a new connection only when a thread takes it.
    let queued = balance.queue;
    let inside = overall.seen_mean_ms - balance.queue - balance.respond;
    let now = plan.closed(plan.threads)?;
    let then = plan.closed(plan.recommended)?;
    let gain = then.rps / now.rps - 1.0;
    let waits_outside = queued >= WAIT_SHARE_MIN * overall.seen_mean_ms;
    let few = plan.recommended > plan.threads && waits_outside && gain >= GAIN_MIN;
    // A handler that never lets go of the GVL keeps the next one from starting: that wait is in the queue.
    let gvl_full = waits_outside && plan.gvl_held(context) >= GVL_FULL;
    let many = plan.recommended < plan.threads
        && (gvl_full || balance.gvl_wait >= WAIT_SHARE_MIN * inside);
    if few {
        Some(too_few(context, plan, queued, gain))
    } else if many {
        Some(too_many(context, plan, gain))
    } else {
        None
    }
}

fn plan(context: &Context<'_>) -> Option<Plan> {
    let target = &context.recording.meta.target;
    let load = &context.recording.meta.load;
    let (workers, threads) = (target.workers, target.threads);
    if workers == 0 || threads == 0 || load.connections == 0 {
        return None;
    }
    let requests = sample(context)?;
    let clients_each = load.connections.div_ceil(workers);
    let pool = target.database_pool.unwrap_or(u32::MAX).max(1);
    let limit = clients_each.min(pool).min(THREADS_MAX);
    let mut plan = Plan {
        workload: Workload::new(&requests, &Demands::default())?,
        requests,
        setup: Setup {
            workers,
            threads,
            cores: context.recording.meta.cores.max(1),
            load: Load::Closed {
                clients: load.connections,
                think: Nanos::ZERO,
            },
            hand_out: HandOut::Shared,
            costs: Costs {
                turnaround: turnaround(&context.breakdown.overall),
                ..Costs::default()
            },
        },
        threads,
        limit,
        recommended: 0,
        error: 0.0,
    };
    plan.recommended = plan.recommend()?;
    plan.error = plan.model_error(context)?;
    (plan.error <= MODEL_ERROR_HOPELESS).then_some(plan)
}

/// Requests answered a second.
fn rps(context: &Context<'_>) -> f64 {
    context.breakdown.overall.answered as f64 / context.recording.window.length().as_secs_f64()
}

/// What a thread does after the handler, as far as the client's side shows it.
fn turnaround(overall: &RouteBalance) -> Nanos {
    let respond = (overall.balance.respond * 1e6).max(0.0) as u64;
    Nanos(respond).min(whatif::TURNAROUND)
}

impl Plan {
    /// The replay of a closed load with `threads` threads a worker.
    fn closed(&self, threads: u32) -> Option<Prediction> {
        let setup = Setup {
            threads,
            ..self.setup
        };
        simulate(&self.workload, &setup, SEED, REPLAYED)
    }

    /// The replay of the run's own load.
    fn own_load(&self, context: &Context<'_>, threads: u32) -> Option<Prediction> {
        let load = &context.recording.meta.load;
        let load = match (load.mode, load.rate) {
            (LoadMode::Open, Some(rate)) => Load::Open {
                rate,
                arrivals: Arrivals::Poisson,
                connections: load.connections,
            },
            _ => self.setup.load,
        };
        let setup = Setup {
            threads,
            load,
            ..self.setup
        };
        simulate(&self.workload, &setup, SEED, REPLAYED)
    }

    /// Share of the run in which handlers held a worker's GVL.
    fn gvl_held(&self, context: &Context<'_>) -> f64 {
        let held = |bursts: &Vec<Burst>| {
            let running = bursts.iter().filter(|b| b.kind == BurstKind::Running);
            running.map(|b| b.length.as_secs_f64()).sum::<f64>()
        };
        let mean_s = self.requests.iter().map(held).sum::<f64>() / self.requests.len() as f64;
        rps(context) * mean_s / f64::from(self.setup.workers)
    }

    fn recommend(&self) -> Option<u32> {
        let tried: Vec<(u32, f64)> = (1..=self.limit)
            .filter_map(|threads| Some((threads, self.closed(threads)?.rps)))
            .collect();
        let ceiling = tried.iter().map(|(_, rps)| *rps).fold(0.0, f64::max);
        let enough = |tried: &&(u32, f64)| tried.1 >= CEILING_SHARE * ceiling;
        tried.iter().find(enough).map(|(threads, _)| *threads)
    }

    /// How far the replay is from what was measured, relative to it.
    fn model_error(&self, context: &Context<'_>) -> Option<f64> {
        let measured = rps(context);
        let predicted = self.own_load(context, self.threads)?.rps;
        (measured > 0.0).then(|| (predicted / measured - 1.0).abs())
    }

    fn confidence(&self) -> Confidence {
        if self.error <= MODEL_ERROR_MAX {
            Confidence::High
        } else {
            Confidence::Low
        }
    }

    /// Throughput and p95 around the recommended number, and at the present one.
    fn table(&self, context: &Context<'_>) -> Vec<String> {
        let r = self.recommended;
        let mut shown = vec![self.threads, r.saturating_sub(1), r, r + 1];
        shown.sort_unstable();
        shown.dedup();
        shown
            .into_iter()
            .filter(|threads| *threads > 0)
            .filter_map(|threads| {
                let seen = self.own_load(context, threads)?;
                let mark = match threads {
                    _ if threads == self.threads => " (now)",
                    _ if threads == r => " (recommended)",
                    _ => "",
                };
                Some(format!(
                    "predicted at {threads} threads{mark}: {:.0} req/s, p95 {}, GVL wait {}",
                    seen.rps,
                    ms(seen.latency_p95.as_millis_f64()),
                    ms(seen.gvl_wait_mean.as_millis_f64()),
                ))
            })
            .collect()
    }

    /// Throughput may be bought with latency, which must then be said beside it.
    fn p95_change(&self, context: &Context<'_>) -> String {
        let p95 = |threads| {
            let seen = self.own_load(context, threads)?;
            Some(ms(seen.latency_p95.as_millis_f64()))
        };
        match (p95(self.threads), p95(self.recommended)) {
            (Some(now), Some(then)) => format!(" (p95 {now} → {then})"),
            _ => String::new(),
        }
    }

    fn evidence(&self, context: &Context<'_>) -> Vec<String> {
        let mut evidence = self.table(context);
        evidence.push(format!(
            "from {} recorded requests, at most {} threads; the replay of the present setting is {} off",
            self.requests.len(),
            self.limit,
            percent(self.error),
        ));
        evidence
    }

    fn remedy(&self, context: &Context<'_>, side: &str) -> Remedy {
        let r = self.recommended;
        let pool = match context.recording.meta.target.database_pool {
            Some(pool) => format!("; the database pool of {pool} suffices"),
            None => format!(
                "; the database pool must hold {} a worker",
                counted(u64::from(r), "connection")
            ),
        };
        Remedy {
            text: format!(
                "run {} a worker{pool}; {side}",
                counted(u64::from(r), "thread")
            ),
            exact: Some(format!("-t {r}:{r}")),
            safety: Safety::Careful,
        }
    }
}

fn too_few(context: &Context<'_>, plan: &Plan, queued: f64, gain: f64) -> Finding {
    let (threads, r) = (plan.threads, plan.recommended);
    let holder = holder(context);
    let mut evidence = plan.evidence(context);
    let mut route = String::new();
    if let Some((balance, share)) = holder {
        route = balance.route.clone();
        let (what, time) = largest_part(balance);
        evidence.insert(
            0,
            format!(
                "{} holds the threads {} of the time, {} of {} in {what}",
                balance.route,
                percent(share),
                ms(time),
                ms(balance.seen_mean_ms - balance.balance.queue - balance.balance.respond),
            ),
        );
    }
    let share = 1.0 - 1.0 / (1.0 + gain);
    Finding {
        rule: "threads",
        title: title(&format!(
            "{} exhausted: requests queue {}; {r} would serve {} times as many",
            if threads == 1 {
                "the one thread is".to_owned()
            } else {
                format!("{threads} threads are")
            },
            ms(queued),
            times(1.0 + gain),
        )),
        why: format!(
            "all threads have a request while {} of a request's time is waiting for one",
            percent(queued / context.breakdown.overall.seen_mean_ms),
        ),
        evidence,
        remedy: plan.remedy(context, "each thread takes memory, and all share one GVL"),
        estimated_gain: format!(
            "{:+.0}% throughput with {r} threads{}, by replay",
            gain * 100.0,
            plan.p95_change(context),
        ),
        gain_share: share.clamp(0.0, 1.0),
        confidence: plan.confidence(),
        route,
    }
}

fn too_many(context: &Context<'_>, plan: &Plan, gain: f64) -> Finding {
    let (threads, r) = (plan.threads, plan.recommended);
    let wait = context.breakdown.overall.balance.gvl_wait;
    let waits = if wait >= WAIT_SHOWN_MIN_MS {
        format!("requests wait {} for the GVL", ms(wait))
    } else {
        "they take turns on one GVL".to_owned()
    };
    let give = if r == 1 { "gives" } else { "give" };
    Finding {
        rule: "threads",
        route: String::new(),
        title: title(&format!(
            "{threads} threads are too many: {waits}; {r} {give} {} of the throughput",
            percent(1.0 + gain),
        )),
        why: "threads that wait for the GVL hold memory and database connections, and make every \
              request's time depend on its neighbours"
            .to_owned(),
        evidence: plan.evidence(context),
        remedy: plan.remedy(
            context,
            "requests then wait in the queue instead, first come, first served",
        ),
        estimated_gain: format!(
            "{} fewer a worker at {:+.0}% throughput, by replay; for more throughput add workers",
            counted(u64::from(threads - r), "thread"),
            gain * 100.0,
        ),
        gain_share: 0.0,
        confidence: plan.confidence(),
    }
}

/// The route whose requests have the threads most of the time, and its share.
fn holder<'a>(context: &Context<'a>) -> Option<(&'a RouteBalance, f64)> {
    let held = |route: &RouteBalance| {
        let inside = route.seen_mean_ms - route.balance.queue - route.balance.respond;
        inside.max(0.0) * (route.answered - route.unseen) as f64
    };
    let routes = &context.breakdown.routes;
    let total: f64 = routes.iter().map(held).sum();
    let most = routes.iter().max_by(|a, b| held(a).total_cmp(&held(b)))?;
    (total > 0.0).then(|| (most, held(most) / total))
}

fn largest_part(route: &RouteBalance) -> (&'static str, f64) {
    let b = &route.balance;
    let parts = [
        ("GVL wait", b.gvl_wait),
        ("garbage collection", b.gc),
        ("SQL", b.sql),
        ("outgoing HTTP", b.http),
        ("locks", b.lock),
        ("sleep", b.sleep),
        ("other I/O", b.other_io),
        ("CPU", b.cpu),
        ("waiting for a core", b.cpu_wait),
    ];
    parts.into_iter().fold(
        ("", 0.0),
        |most, part| if part.1 > most.1 { part } else { most },
    )
}

/// Recorded requests in the proportions of their routes. The first requests of each route are always
/// recorded, so the recorded ones alone would count rare routes too high.
fn sample(context: &Context<'_>) -> Option<Vec<Vec<Burst>>> {
    const SIZE: f64 = 2_000.0;
    let on_core = on_core(context);
    let mut by_route: HashMap<usize, (u64, Vec<&[Burst]>)> = HashMap::new();
    for request in &context.joined.requests {
        if let Some(handled) = request.handled {
            let (seen, recorded) = by_route.entry(request.route).or_default();
            *seen += 1;
            if !handled.bursts.is_empty() {
                recorded.push(&handled.bursts);
            }
        }
    }
    let seen: u64 = by_route.values().map(|(seen, _)| seen).sum();
    let recorded: usize = by_route.values().map(|(_, recorded)| recorded.len()).sum();
    let covered = by_route
        .values()
        .filter(|(_, recorded)| !recorded.is_empty());
    let covered: u64 = covered.map(|(seen, _)| seen).sum();
    if recorded < SAMPLE_MIN || (covered as f64) < COVERAGE_MIN * seen as f64 {
        return None;
    }
    let mut routes: Vec<_> = by_route.into_iter().collect();
    routes.sort_by_key(|(route, _)| *route);
    let mut requests = Vec::new();
    for (_, (route_seen, recorded)) in routes {
        let wanted = (SIZE * route_seen as f64 / covered as f64).round() as usize;
        let drawn = recorded
            .iter()
            .cycle()
            .take(if recorded.is_empty() { 0 } else { wanted });
        requests.extend(drawn.map(|bursts| scaled(bursts, on_core)));
    }
    Some(requests)
}

/// Share of a recorded burst with the GVL that is work. Waits for a core that workers cause each other
/// are what the replay adds itself; workers that have a core each are delayed by others, who remain.
fn on_core(context: &Context<'_>) -> f64 {
    let meta = &context.recording.meta;
    let balance = context.breakdown.overall.balance;
    let running = balance.cpu + balance.cpu_wait;
    if meta.target.workers <= meta.cores || running <= 0.0 {
        return 1.0;
    }
    balance.cpu / running
}

fn scaled(bursts: &[Burst], on_core: f64) -> Vec<Burst> {
    let scale = |burst: &Burst| match burst.kind {
        BurstKind::Running => Burst {
            length: Nanos((burst.length.0 as f64 * on_core) as u64),
            ..*burst
        },
        _ => *burst,
    };
    bursts.iter().map(scale).collect()
}
