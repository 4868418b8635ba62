//! The gain of a remedy, in words.

use whatif::Ratio;
use words::{Text, text};

use crate::types::Confidence;

/// The smallest change that is printed: half a per cent is rounded up to one.
const NOTICED: f64 = 0.005;

/// Estimated gain of a remedy.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gain {
    /// Share of a request's time saved, 0 to 1.
    pub(crate) share: f64,
    /// Such as `2.1 times the requests/s (1.9 to 2.4), p95 −52%`.
    pub(crate) text: Text,
    /// The gain by replay; `None` if the run cannot be replayed.
    pub(crate) replayed: Option<whatif::Gain>,
}

impl Gain {
    /// Returns `up to` where only a share of the time gives the gain: a replay gives the gain in
    /// full.
    pub(crate) fn at_most(&self) -> Text {
        match self.replayed {
            Some(_) => self.text.clone(),
            None => text!("up to {gain}", gain = self.text),
        }
    }

    pub(super) fn estimated(share: f64, text: Text) -> Gain {
        Gain {
            share,
            text,
            replayed: None,
        }
    }

    /// Returns a gain by replay; an open load sets the throughput, so there the latency counts.
    pub(crate) fn replayed(gain: whatif::Gain, is_open: bool) -> Gain {
        let p95 = |ratio: f64| text!("p95 {changed}", changed = changed(ratio));
        let (share, text) = if is_open {
            let (low, high) = (changed(gain.p95.low), changed(gain.p95.high));
            let p95 = p95(gain.p95.ratio);
            let text = match low == high {
                true => p95,
                false => text!("{p95} ({high} to {low})", p95, high, low),
            };
            (1.0 - gain.mean.ratio, text)
        } else {
            let text = text!(
                "{more}, {p95}",
                more = more(gain.throughput),
                p95 = p95(gain.p95.ratio)
            );
            (1.0 - 1.0 / gain.throughput.ratio, text)
        };
        Gain {
            share: share.clamp(0.0, 1.0),
            text,
            replayed: Some(gain),
        }
    }
}

/// Returns the greatest confidence in a remedy by its replay: a hint where no client would notice
/// the change, likely where the interval includes no change.
pub(crate) fn most_sure(gain: &whatif::Gain, is_open: bool) -> Confidence {
    let Ratio { low, high, .. } = gain.throughput;
    let (least, most) = match is_open {
        true => (1.0 / gain.mean.high, 1.0 / gain.mean.low),
        false => (low, high),
    };
    let is_quicker = gain.p95.ratio <= 1.0 - NOTICED;
    if most < 1.0 + NOTICED && !is_quicker {
        Confidence::Low
    } else if least <= 1.0 {
        Confidence::Medium
    } else {
        Confidence::High
    }
}

/// Ratio of throughput from which a gain is written as a multiple.
const MULTIPLE_MIN: f64 = 1.5;

/// Such as `12% more requests/s (9 to 15%)`.
fn more(ratio: Ratio) -> Text {
    let Ratio { ratio, low, high } = ratio;
    let percents = |ratio: f64| (ratio - 1.0).max(0.0) * 100.0;
    if ratio >= MULTIPLE_MIN {
        text!(
            "{ratio} times the requests/s ({low} to {high})",
            ratio = format!("{ratio:.1}"),
            low = format!("{low:.1}"),
            high = format!("{high:.1}")
        )
    } else if high < 1.0 + NOTICED {
        text!("no more requests/s")
    } else {
        let (low, high) = (percents(low), percents(high));
        text!(
            "{percent}% more requests/s ({low} to {high}%)",
            percent = format!("{:.0}", percents(ratio)),
            low = format!("{low:.0}"),
            high = format!("{high:.0}")
        )
    }
}

/// Such as `−52%`.
fn changed(ratio: f64) -> Text {
    let percents = ((ratio - 1.0) * 100.0).round();
    match percents {
        p if p < 0.0 => format!("−{:.0}%", -p).into(),
        p if p > 0.0 => format!("+{p:.0}%").into(),
        _ => text!("as now"),
    }
}
