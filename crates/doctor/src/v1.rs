//! The JSON of a diagnosis, version 1. Within a version keys are added only.

use serde::Serialize;
use words::Text;

use crate::check::{Cost, Verdict};
use crate::checks;
use crate::snapshot::{Factor, Snapshot, Unseen};

/// Name of the format.
pub const FORMAT: &str = "hakaru-doctor";
/// Version of the format.
pub const VERSION: u32 = 1;

/// The document.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    format: &'static str,
    version: u32,
    seconds: f64,
    checks: usize,
    findings: Vec<Finding>,
    unseen: &'a [Unseen],
    snapshot: &'a Snapshot,
}

#[derive(Debug, Serialize)]
struct Finding {
    id: &'static str,
    area: &'static str,
    level: &'static str,
    on: Option<String>,
    title: &'static str,
    why: &'static str,
    evidence: Vec<String>,
    cost: Costs,
    change: Vec<String>,
    undo: Vec<String>,
    needs: &'static str,
    gives_up: &'static str,
    sure: &'static str,
    source: &'static str,
}

#[derive(Debug, Serialize)]
struct Costs {
    text: String,
    factor: Option<Factor>,
    share: Option<f64>,
    each_ns: Option<f64>,
}

impl<'a> Document<'a> {
    /// Makes the document of a snapshot's verdicts, after `seconds` of diagnosis.
    pub fn new(snapshot: &'a Snapshot, verdicts: &[Verdict], seconds: f64) -> Document<'a> {
        Document {
            format: FORMAT,
            version: VERSION,
            seconds,
            checks: checks::all().count(),
            findings: verdicts.iter().map(finding).collect(),
            unseen: &snapshot.unseen,
            snapshot,
        }
    }

    /// The text.
    ///
    /// # Errors
    /// Never for this document; the writer's own error otherwise.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

fn finding(verdict: &Verdict) -> Finding {
    let (check, found) = (verdict.check, verdict.found.clone());
    Finding {
        id: check.id,
        area: check.area.name(),
        level: found.level.name(),
        on: found.on,
        title: check.title.english(),
        why: check.why.english(),
        evidence: english(&found.evidence),
        cost: costs(&found.cost),
        change: english(&found.change),
        undo: english(&found.undo),
        needs: found.needs.name(),
        gives_up: found.safety.name(),
        sure: found.sure.name(),
        source: check.source,
    }
}

fn english(texts: &[Text]) -> Vec<String> {
    texts.iter().map(Text::to_string).collect()
}

fn costs(cost: &Cost) -> Costs {
    let text = cost.text().to_string();
    let (factor, share, each_ns) = match cost {
        Cost::Unknown => (None, None, None),
        Cost::Slower(factor) => (Some(*factor), None, None),
        Cost::Share(share) => (None, Some(*share), None),
        Cost::Each { ns, .. } => (None, None, Some(*ns)),
    };
    Costs {
        text,
        factor,
        share,
        each_ns,
    }
}

/// Reads the snapshot of a stored document.
///
/// # Errors
/// What is wrong with the text.
pub fn read(text: &str) -> Result<Snapshot, String> {
    #[derive(serde::Deserialize)]
    struct Kept {
        format: String,
        version: u32,
        snapshot: Snapshot,
    }
    let kept: Kept = serde_json::from_str(text)
        .map_err(|error| format!("not a document of hakaru doctor --json: {error}"))?;
    match (kept.format.as_str(), kept.version) {
        (FORMAT, VERSION) => Ok(kept.snapshot.redacted()),
        (FORMAT, version) => Err(format!(
            "version {version} of {FORMAT}; this program reads version {VERSION}"
        )),
        (other, _) => Err(format!("a document of format {other}, not {FORMAT}")),
    }
}
