//! Doubts about the numbers of a run, as findings.

use words::{Text, text};

use crate::Finding;
use crate::rule_id::RuleId;
use crate::text::title;
use crate::types::{Confidence, Remedy, Safety};

/// A doubt about the numbers.
pub(crate) struct Doubt {
    pub(crate) rule: RuleId,
    pub(crate) what: Text,
    pub(crate) why: Text,
    pub(crate) evidence: Vec<Text>,
    /// The remedy for trustworthy numbers.
    pub(crate) remedy: Text,
    pub(crate) confidence: Confidence,
}

impl From<Doubt> for Finding {
    fn from(doubt: Doubt) -> Finding {
        Finding {
            rule: doubt.rule,
            route: String::new(),
            title: title(doubt.what),
            why: doubt.why,
            evidence: doubt.evidence,
            remedy: Remedy {
                text: doubt.remedy,
                exact: None,
                safety: Safety::None,
            },
            estimated_gain: text!("numbers that can be trusted"),
            gain_share: 0.0,
            gain: None,
            confidence: doubt.confidence,
        }
    }
}
