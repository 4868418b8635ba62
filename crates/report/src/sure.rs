//! How far the numbers can be trusted, in sentences that every output shows.

use breakdown::RouteBalance;
use recording::ProcessRole;

use crate::facts::{self, HostUse, Percentiles};
use crate::text::one_line;
use crate::{View, numbers};

/// One thing that the trust in the numbers depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What it is about, in a word or two.
    pub about: &'static str,
    /// What there is to say, a sentence without a full stop.
    pub says: String,
}

/// Everything that is always said, in the order of the page.
pub fn all(view: &View<'_>) -> Vec<Said> {
    let said = |about, says| Said { about, says };
    let mut all = vec![
        said("samples", samples(view)),
        said("generator", generator(view)),
        said("inside view", inside(view)),
        said("agent", agent(view)),
    ];
    match facts::host_use(view.recording) {
        Some(used) => {
            all.push(said("host", cores(view, &used)));
            all.push(said("waits", waits(&used)));
        }
        None => all.push(said("host", "not sampled".to_owned())),
    }
    all
}

fn samples(view: &View<'_>) -> String {
    /// What is customary; the sentence names it.
    const CONFIDENCE: f64 = 0.95;
    let overall = &view.breakdown.overall;
    let count = numbers::counted(overall.requests, "request");
    let window = numbers::duration_ms(view.recording.window.length().as_millis_f64());
    let interval = |q: f64| stats::quantile_interval(&overall.latency, q, CONFIDENCE);
    let known = [("p99", 0.99), ("p95", 0.95), ("p50", 0.5)]
        .into_iter()
        .find_map(|(name, q)| Some((name, interval(q)?)));
    match known {
        Some((name, (low, high))) => format!(
            "{count} in {window}; {name} latency lies between {} and {} at best (95% sure)",
            numbers::duration_ms(low.as_millis_f64()),
            numbers::duration_ms(high.as_millis_f64()),
        ),
        None => format!("{count} in {window}: too few to bound any percentile"),
    }
}

fn generator(view: &View<'_>) -> String {
    let generator = &view.recording.generator;
    let busy = match facts::generator_cpu_share(view.recording) {
        Some(share) => format!(
            "{} busy on {}",
            numbers::share(share),
            numbers::counted(u64::from(generator.threads), "thread")
        ),
        None => "load on its CPU unknown".to_owned(),
    };
    let late = Percentiles::of(&view.breakdown.overall.late);
    let late = match (late.p99, late.max) {
        (Some(p99), _) => format!("late by {} at p99", numbers::duration_ms(p99)),
        (None, Some(max)) => format!("late by {} at most", numbers::duration_ms(max)),
        (None, None) => "lateness unknown".to_owned(),
    };
    match generator.unsent {
        0 => format!("{busy}; {late}"),
        unsent => format!(
            "{busy}; {late}; {} due and never sent",
            numbers::count(unsent)
        ),
    }
}

fn inside(view: &View<'_>) -> String {
    let overall = &view.breakdown.overall;
    let counted = seen(overall);
    match overall.seen_mean_ms > 0.0 {
        true => {
            let share = numbers::share(overall.balance.unaccounted / overall.seen_mean_ms);
            let sampled = numbers::count(overall.cpu_sampled);
            format!("{counted}; {share} of their time unaccounted; CPU read on {sampled} of them")
        }
        false => counted,
    }
}

/// How many requests the balance is of.
fn seen(overall: &RouteBalance) -> String {
    let all = overall.answered.saturating_sub(overall.unseen);
    let told = numbers::count(overall.told);
    let answered = numbers::count(overall.answered);
    match overall.told == all {
        true => format!("{told} of {answered} answered requests were seen inside the app"),
        false => format!(
            "{told} of {answered} answered requests were seen inside the app, drawn at random as they came so densely; \
             counts and sums are scaled to all"
        ),
    }
}

fn agent(view: &View<'_>) -> String {
    let Some(cost) = facts::agent_cost(view.recording) else {
        return "none was loaded, so nothing was seen inside the app".to_owned();
    };
    let cpu = cost.cpu_us_per_request.map_or_else(
        || "cost unknown".to_owned(),
        |micros| {
            format!(
                "at least {} µs of CPU a request by its own estimate",
                numbers::plain(micros)
            )
        },
    );
    let dropped = match cost.dropped {
        0 => "nothing dropped".to_owned(),
        dropped => format!("{} dropped", numbers::counted(dropped, "record")),
    };
    // A cluster's master, or a Ruby that the app has executed, never says whether it tells of the GVL.
    let mut serving = view
        .recording
        .agents
        .iter()
        .filter(|agent| agent.requests > 0);
    let without_gvl = serving.any(|agent| !agent.gvl);
    let gvl = if without_gvl {
        "; GVL wait not seen (needs Ruby 3.2)"
    } else {
        ""
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
    let troubles = troubles.iter().map(|trouble| format!("; {trouble}"));
    format!("{cpu}; {dropped}{gvl}{}", troubles.collect::<String>())
}

fn cores(view: &View<'_>, used: &HostUse) -> String {
    let roles = used.roles.iter().map(|role| {
        let name = match role.role {
            ProcessRole::App => "app",
            ProcessRole::Database => "database",
            ProcessRole::Generator => "hakaru",
        };
        format!(
            "{name} {}, {}",
            numbers::plain(role.cores),
            numbers::bytes(role.rss_max)
        )
    });
    let roles: Vec<String> = roles.collect();
    let cores = view.recording.meta.cores;
    let busy = numbers::plain(used.busy_cores);
    format!("{busy} of {cores} cores busy ({})", roles.join("; "))
}

fn waits(used: &HostUse) -> String {
    let pressure = |share: Option<f64>| share.map_or("unknown".to_owned(), numbers::share);
    let slow = used.cores.filter(|speed| speed.slow_share > 0.0);
    let slow = slow.map_or_else(String::new, |speed| {
        format!(
            "; cores {:.2}x slower {} of the time",
            speed.slower,
            numbers::share(speed.slow_share)
        )
    });
    format!(
        "steal {} cores; waits for a core {}, for I/O {} of the time; {} memory left{slow}",
        numbers::plain(used.steal_cores),
        pressure(used.cpu_pressure),
        pressure(used.io_pressure),
        numbers::bytes(used.memory_available_min),
    )
}
