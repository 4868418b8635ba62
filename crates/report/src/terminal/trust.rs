//! How far the numbers can be trusted, said by the tool itself.

use recording::ProcessRole;

use super::page::{Ink, Page};
use crate::facts::{self, HostUse, Percentiles};
use crate::text::one_line;
use crate::{View, numbers};

const FAILURES_MAX: usize = 3;

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    failures(page, view);
    page.heading("HOW SURE");
    fact(page, "samples", &samples(view));
    fact(page, "generator", &generator(view));
    fact(page, "inside view", &inside(view));
    fact(page, "agent", &agent(view));
    match facts::host_use(view.recording) {
        Some(used) => host(page, view, &used),
        None => fact(page, "host", "not sampled"),
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

fn failures(page: &mut Page, view: &View<'_>) {
    let failures = &view.recording.failures;
    if failures.is_empty() {
        return;
    }
    page.heading("FAILED REQUESTS   one example of each kind");
    for failure in failures.iter().take(FAILURES_MAX) {
        let line = view
            .recording
            .texts
            .get(failure.line)
            .unwrap_or("a request");
        let head = format!(
            "{} × {}: {line} ({})",
            failure.count,
            failure.outcome.name(),
            failure.place
        );
        page.paragraph(2, "", Ink::Bad, &head, 2);
        page.paragraph(4, "", Ink::Plain, &failure.reason, 3);
        let first_lines = [("sent: ", &failure.request), ("got:  ", &failure.response)];
        for (mark, text) in first_lines {
            page.paragraph(4, mark, Ink::Faint, text, 2);
        }
    }
    let others = failures.len().saturating_sub(FAILURES_MAX);
    if others > 0 {
        page.text(2, &format!("{others} more kinds (all of them: --json)"));
    }
}

fn samples(view: &View<'_>) -> String {
    /// What is customary; the sentence names it.
    const CONFIDENCE: f64 = 0.95;
    let overall = &view.breakdown.overall;
    let count = numbers::count(overall.requests);
    let window = numbers::duration_ms(view.recording.window.length().as_millis_f64());
    let interval = |q: f64| stats::quantile_interval(&overall.latency, q, CONFIDENCE);
    let known = [("p99", 0.99), ("p95", 0.95), ("p50", 0.5)]
        .into_iter()
        .find_map(|(name, q)| Some((name, interval(q)?)));
    match known {
        Some((name, (low, high))) => format!(
            "{count} requests in {window}; {name} latency lies between {} and {} at best (95% sure)",
            numbers::duration_ms(low.as_millis_f64()),
            numbers::duration_ms(high.as_millis_f64()),
        ),
        None => format!("{count} requests in {window}: too few to bound any percentile"),
    }
}

fn generator(view: &View<'_>) -> String {
    let generator = &view.recording.generator;
    let busy = match facts::generator_cpu_share(view.recording) {
        Some(share) => format!(
            "{} busy on {} thread(s)",
            numbers::share(share),
            generator.threads
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
        dropped => format!("{} records dropped", numbers::count(dropped)),
    };
    let without_gvl = view.recording.agents.iter().any(|agent| !agent.gvl);
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
        "steal {} cores; some task waited for a core {} and for I/O {} of the time; {} memory left",
        numbers::plain(used.steal_cores),
        pressure(used.cpu_pressure),
        pressure(used.io_pressure),
        numbers::bytes(used.memory_available_min),
    );
    fact(page, "", &sentence);
}
