//! One file a rule: facts in, findings with remedies out.
//!
//! A rule is a pure function from [`Facts`] to findings. It never measures; it says what, why it
//! hurts, the evidence, the remedy, whether the remedy is safe, and what it should give. A rule
//! that is not sure is silent: a wrong finding costs more trust than a missing one. Its thresholds
//! are constants that say where they come from.
//!
//! Start reading at [`all`], then any file in `rules/`. `query` reads what rules need of a digest.

mod acts;
mod allocator;
mod app;
mod associations;
mod calls;
mod context;
mod costs;
mod demand;
mod doubt;
mod exact;
mod host;
mod lookups;
mod query;
mod rule_id;
mod rules;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod worth;

pub use exact::{Exact, PumaFlags, SettingScope};
pub use rule_id::RuleId;
pub use rules::may_be_cached;
pub use types::{Confidence, Facts, Finding, Remedy, Safety};

use context::Context;

/// Share of all time in the queue from which the queue is the run's first problem, whatever else is
/// slow: the gains of all other findings are shares of mostly waiting time.
const QUEUE_DOMINATES: f64 = 0.3;

/// Share of failed requests from which times say little: failing is often fast.
pub const FAILED_SHARE_LOUD: f64 = 0.01;

/// Returns all findings of a run in reading order: failures when there are many, or a run of hardly
/// any page, whose numbers of threads and workers say nothing; memory full soon; remedies of a
/// dominating queue; the greatest estimated gain first, with more workers or threads, caches before
/// the app, and settings of the database behind a cause in the app for much of the same gain; hints
/// (of low confidence; also what gains nothing by replay); and last, trust in the numbers.
pub fn all(facts: Facts<'_>) -> Vec<Finding> {
    let context = Context::new(facts);
    let mut findings: Vec<Finding> = rules::ALL.iter().flat_map(|rule| rule(&context)).collect();
    for finding in &mut findings {
        finding.confidence = finding.confidence.min(context.most_sure(finding));
    }
    if findings.iter().any(is_hollow) {
        findings.retain(|finding| !is_capacity(finding));
    }
    let causes = Causes::of(&findings);
    let mut ranked: Vec<((Rank, f64), Finding)> = findings
        .into_iter()
        .map(|finding| (place(&context, &finding, &causes), finding))
        .collect();
    ranked.sort_by(|((rank_a, gain_a), a), ((rank_b, gain_b), b)| {
        rank_a
            .cmp(rank_b)
            .then_with(|| gain_b.total_cmp(gain_a))
            .then_with(|| covers(a).cmp(&covers(b)))
            .then_with(|| b.confidence.cmp(&a.confidence))
            .then_with(|| a.title.to_string().cmp(&b.title.to_string()))
    });
    ranked.into_iter().map(|(_, finding)| finding).collect()
}

/// Returns a finding's rank, and the gain counted within the rank: what covers a cause in the app
/// stands behind the cause.
fn place(context: &Context<'_>, finding: &Finding, causes: &Causes) -> (Rank, f64) {
    let gain = finding.gain_share;
    let cause = causes.covered_by(finding);
    if cause > CAUSE_FIRST * gain && finding.confidence > Confidence::Low {
        (Rank::Gain, gain.min(cause))
    } else {
        (rank(context, finding), gain)
    }
}

/// Rank of a finding, before the estimated gain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Failures,
    Queue,
    Gain,
    Hint,
    Trust,
}

/// Rules advising other numbers of workers and threads, for the app unchanged.
const CAPACITY: [RuleId; 2] = [RuleId::Threads, RuleId::Workers];
/// Share of the gain of a covering remedy from which the covered cause in the app comes first:
/// without the cause, other numbers are right, and a cache has less to save.
const CAUSE_FIRST: f64 = 0.5;

/// The greatest gains of likely causes; 0 without one.
struct Causes {
    /// Of causes in the app.
    in_app: f64,
    /// Of these and responses to be cached.
    or_caching: f64,
}

impl Causes {
    fn of(findings: &[Finding]) -> Causes {
        let greatest = |is_cause: fn(&Finding) -> bool| {
            let likely = findings
                .iter()
                .filter(|finding| finding.confidence > Confidence::Low && is_cause(finding));
            likely.map(|finding| finding.gain_share).fold(0.0, f64::max)
        };
        Causes {
            in_app: greatest(|finding| !covers(finding)),
            or_caching: greatest(|finding| !is_capacity(finding)),
        }
    }

    /// Returns the gain of the cause covered by a finding's remedy.
    fn covered_by(&self, finding: &Finding) -> f64 {
        match finding.rule {
            RuleId::AnswersEqual | RuleId::DatabaseSettings => self.in_app,
            _ if is_capacity(finding) => self.or_caching,
            _ => 0.0,
        }
    }
}

/// Whether a remedy leaves a slow app as it is: more workers and threads, a cache before the app,
/// absent from this run, or a setting of the database, with which needless writes are cheaper.
fn covers(finding: &Finding) -> bool {
    let rules = [RuleId::AnswersEqual, RuleId::DatabaseSettings];
    is_capacity(finding) || rules.contains(&finding.rule)
}

fn is_capacity(finding: &Finding) -> bool {
    CAPACITY.contains(&finding.rule)
}

/// Whether a finding is about a run of hardly any page with content.
fn is_hollow(finding: &Finding) -> bool {
    finding.rule == RuleId::HollowAnswers
}

fn rank(context: &Context<'_>, finding: &Finding) -> Rank {
    if is_hollow(finding) {
        Rank::Failures
    } else if finding.is_about_trust() {
        Rank::Trust
    } else if finding.rule == RuleId::Errors && many_failed(context) || fills_memory(finding) {
        Rank::Failures
    } else if queue_dominates(context) && adds_threads(context, finding) {
        Rank::Queue
    } else if finding.confidence == Confidence::Low {
        Rank::Hint
    } else {
        Rank::Gain
    }
}

fn many_failed(context: &Context<'_>) -> bool {
    let overall = &context.breakdown.overall;
    let failed = overall.errors + overall.checks_failed;
    failed as f64 >= FAILED_SHARE_LOUD * overall.requests.max(1) as f64
}

/// Whether a finding predicts the end of the app for want of memory, however fast until then.
fn fills_memory(finding: &Finding) -> bool {
    finding.rule == RuleId::MemoryGrowth && finding.confidence == Confidence::High
}

fn queue_dominates(context: &Context<'_>) -> bool {
    let overall = &context.breakdown.overall;
    overall.balance.queue > 0.0 && overall.balance.queue >= QUEUE_DOMINATES * overall.seen_mean_ms
}

/// Whether a finding asks for more threads. One that names no number does so too; one that asks for
/// fewer relieves no queue.
fn adds_threads(context: &Context<'_>, finding: &Finding) -> bool {
    let wanted = match &finding.remedy.exact {
        Some(Exact::Puma(flags)) => flags.threads,
        _ => None,
    };
    let present = context.recording.meta.target.threads;
    finding.rule == RuleId::Threads && wanted.is_none_or(|wanted| wanted > present)
}
