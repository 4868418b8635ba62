//! Threads a worker: too few (requests wait for a thread) or too many (threads wait for the GVL).
//!
//! The recorded requests are replayed with other numbers of threads, by the model of `hakaru
//! predict` and with the advice of `hakaru tune --advise`, so that all three say the same.

use crate::exact::Exact;
use crate::rule_id::RuleId;
use breakdown::RouteBalance;
use figures::counted;
use whatif::advice::{Advice, advise};
use whatif::{Model, Prediction, Setup};
use words::{Text, text};

use crate::context::{Context, Replay};
use crate::rules::row_lock::RowWait;
use crate::text::{ms, percent, times, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Requests replayed for each line of the evidence: p95 then varies by a few percent between seeds.
const REPLAYED: u32 = 8_000;
/// Share of the time in the queue, or waiting for the GVL, from which there is a problem. Chosen by
/// judgement.
const WAIT_SHARE_MIN: f64 = 0.2;
/// Share of time a worker's GVL is held from which further threads only take turns. Chosen by
/// judgement.
const GVL_FULL: f64 = 0.8;
/// Smallest gain in throughput of more threads. Below, noise would be taken for an effect.
const GAIN_MIN: f64 = 0.1;
/// Largest ratio of p95 with fewer threads to p95 now: nobody saves memory at the price of requests
/// half as long again.
const P95_GROWTH_MAX: f64 = 1.5;
/// Share of the handlers' time in waits the replay cannot carry from which the replay says nothing
/// about more threads: a tenth of the time is as much as `GAIN_MIN`.
const FOREIGN_SHARE_MIN: f64 = 0.1;
/// Relative error of the replay of the present setting from which the replay is doubted.
const MODEL_ERROR_MAX: f64 = 0.25;
/// And before nothing is said at all.
const MODEL_ERROR_HOPELESS: f64 = 0.6;
/// Mean wait for the GVL in ms from which the title names the wait. Below, clocks and wake-ups are
/// what is measured.
const WAIT_SHOWN_MIN_MS: f64 = 0.1;

struct Plan {
    model: Model,
    advice: Advice,
    /// Threads in use now.
    threads: u32,
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
    // All of it, `receive` included: the generator sends each request at once, and Puma reads a
    // request on a new connection only when a thread takes it.
    let queued = balance.queue;
    let inside = overall.seen_mean_ms - balance.queue - balance.respond;
    let recommended = plan.advice.threads;
    let waits_outside = queued >= WAIT_SHARE_MIN * overall.seen_mean_ms;
    let gvl_waits = balance.gvl_wait >= WAIT_SHARE_MIN * inside;
    let gain = plan.gain();
    if recommended > plan.threads && waits_outside && gain >= GAIN_MIN {
        let is_known = !waits_are_anothers(context, inside);
        return is_known.then(|| too_few(context, plan, queued, gain));
    }
    // A handler that never lets go of the GVL keeps the next one from starting: that wait is in the
    // queue.
    let gvl_full = || waits_outside && plan.replay(plan.threads).gvl_busy >= GVL_FULL;
    let harmless = || plan.p95_ratio() <= P95_GROWTH_MAX;
    (recommended < plan.threads && (gvl_waits || gvl_full()) && harmless())
        .then(|| too_many(context, plan, gain))
}

/// Whether much of the handlers' time is spent in waits the replay cannot carry to other numbers of
/// threads: a wait for a lock, but for the one waited for most, or for a row takes as long as
/// recorded, and native code computing in short stretches needs no core.
fn waits_are_anothers(context: &Context<'_>, inside: f64) -> bool {
    let overall = &context.breakdown.overall;
    let balance = &overall.balance;
    let carried = context.computing_ms();
    let computing = overall
        .cpu_total_ms
        .map_or(0.0, |total| total - balance.cpu - balance.gc - carried);
    let lock = balance.lock - context.lock_wait_ms() + row_wait_ms(context);
    lock.max(computing) >= FOREIGN_SHARE_MIN * inside
}

/// Milliseconds per request of waiting for locked rows.
fn row_wait_ms(context: &Context<'_>) -> f64 {
    let overall = &context.breakdown.overall;
    let seen = (overall.answered - overall.unseen).max(1) as f64;
    let statements = context.breakdown.sql.iter();
    let waits = statements.filter_map(|sql| RowWait::of(context, sql));
    waits.map(|wait| wait.demand.sum()).sum::<f64>() / seen
}

fn plan(context: &Context<'_>) -> Option<Plan> {
    let Replay { model, error, .. } = context.model.as_ref()?;
    (*error <= MODEL_ERROR_HOPELESS).then(|| Plan {
        advice: advise(model),
        threads: model.recorded.threads,
        error: *error,
        model: model.clone(),
    })
}

impl Plan {
    /// Returns the gain in throughput of the recommended threads over the present ones, less 1,
    /// with all threads kept busy by clients.
    fn gain(&self) -> f64 {
        let advice = &self.advice;
        advice.rps(&self.model, advice.threads) / advice.rps(&self.model, self.threads) - 1.0
    }

    /// The replay of the run's own load.
    fn replay(&self, threads: u32) -> Prediction {
        let setup = Setup {
            threads,
            ..self.model.recorded
        };
        self.model.predict_with(&setup, REPLAYED)
    }

    fn confidence(&self) -> Confidence {
        if self.error <= MODEL_ERROR_MAX {
            Confidence::High
        } else {
            Confidence::Low
        }
    }

    /// Throughput and p95 around the recommended number, and at the present one.
    fn table(&self) -> Vec<Text> {
        let r = self.advice.threads;
        let mut shown = vec![self.threads, r.saturating_sub(1), r, r + 1];
        shown.retain(|threads| *threads > 0);
        shown.sort_unstable();
        shown.dedup();
        let line = |threads| {
            let seen = self.replay(threads);
            let mark = match threads {
                _ if threads == self.threads => text!(" (now)"),
                _ if threads == r => text!(" (recommended)"),
                _ => Text::default(),
            };
            text!(
                "predicted at {threads} threads{mark}: {rate} req/s, p95 {p95}, GVL wait {wait}",
                threads,
                mark,
                rate = format!("{:.0}", seen.rps),
                p95 = ms(seen.latency_p95.as_millis_f64()),
                wait = ms(seen.gvl_wait_mean.as_millis_f64())
            )
        };
        shown.into_iter().map(line).collect()
    }

    /// Returns the ratio of p95 with the recommended threads to p95 with the present ones.
    fn p95_ratio(&self) -> f64 {
        let p95 = |threads| self.replay(threads).latency_p95.0.max(1) as f64;
        p95(self.advice.threads) / p95(self.threads)
    }

    /// Returns the change of p95, to be named if throughput is bought with latency.
    fn p95_change(&self) -> Text {
        let p95 = |threads| ms(self.replay(threads).latency_p95.as_millis_f64());
        text!(
            " (p95 {now} → {then})",
            now = p95(self.threads),
            then = p95(self.advice.threads)
        )
    }

    fn evidence(&self) -> Vec<Text> {
        let mut evidence = self.table();
        evidence.push(text!("from {requests} recorded requests, with up to {threads} threads; the replay of the present setting is off by {error}", requests = self.model.sampled, threads = self.advice.tried.len(), error = percent(self.error)));
        evidence
    }

    fn remedy(&self, context: &Context<'_>, side: Text) -> Remedy {
        let r = self.advice.threads;
        let pool = match context.recording.meta.target.database_pool {
            Some(pool) => text!("; the database pool of {pool} suffices", pool),
            None => text!(
                "; the database pool must hold {connections} per worker",
                connections = counted!(u64::from(r), "connection")
            ),
        };
        Remedy {
            text: text!(
                "run {threads} per worker{pool}; {side}",
                threads = counted!(u64::from(r), "thread"),
                pool,
                side
            ),
            exact: Some(Exact::threads(r)),
            safety: Safety::Careful,
        }
    }
}

fn too_few(context: &Context<'_>, plan: &Plan, queued: f64, gain: f64) -> Finding {
    let (threads, r) = (plan.threads, plan.advice.threads);
    let holder = holder(context);
    let mut evidence = plan.evidence();
    let mut route = String::new();
    if let Some((balance, share)) = holder {
        route = balance.route.clone();
        let (what, time) = largest_part(balance);
        evidence.insert(
            0,
            text!(
                "{route} holds the threads {share} of the time, {time} of {held} in {what}",
                route = balance.route,
                share = percent(share),
                time = ms(time),
                held = ms(balance.seen_mean_ms - balance.balance.queue - balance.balance.respond),
                what
            ),
        );
    }
    let share = 1.0 - 1.0 / (1.0 + gain);
    let replayed = context.gain_at(|recorded| Setup {
        threads: r,
        ..recorded
    });
    Finding {
        rule: RuleId::Threads,
        title: title(text!(
            "{threads} busy and requests queue for {queued}; {r} threads would handle {times}× as many",
            threads = if threads == 1 {
                text!("the only thread is")
            } else {
                text!("all {threads} threads are", threads)
            },
            queued = ms(queued),
            r,
            times = times(1.0 + gain)
        )),
        why: text!(
            "all threads are busy, and a request spends {share} of its time waiting for one",
            share = percent(queued / context.breakdown.overall.seen_mean_ms)
        ),
        evidence,
        remedy: plan.remedy(
            context,
            text!("each thread takes memory, and all share one GVL"),
        ),
        estimated_gain: match &replayed {
            Some(gain) => gain.text.clone(),
            None => text!(
                "{gain}% throughput with {r} threads{p95}, by replay",
                gain = format!("{:+.0}", gain * 100.0),
                r,
                p95 = plan.p95_change()
            ),
        },
        gain_share: replayed
            .as_ref()
            .map_or(share, |gain| gain.share)
            .clamp(0.0, 1.0),
        gain: replayed.and_then(|gain| gain.replayed),
        confidence: plan.confidence(),
        route,
    }
}

fn too_many(context: &Context<'_>, plan: &Plan, gain: f64) -> Finding {
    let (threads, r) = (plan.threads, plan.advice.threads);
    let wait = context.breakdown.overall.balance.gvl_wait;
    let waits = if wait >= WAIT_SHOWN_MIN_MS {
        text!("requests wait {wait} for the GVL", wait = ms(wait))
    } else {
        text!("they take turns on one GVL")
    };
    let share = percent(1.0 + gain);
    Finding {
        rule: RuleId::Threads,
        route: String::new(),
        title: title(text!(
            "{threads} threads are too many: {waits}; {fewer} of the throughput",
            threads,
            waits,
            fewer = match r {
                1 => text!("1 gives {share}", share),
                _ => text!("{r} give {share}", r, share),
            }
        )),
        why: text!(
            "threads that wait for the GVL hold memory and database connections, and make every request's time \
             depend on its neighbours"
        ),
        evidence: plan.evidence(),
        remedy: plan.remedy(
            context,
            text!("requests then wait in the queue instead, first come, first served"),
        ),
        estimated_gain: text!(
            "{threads} fewer per worker at {gain}% throughput, by replay; for more throughput add workers",
            threads = counted!(u64::from(threads - r), "thread"),
            gain = format!("{:+.0}", gain * 100.0)
        ),
        gain_share: 0.0,
        gain: None,
        // It makes nothing faster.
        confidence: Confidence::Low,
    }
}

/// Returns the route whose requests occupy the threads most of the time, with the share.
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

fn largest_part(route: &RouteBalance) -> (Text, f64) {
    let b = &route.balance;
    let parts = [
        (text!("GVL wait"), b.gvl_wait),
        (text!("garbage collection"), b.gc),
        (text!("SQL"), b.sql),
        (text!("outgoing HTTP"), b.http),
        (text!("locks"), b.lock),
        (text!("sleep"), b.sleep),
        (text!("other I/O"), b.other_io),
        (text!("CPU"), b.cpu),
        (text!("waiting for a core"), b.cpu_wait),
    ];
    parts
        .into_iter()
        .fold((Text::default(), 0.0), |most, part| {
            if part.1 > most.1 { part } else { most }
        })
}
