//! No core is free, because of the app or the database.

use crate::exact::Exact;
use crate::rule_id::RuleId;
use recording::{BurstKind, LoadMode};
use words::{Text, text};

use crate::context::Context;
use crate::host::{Shares, shares};
use crate::text::{percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Share of the cores in use from which more clients only wait longer.
const BUSY_MIN: f64 = 0.9;
/// Share of the used cores from which app and database are the cause. The generator's and others'
/// parts are `host-busy`.
const OWN_MIN: f64 = 0.75;
/// Share of waits for a core in the time with the GVL from which workers are too many or the host
/// too small.
const WAIT_MIN: f64 = 0.3;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let shares = shares(context.recording);
    if let Some(shares) = &shares {
        findings.extend(saturated(context, shares));
    }
    findings.extend(waiting(context, shares.as_ref()));
    findings
}

fn used(shares: &Shares) -> Text {
    text!(
        "cores in use: {busy} (app {app}, database {database}, generator {generator}, others {others})",
        busy = percent(shares.busy),
        app = percent(shares.app),
        database = percent(shares.database),
        generator = percent(shares.generator),
        others = percent(shares.others)
    )
}

fn saturated(context: &Context<'_>, shares: &Shares) -> Option<Finding> {
    let own = shares.app + shares.database;
    if shares.busy < BUSY_MIN || own < OWN_MIN * shares.busy {
        return None;
    }
    let database = shares.database > shares.app;
    let (who, share, text) = if database {
        (
            text!("the database"),
            shares.database,
            text!(
                "look at the statements with the most time first; a separate host for the database would free the CPU that it uses here"
            ),
        )
    } else {
        (
            text!("the app"),
            shares.app,
            text!(
                "find the lines that burn CPU (hakaru profile), or add cores; more threads or workers would only wait longer"
            ),
        )
    };
    Some(Finding {
        rule: RuleId::CpuSaturated,
        route: String::new(),
        title: title(text!(
            "all {cores} cores are busy: {who} uses {share}",
            cores = context.recording.meta.cores,
            who,
            share = percent(share)
        )),
        why: text!("no core is left, so only less CPU time per request or more cores can help"),
        evidence: vec![used(shares)],
        remedy: Remedy {
            text: text.to_owned(),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!("unknown until it is known which lines or statements use it"),
        gain_share: 0.0,
        gain: None,
        // Clients that never pause take whatever there is: then it says where to look, not that
        // something is wrong.
        confidence: match context.recording.meta.load.mode {
            LoadMode::Open => Confidence::High,
            LoadMode::Closed => Confidence::Low,
        },
    })
}

fn waiting(context: &Context<'_>, shares: Option<&Shares>) -> Option<Finding> {
    let overall = &context.breakdown.overall;
    let (cpu, wait) = (overall.balance.cpu, overall.balance.cpu_wait);
    let running = cpu + wait;
    let seen = (overall.answered - overall.unseen) as f64;
    let target = &context.recording.meta.target;
    let (workers, cores) = (target.workers, context.recording.meta.cores);
    // Where there is a core for each worker others take it, which is `host-busy`.
    if overall.cpu_sampled == 0 || wait < WAIT_MIN * running || workers <= cores {
        return None;
    }
    let gain = context.gain(&context.everywhere(BurstKind::Running, wait * seen));
    let mut evidence = vec![text!(
        "per request, the GVL is held for {running} ms, {wait} ms of them without a core; workers: {workers}, cores: {cores}",
        running = format!("{running:.2}"),
        wait = format!("{wait:.2}"),
        workers,
        cores
    )];
    evidence.extend(shares.map(used));
    Some(Finding {
        rule: RuleId::CpuWait,
        route: String::new(),
        title: title(text!(
            "handlers wait for a core {share} of the time they could run",
            share = percent(wait / running)
        )),
        why: text!(
            "a thread that waits for a core while it holds the GVL makes every other thread of its process wait too"
        ),
        evidence,
        remedy: Remedy {
            text: text!(
                "run no more workers than the database, the proxy and the load generator leave cores free, or add cores"
            ),
            exact: Some(Exact::workers(cores)),
            safety: Safety::Careful,
        },
        estimated_gain: text!("{gain}, with a core for each worker", gain = gain.at_most()),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: if context.host_is_shared() {
            Confidence::Low
        } else {
            Confidence::Medium
        },
    })
}
