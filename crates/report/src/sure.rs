//! How far the numbers can be trusted, in sentences shown by every output.

use breakdown::RouteBalance;
use figures::{counted, numbers};
use recording::ProcessRole;
use words::{Phrase, Text, phrase, text};

use crate::View;
use crate::facts::{self, HostUse, Percentiles};
use figures::text::one_line;

/// One statement on the trust in the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Topic, in a word or two.
    pub about: Phrase,
    /// A sentence without a full stop.
    pub says: Text,
}

/// Returns every statement always shown, in the order of the page.
pub fn all(view: &View<'_>) -> Vec<Said> {
    let said = |about, says| Said { about, says };
    let mut all = vec![
        said(phrase!("samples"), samples(view)),
        said(phrase!("generator"), generator(view)),
        said(phrase!("inside view"), inside(view)),
        said(phrase!("agent"), agent(view)),
    ];
    match facts::host_use(view.recording) {
        Some(used) => {
            all.push(said(phrase!("host"), cores(view, &used)));
            all.push(said(phrase!("waits"), waits(&used)));
        }
        None => all.push(said(phrase!("host"), text!("not sampled"))),
    }
    all
}

fn samples(view: &View<'_>) -> Text {
    /// Customary level of confidence; the sentence names the level.
    const CONFIDENCE: f64 = 0.95;
    let overall = &view.breakdown.overall;
    let count = counted!(overall.requests, "request");
    let window = numbers::duration_ms(view.recording.window.length().as_millis_f64());
    let interval = |q: f64| stats::quantile_interval(&overall.latency, q, CONFIDENCE);
    let known = [("p99", 0.99), ("p95", 0.95), ("p50", 0.5)]
        .into_iter()
        .find_map(|(name, q)| Some((name, interval(q)?)));
    match known {
        Some((name, (low, high))) => text!(
            "{count} in {window}; {name} is between {low} and {high} (95 % confidence; the true interval may be wider)",
            count,
            window,
            name,
            low = numbers::duration_ms(low.as_millis_f64()),
            high = numbers::duration_ms(high.as_millis_f64())
        ),
        None => text!(
            "{count} in {window}: too few to bound any percentile",
            count,
            window
        ),
    }
}

fn generator(view: &View<'_>) -> Text {
    let generator = &view.recording.generator;
    let busy = match facts::generator_cpu_share(view.recording) {
        Some(share) => text!(
            "{share} busy on {threads}",
            share = numbers::share(share),
            threads = counted!(u64::from(generator.threads), "thread")
        ),
        None => text!("load on its CPU unknown"),
    };
    let late = Percentiles::of(&view.breakdown.overall.late);
    let late = match (late.p99, late.max) {
        (Some(p99), _) => text!("late by {late} at p99", late = numbers::duration_ms(p99)),
        (None, Some(max)) => text!("late by {late} at most", late = numbers::duration_ms(max)),
        (None, None) => text!("lateness unknown"),
    };
    match generator.unsent {
        0 => text!("{busy}; {late}", busy, late),
        unsent => text!(
            "{busy}; {late}; {unsent} due and never sent",
            busy,
            late,
            unsent = numbers::count(unsent)
        ),
    }
}

fn inside(view: &View<'_>) -> Text {
    let overall = &view.breakdown.overall;
    let counted = seen(overall);
    match overall.seen_mean_ms > 0.0 {
        true => {
            let share = numbers::share(overall.balance.unaccounted / overall.seen_mean_ms);
            let sampled = numbers::count(overall.cpu_sampled);
            text!(
                "{counted}; {share} of their time is unaccounted for; CPU time was sampled on {sampled} of them",
                counted,
                share,
                sampled
            )
        }
        false => counted,
    }
}

/// Number of requests behind the balance.
fn seen(overall: &RouteBalance) -> Text {
    let all = overall.answered.saturating_sub(overall.unseen);
    let told = numbers::count(overall.told);
    let answered = numbers::count(overall.answered);
    match overall.told == all {
        true if overall.told == overall.answered => text!(
            "all {answered} answered requests were traced inside the app",
            answered
        ),
        true => text!(
            "{told} of {answered} answered requests were traced inside the app",
            told,
            answered
        ),
        false => text!(
            "{told} of {answered} answered requests were traced inside the app, drawn at random as they came so \
             densely; counts and sums are scaled to all",
            told,
            answered
        ),
    }
}

fn agent(view: &View<'_>) -> Text {
    let Some(cost) = facts::agent_cost(view.recording) else {
        return text!("none was loaded, so nothing was seen inside the app");
    };
    let cpu = cost.cpu_us_per_request.map_or_else(
        || text!("cost unknown"),
        |micros| {
            text!(
                "at least {cpu} µs of CPU per request by its own estimate",
                cpu = numbers::plain(micros)
            )
        },
    );
    let dropped = match cost.dropped {
        0 => text!("nothing dropped"),
        dropped => text!("{records} dropped", records = counted!(dropped, "record")),
    };
    // A cluster's master, or a Ruby that the app has executed, never says whether it tells of the
    // GVL.
    let mut serving = view
        .recording
        .agents
        .iter()
        .filter(|agent| agent.requests > 0);
    let without_gvl = serving.any(|agent| !agent.gvl);
    let gvl = if without_gvl {
        text!("; GVL wait not seen (needs Ruby 3.2)")
    } else {
        Text::default()
    };
    let mut troubles: Vec<String> = view
        .recording
        .agents
        .iter()
        .flat_map(|agent| &agent.troubles)
        .map(|trouble| one_line(trouble))
        .collect();
    troubles.sort();
    troubles.dedup();
    let troubles = troubles
        .iter()
        .map(|trouble| text!("; {trouble}", trouble = Text::named(trouble)));
    text!(
        "{cpu}; {dropped}{gvl}{troubles}",
        cpu,
        dropped,
        gvl,
        troubles = Text::list(troubles, Text::default())
    )
}

fn cores(view: &View<'_>, used: &HostUse) -> Text {
    let roles = used.roles.iter().map(|role| {
        let name = match role.role {
            ProcessRole::App => text!("app"),
            ProcessRole::Database => text!("database"),
            ProcessRole::Generator => text!("hakaru"),
            ProcessRole::Store => text!("store"),
        };
        text!(
            "{name} {cores}, {memory}",
            name,
            cores = numbers::plain(role.cores),
            memory = numbers::bytes(role.rss_max)
        )
    });
    let roles = Text::list(roles, text!("; "));
    let cores = view.recording.meta.cores;
    let busy = numbers::plain(used.busy_cores);
    text!("{busy} of {cores} cores busy ({roles})", busy, cores, roles)
}

fn waits(used: &HostUse) -> Text {
    let pressure = |share: Option<f64>| {
        share.map_or_else(|| text!("unknown"), |share| numbers::share(share).into())
    };
    let slow = used.cores.filter(|speed| speed.slow_share > 0.0);
    let slow = slow.map_or_else(Text::default, |speed| {
        text!(
            "; cores {slower}x slower {share} of the time",
            slower = format!("{:.2}", speed.slower),
            share = numbers::share(speed.slow_share)
        )
    });
    text!(
        "steal {steal} cores; waits for a core {cpu}, for I/O {io} of the time; {memory} memory left{slow}",
        steal = numbers::plain(used.steal_cores),
        cpu = pressure(used.cpu_pressure),
        io = pressure(used.io_pressure),
        memory = numbers::bytes(used.memory_available_min),
        slow
    )
}
