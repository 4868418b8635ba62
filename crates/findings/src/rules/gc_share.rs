//! Garbage collection with a large part of the work.

use crate::exact::Exact;
use crate::rule_id::RuleId;
use std::collections::BTreeMap;

use breakdown::RouteBalance;
use figures::counted;
use recording::{BurstKind, Handled, RuntimeSample};
use words::{Text, text};

use crate::context::Context;
use crate::costs::Allocator;
use crate::demand::Demand;
use crate::text::{ms, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};
use figures::numbers;

/// Share of the time with the GVL from which tuning the collector pays. A Rails app in good order
/// spends 5 to 10 %.
const WORK_SHARE_MIN: f64 = 0.15;
/// Share of the handlers' time from which collecting is reported among other findings.
const SHARE_MIN: f64 = 0.05;
/// Smallest gain as a share of all time: where hardly anything is done, a large share is still
/// nothing, and no comparison shows less than 2 % on most hosts.
const GAIN_MIN: f64 = 0.02;
/// Share of the collector's time saved by more room or fewer objects. Chosen by judgement.
const SAVED: f64 = 0.5;
/// Share of all collecting below one line of the app from which the line is where to begin.
pub(crate) const SITE_MIN: f64 = 0.4;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let overall = &context.breakdown.overall;
    let balance = &overall.balance;
    let seen = (overall.answered - overall.unseen) as f64;
    let work_share =
        balance.gc / (balance.gc + balance.cpu + balance.cpu_wait).max(f64::MIN_POSITIVE);
    if work_share < WORK_SHARE_MIN || context.share_inside(balance.gc * seen) < SHARE_MIN {
        return Vec::new();
    }
    let site = context.allocator().filter(|site| site.share >= SITE_MIN);
    let saved = site.map_or(SAVED, |site| site.share.max(SAVED));
    let gain = context.gain(&collecting(context, saved));
    if gain.share < GAIN_MIN {
        return Vec::new();
    }
    let cause = cause(&context.recording.runtime);
    let most = allocator(context);
    let (text, exact) = remedy(context, cause.as_deref(), site);
    let because = match (site, cause) {
        (Some(site), _) => text!(", most of it set off at {line}", line = site.line),
        (None, Some(cause)) => text!(", mostly because of {cause}", cause),
        (None, None) => Text::default(),
    };
    vec![Finding {
        rule: RuleId::GcShare,
        route: most.map(|route| route.route.clone()).unwrap_or_default(),
        title: title(text!(
            "garbage collection is {share} of the work{because}",
            share = percent(work_share),
            because
        )),
        why: text!("while one thread collects, no other thread of the process runs Ruby"),
        evidence: evidence(context, most, site),
        remedy: Remedy {
            text,
            safety: if exact.is_some() {
                Safety::Careful
            } else {
                Safety::Code
            },
            exact,
        },
        estimated_gain: text!(
            "{gain}, if {saved} of the collector's time goes",
            gain = gain.text,
            saved = percent(saved)
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: Confidence::Medium,
    }]
}

/// Returns a share of the collector's time, from the requests with collections.
fn collecting(context: &Context<'_>, share: f64) -> Demand {
    let mut routes: BTreeMap<usize, f64> = BTreeMap::new();
    for request in &context.joined.requests {
        if let Some(handled) = request.handled {
            *routes.entry(request.route).or_default() += gc_ms(handled);
        }
    }
    let weight = context.joined.weight * share;
    let of_route = |(route, ms)| Demand::on(route, BurstKind::Running, ms * weight);
    let collecting: Demand = routes.into_iter().map(of_route).sum();
    context.placed_by(collecting, gc_ms)
}

fn gc_ms(handled: &Handled) -> f64 {
    handled.parts.gc.as_millis_f64()
}

fn evidence(
    context: &Context<'_>,
    most: Option<&RouteBalance>,
    site: Option<Allocator<'_>>,
) -> Vec<Text> {
    let balance = &context.breakdown.overall.balance;
    let mut evidence = vec![text!(
        "garbage collection takes {collecting} of the {held} per request with the GVL held",
        collecting = ms(balance.gc),
        held = ms(balance.gc + balance.cpu + balance.cpu_wait)
    )];
    evidence.extend(collections(context));
    evidence.extend(most.map(|route| {
        let each = numbers::count(route.allocations as u64);
        text!(
            "{route} allocates the most objects: {each} per request",
            route = route.route,
            each
        )
    }));
    evidence.extend(site.map(|site| {
        text!(
            "{share} of it below {line}, by samples of the run",
            share = percent(site.share),
            line = site.line
        )
    }));
    evidence
}

/// The route with the most objects allocated in all.
fn allocator<'a>(context: &Context<'a>) -> Option<&'a RouteBalance> {
    let made = |route: &RouteBalance| route.allocations * route.answered as f64;
    let routes = context.breakdown.routes.iter();
    routes
        .filter(|route| made(route) > 0.0)
        .max_by(|a, b| made(a).total_cmp(&made(b)))
}

/// The most frequent reason for a collection, without the reason for a major one.
fn cause(samples: &[RuntimeSample]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in samples {
        let cause = sample.gc_cause.split(',').next().unwrap_or_default();
        if !cause.is_empty() {
            *counts.entry(cause).or_default() += 1;
        }
    }
    let (most, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    Some(most.to_owned())
}

/// Collections of all processes between the first and the last sample of each.
fn collections(context: &Context<'_>) -> Option<Text> {
    let mut by_process: BTreeMap<u32, (&RuntimeSample, &RuntimeSample)> = BTreeMap::new();
    for sample in &context.recording.runtime {
        by_process.entry(sample.pid).or_insert((sample, sample)).1 = sample;
    }
    let (mut all, mut major, mut seconds) = (0, 0, 0.0_f64);
    for (first, last) in by_process.values() {
        all += last.gc_count.saturating_sub(first.gc_count);
        major += last.gc_major.saturating_sub(first.gc_major);
        seconds = seconds.max(last.at.since(first.at).as_secs_f64());
    }
    (all > 0).then(|| {
        let collections = counted!(all, "collection");
        text!(
            "{collections} in {seconds} s, {major} of them major",
            collections,
            seconds = format!("{seconds:.0}"),
            major = numbers::count(major)
        )
    })
}

fn remedy(
    context: &Context<'_>,
    cause: Option<&str>,
    site: Option<Allocator<'_>>,
) -> (Text, Option<Exact>) {
    let of_cause = of_cause(cause, &context.recording.meta.target.ruby);
    let (text, exact) = unless_set(context, of_cause);
    match site {
        Some(site) => (
            text!(
                "allocate fewer and smaller objects below {line}: keep what does not change, append with << instead of \
                 +=, load no more rows and columns than are used (`pluck` makes no models); then: {otherwise}",
                line = site.line,
                otherwise = text
            ),
            exact,
        ),
        None => (text, exact),
    }
}

/// Returns advice without variables where somebody has chosen some values.
fn unless_set(
    context: &Context<'_>,
    (text, exact): (Text, Option<Exact>),
) -> (Text, Option<Exact>) {
    let pairs = match &exact {
        Some(Exact::Variables(pairs)) => pairs.as_slice(),
        _ => &[],
    };
    let set = pairs.iter().filter_map(|(name, _)| {
        let value = context.setting(name)?;
        Some(format!("{name}={value}"))
    });
    let set: Vec<String> = set.collect();
    match set.is_empty() {
        true => (text, exact),
        false => (
            text!(
                "{advice}; set already: {set} (`hakaru compare --env-b` compares other values)",
                advice = text,
                set = set.join(" ")
            ),
            None,
        ),
    }
}

fn of_cause(cause: Option<&str>, ruby: &str) -> (Text, Option<Exact>) {
    match cause {
        Some("method" | "stress") => (
            text!(
                "something calls GC.start (or sets GC.stress): leave that to Ruby, or do it between requests"
            ),
            None,
        ),
        Some("malloc") => (
            text!(
                "large strings and buffers trigger it: create fewer and shorter ones, and let it run later"
            ),
            Some(Exact::variables([
                ("RUBY_GC_MALLOC_LIMIT", "67108864"),
                ("RUBY_GC_MALLOC_LIMIT_MAX", "134217728"),
            ])),
        ),
        Some("oldmalloc") => (
            text!("memory of long-lived objects triggers major collections: let them run later"),
            Some(Exact::variables([
                ("RUBY_GC_OLDMALLOC_LIMIT", "134217728"),
                ("RUBY_GC_OLDMALLOC_LIMIT_MAX", "1073741824"),
            ])),
        ),
        _ => (
            text!(
                "allocate fewer objects (hakaru profile --mode alloc names the lines), and start with a larger heap"
            ),
            Some(larger_heap(ruby)),
        ),
    }
}

/// Returns the variables for a larger heap, of about 600,000 slots. Ruby 3.3 replaced the variable
/// for all slots by one for each of five sizes, each twice the one before: half as many slots each
/// take equal memory.
fn larger_heap(ruby: &str) -> Exact {
    const RATIO: (&str, &str) = ("RUBY_GC_HEAP_FREE_SLOTS_MIN_RATIO", "0.4");
    let version = ruby.trim_start_matches("ruby ");
    let mut numbers = version
        .split('.')
        .map_while(|part| part.parse::<u32>().ok());
    let release = numbers.next().zip(numbers.next());
    match release {
        Some(release) if release < (3, 3) => {
            Exact::variables([("RUBY_GC_HEAP_INIT_SLOTS", "600000"), RATIO])
        }
        _ => Exact::variables([
            ("RUBY_GC_HEAP_0_INIT_SLOTS", "300000"),
            ("RUBY_GC_HEAP_1_INIT_SLOTS", "150000"),
            ("RUBY_GC_HEAP_2_INIT_SLOTS", "75000"),
            ("RUBY_GC_HEAP_3_INIT_SLOTS", "37500"),
            ("RUBY_GC_HEAP_4_INIT_SLOTS", "18750"),
            RATIO,
        ]),
    }
}
