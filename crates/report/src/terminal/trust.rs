//! How far the numbers can be trusted, said by the tool itself.

use recording::ProcessRole;

use super::doubts::is_loud;
use super::page::{Ink, Page};
use crate::facts::{self, HostUse, Percentiles};
use crate::text::one_line;
use crate::{View, numbers};

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    page.heading("HOW SURE");
    fact(page, "samples", &samples(view));
    fact(page, "generator", &generator(view));
    fact(page, "inside view", &inside(view));
    fact(page, "agent", &agent(view));
    match facts::host_use(view.recording) {
        Some(used) => host(page, view, &used),
        None => fact(page, "host", "not sampled"),
    }
    let hints = view.findings.iter();
    for hint in hints.filter(|finding| finding.is_about_trust() && !is_loud(finding)) {
        let sentence = format!("{}; {}", hint.title, hint.remedy.text);
        page.paragraph(2, "! ", Ink::Bad, &sentence, 4);
    }
    for trouble in &view.recording.troubles {
        let sentence = match trouble.remedy.as_str() {
            "" => trouble.what.clone(),
            remedy => format!("{}; {remedy}", trouble.what),
        };
        page.paragraph(2, "! ", Ink::Bad, &sentence, 4);
    }
}

fn fact(page: &mut Page, name: &str, sentence: &str) {
    page.paragraph(2, &format!("{name:<13}"), Ink::Plain, sentence, 3);
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
    let seen = overall.answered.saturating_sub(overall.unseen);
    let counted = format!(
        "{} of {} answered requests were seen inside the app",
        numbers::count(seen),
        numbers::count(overall.answered)
    );
    match overall.seen_mean_ms > 0.0 {
        true => {
            let share = numbers::share(overall.balance.unaccounted / overall.seen_mean_ms);
            let sampled = numbers::count(overall.cpu_sampled);
            format!("{counted}; {share} of their time unaccounted; CPU read on {sampled} of them")
        }
        false => counted,
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
                "{} of CPU a request by its own estimate",
                numbers::duration_ms(micros / 1e3)
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

fn host(page: &mut Page, view: &View<'_>, used: &HostUse) {
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
    fact(
        page,
        "host",
        &format!("{busy} of {cores} cores busy ({})", roles.join("; ")),
    );
    let pressure = |share: Option<f64>| share.map_or("unknown".to_owned(), numbers::share);
    let sentence = format!(
        "steal {} cores; waits for a core {}, for I/O {} of the time; {} memory left",
        numbers::plain(used.steal_cores),
        pressure(used.cpu_pressure),
        pressure(used.io_pressure),
        numbers::bytes(used.memory_available_min),
    );
    fact(page, "", &sentence);
}
