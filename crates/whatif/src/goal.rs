//! Goals for a setting: `p95 < 200ms`, `rps > 900`.

use std::fmt;
use std::str::FromStr;

use crate::Prediction;

/// A bound on one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The bounded figure.
    pub metric: Metric,
    /// Milliseconds, or requests a second.
    pub limit: f64,
}

/// A figure with a possible bound in a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Median latency.
    P50,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// Mean latency.
    Mean,
    /// Requests a second, which should be above the limit; all others should be below theirs.
    Rps,
}

/// Figures of a setting, predicted or measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Answered requests a second.
    pub rps: f64,
    /// Median latency, ms.
    pub p50: f64,
    /// 95th percentile, ms.
    pub p95: f64,
    /// 99th percentile, ms.
    pub p99: f64,
    /// Mean latency, ms.
    pub mean: f64,
}

impl Figures {
    /// Returns the figure named by `metric`.
    pub fn get(&self, metric: Metric) -> f64 {
        match metric {
            Metric::P50 => self.p50,
            Metric::P95 => self.p95,
            Metric::P99 => self.p99,
            Metric::Mean => self.mean,
            Metric::Rps => self.rps,
        }
    }

    /// Each figure of both put together by `with`.
    pub(crate) fn zip(&self, other: &Figures, with: impl Fn(f64, f64) -> f64) -> Figures {
        Figures {
            rps: with(self.rps, other.rps),
            p50: with(self.p50, other.p50),
            p95: with(self.p95, other.p95),
            p99: with(self.p99, other.p99),
            mean: with(self.mean, other.mean),
        }
    }
}

impl From<&Prediction> for Figures {
    fn from(seen: &Prediction) -> Figures {
        Figures {
            rps: seen.rps,
            p50: seen.latency_p50.as_millis_f64(),
            p95: seen.latency_p95.as_millis_f64(),
            p99: seen.latency_p99.as_millis_f64(),
            mean: seen.latency_mean.as_millis_f64(),
        }
    }
}

impl Goal {
    /// Returns the distance of the figures from the goal, as a share: 0.1 is a tenth too much, at
    /// or below zero the goal is held.
    pub fn missed_by(&self, figures: &Figures) -> f64 {
        let value = figures.get(self.metric);
        match self.metric {
            Metric::Rps => self.limit / value.max(f64::MIN_POSITIVE) - 1.0,
            _ => value / self.limit - 1.0,
        }
    }

    /// Whether the figures hold the goal.
    pub fn held_by(&self, figures: &Figures) -> bool {
        self.missed_by(figures) <= 0.0
    }
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Goal, String> {
        let wrong = || {
            format!(
                "`{text}` is no goal; write such as 'p95 < 200ms', 'p99 < 1s', 'mean < 50ms' or 'rps > 900'"
            )
        };
        let at = text.find(['<', '>']).ok_or_else(wrong)?;
        let (name, rest) = text.split_at(at);
        let (sign, limit) = rest.split_at(1);
        let limit = limit.strip_prefix('=').unwrap_or(limit).trim();
        let metric = match name.trim().to_ascii_lowercase().as_str() {
            "p50" | "median" => Metric::P50,
            "p95" => Metric::P95,
            "p99" => Metric::P99,
            "mean" => Metric::Mean,
            "rps" => Metric::Rps,
            _ => return Err(wrong()),
        };
        let limit = match (metric, sign) {
            (Metric::Rps, ">") => limit.parse().ok(),
            (Metric::Rps, _) | (_, ">") => None,
            _ => milliseconds(limit),
        };
        let limit = limit.filter(|limit: &f64| *limit > 0.0 && limit.is_finite());
        Ok(Goal {
            metric,
            limit: limit.ok_or_else(wrong)?,
        })
    }
}

/// `200ms`, `0.2s`; a bare number is milliseconds.
fn milliseconds(text: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(ms), _) => number(ms),
        (None, Some(s)) => number(s).map(|s| s * 1e3),
        (None, None) => number(text),
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Metric::P50 => "p50",
            Metric::P95 => "p95",
            Metric::P99 => "p99",
            Metric::Mean => "mean",
            Metric::Rps => "rps",
        })
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.metric {
            Metric::Rps => write!(f, "rps > {}", self.limit),
            metric => write!(f, "{metric} < {} ms", self.limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(Metric, f64)>) {
        let got = text.parse::<Goal>().ok();
        assert_eq!(
            got.map(|goal| (goal.metric, goal.limit)),
            expected,
            "{text}"
        );
    }

    #[test]
    fn goals_are_read() {
        check("p95 < 200ms", Some((Metric::P95, 200.0)));
        check("p99<1.5s", Some((Metric::P99, 1_500.0)));
        check("median <= 20", Some((Metric::P50, 20.0)));
        check("rps > 900", Some((Metric::Rps, 900.0)));
        check("rps < 900", None);
        check("p95 > 200ms", None);
        check("p95 < 0ms", None);
        check("p95 < soon", None);
        check("p42 < 1s", None);
        check("p95", None);
    }

    #[test]
    fn goals_are_held_or_missed() {
        let figures = Figures {
            rps: 800.0,
            p95: 220.0,
            ..Figures::default()
        };
        let missed = |text: &str| text.parse::<Goal>().unwrap().missed_by(&figures);
        assert!((missed("p95 < 200ms") - 0.1).abs() < 1e-9);
        assert!((missed("rps > 1000") - 0.25).abs() < 1e-9);
        assert!(missed("rps > 500") < 0.0);
    }
}
