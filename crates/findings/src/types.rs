//! Findings as types.

use crate::exact::Exact;
use crate::rule_id::RuleId;
use breakdown::Breakdown;
use recording::Recording;
use stacks::Profile;
use words::Text;

/// Facts for rules.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Observations behind the finding.
    pub recording: &'a Recording,
    /// The balance computed from the recording.
    pub breakdown: &'a Breakdown,
    /// The samples of the run's profile, where one was taken.
    pub profile: Option<&'a Profile>,
}

/// Something worth fixing, or worth knowing before the numbers are trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule, such as `n-plus-one`; stable, for scripts.
    pub rule: RuleId,
    /// The route of the finding; empty for a finding about the whole run.
    pub route: String,
    /// The problem, in one sentence of at most 160 characters.
    pub title: Text,
    /// The harm done, in one or two sentences.
    pub why: Text,
    /// The evidence, one line each: numbers, statement, source line.
    pub evidence: Vec<Text>,
    /// The remedy.
    pub remedy: Remedy,
    /// Expected effect of the remedy, such as `4% of all time: −257 ms of 1.39 s per request on GET
    /// /fetch`.
    pub estimated_gain: Text,
    /// Estimated share of the run's sent → answered time saved, 0 to 1 (`errors`: share of requests
    /// saved from failing). Findings are sorted by it; 0 is also "unknown".
    pub gain_share: f64,
    /// Gain of a replay of the run without the time removed by the remedy; `None` where no replay
    /// is possible.
    pub gain: Option<whatif::Gain>,
    /// Confidence of the rule.
    pub confidence: Confidence,
}

impl Finding {
    /// Whether the finding is a doubt about the numbers, rather than something to fix.
    pub fn is_about_trust(&self) -> bool {
        self.remedy.safety == Safety::None
    }
}

/// A remedy for a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The remedy in a sentence.
    pub text: Text,
    /// The exact statement, command or setting, where there is one.
    pub exact: Option<Exact>,
    /// Whether the remedy is safe.
    pub safety: Safety,
}

impl Remedy {
    /// Whether `hakaru try` makes the change by itself: an index, flags of Puma, a limit of the
    /// shell, variables.
    pub fn can_be_tried(&self) -> bool {
        self.exact.as_ref().is_some_and(Exact::can_be_tried)
    }

    /// Returns the exact change as typed by people.
    pub fn exact_text(&self) -> Option<String> {
        self.exact.as_ref().map(Exact::to_string)
    }
}

/// Whether a remedy is safe to apply without thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safety {
    /// Changes no behaviour; can be taken back.
    Safe,
    /// Changes resources or timing; look at the stated side effect.
    Careful,
    /// Needs a change of code.
    Code,
    /// Nothing to apply: about trust in the numbers.
    None,
}

/// Confidence of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// A hint.
    Low,
    /// Likely.
    Medium,
    /// Shown by the evidence.
    High,
}
