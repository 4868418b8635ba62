//! Findings of `hakaru doctor` about the app's machine, as far as the run is concerned: a
//! distortion of the run's numbers is a doubt, a cost to the run's requests is a finding with a
//! gain.
//!
//! What other rules say of the same with the run's own figures (other programs, files, memory, the
//! database's settings, development mode) is left to them.

use crate::rule_id::RuleId;
use doctor::check::{Cost, Level};
use doctor::{Snapshot, Verdict, diagnose};
use recording::BurstKind;
use words::{Text, text};

use crate::context::Context;
use crate::doubt::Doubt;
use crate::exact::Exact;
use crate::text::{ms, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Checks whose findings make times differ from another machine or another day.
const DISTORTS: [&str; 12] = [
    "cpu.clock-slow",
    "cpu.governor",
    "cpu.nice",
    "cpu.turbo-off",
    "disk.full",
    "memory.process-swapped",
    "memory.swap-full",
    "postgres.fsync-off",
    "ruby.coverage",
    "ruby.debug-build",
    "ruby.options-left-over",
    "ruby.unoptimised",
];
/// Checks whose cost is a factor on all computing time of the app.
const SLOWER: [&str; 3] = [
    "cpu.indirect-branch-mitigated",
    "cpu.seccomp-mitigates",
    "cpu.store-bypass-mitigated",
];
/// Checks whose remedy makes Ruby's own computing faster, with the share saved in others'
/// measurements. Shopify's figures for YJIT on Rails are 15 to 25 % less time
/// (https://railsatscale.com, of Ruby 3.3): the lower end.
const COMPUTES: [(&str, f64); 2] = [("ruby.yjit-off", 0.13), ("app.log-debug", 0.05)];
/// Share of the periods from which a throttled group is no accident.
const THROTTLED_MIN: f64 = 0.01;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let Some(snapshot) = Snapshot::of_json(&context.recording.machine) else {
        return Vec::new();
    };
    let verdicts = diagnose(&snapshot, &[]);
    let found = verdicts
        .iter()
        .filter_map(|verdict| of_verdict(context, &snapshot, verdict));
    found.collect()
}

fn of_verdict(context: &Context<'_>, snapshot: &Snapshot, verdict: &Verdict) -> Option<Finding> {
    let id = verdict.check.id;
    if DISTORTS.contains(&id) {
        return Some(doubt(verdict));
    }
    if id == "container.throttled" {
        return throttled(context, snapshot, verdict);
    }
    let saved = if SLOWER.contains(&id) {
        match &verdict.found.cost {
            Cost::Slower(factor) => 1.0 - 1.0 / factor.median.max(1.0),
            _ => return Some(doubt(verdict)),
        }
    } else {
        COMPUTES.iter().find(|(known, _)| *known == id)?.1
    };
    let overall = &context.breakdown.overall;
    let seen = (overall.answered - overall.unseen) as f64;
    let confidence = match SLOWER.contains(&id) {
        true => Confidence::High,
        false => Confidence::Low,
    };
    Some(finding(
        context,
        verdict,
        saved * overall.balance.cpu * seen,
        confidence,
    ))
}

fn doubt(verdict: &Verdict) -> Finding {
    let (check, found) = (verdict.check, &verdict.found);
    let change = found.change.first().cloned().unwrap_or_default();
    Doubt {
        rule: RuleId::Check(check.id),
        what: check.title.into(),
        why: check.why.into(),
        evidence: found.evidence.clone(),
        remedy: change,
        confidence: match found.level {
            Level::Low => Confidence::Low,
            Level::Medium | Level::High => Confidence::Medium,
        },
    }
    .into()
}

/// Returns the finding on a throttled group: no thread of the app ran for a share of the run.
fn throttled(context: &Context<'_>, snapshot: &Snapshot, verdict: &Verdict) -> Option<Finding> {
    let group = snapshot.process.group.as_ref()?;
    let (periods, throttled) = (group.periods? as f64, group.throttled? as f64);
    let share = throttled / periods.max(1.0);
    if share < THROTTLED_MIN {
        return None;
    }
    let overall = &context.breakdown.overall;
    let seen = (overall.answered - overall.unseen) as f64;
    // Periods are as long as each other, and the group ran in each for its quota.
    let quota = group.quota_cores.unwrap_or(1.0).min(1.0);
    let saved = share * (1.0 - quota) * overall.balance.cpu * seen;
    let mut finding = finding(context, verdict, saved, Confidence::High);
    finding.evidence.push(text!(
        "in this run it stood still in {share} of the periods",
        share = percent(share)
    ));
    Some(finding)
}

fn finding(
    context: &Context<'_>,
    verdict: &Verdict,
    saved_ms: f64,
    confidence: Confidence,
) -> Finding {
    let (check, found) = (verdict.check, &verdict.found);
    let gain = context.gain(&context.everywhere(BurstKind::Running, saved_ms));
    let change = found.change.first().map(Text::to_string);
    Finding {
        rule: RuleId::Check(check.id),
        route: String::new(),
        title: title(check.title.into()),
        why: check.why.into(),
        evidence: found.evidence.clone(),
        remedy: Remedy {
            text: text!(
                "{change} (`hakaru doctor` says how to take it back)",
                change = found.change.first().cloned().unwrap_or_default()
            ),
            exact: change.as_deref().and_then(variables),
            safety: Safety::Careful,
        },
        estimated_gain: text!(
            "{gain}: −{saved} of computing in all",
            gain = gain.text,
            saved = ms(saved_ms)
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence,
    }
}

/// Returns the variables of a change consisting of variables of the environment only.
fn variables(change: &str) -> Option<Exact> {
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let pair = |word: &str| {
        let (name, value) = word.split_once('=')?;
        let fits = !name.is_empty() && name.chars().all(is_name);
        fits.then(|| (name.to_owned(), value.to_owned()))
    };
    let pairs: Option<Vec<_>> = change.split_whitespace().map(pair).collect();
    Some(Exact::Variables(pairs.filter(|pairs| !pairs.is_empty())?))
}
