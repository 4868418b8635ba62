//! Think time: how long a user waits before the next request.

use figures::duration::{self, Unit};
use std::f64::consts::TAU;
use std::fmt;

/// Longest think time; a longer one is a slip of the pen, or the far end of a distribution.
const THINK_MS_MAX: f64 = 3_600_000.0;
/// The 95 % quantile of the standard normal distribution.
const NORMAL_P95: f64 = 1.644_853_626_951;

/// How think times are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkTime {
    /// Always the same.
    Constant {
        /// Milliseconds.
        ms: u64,
    },
    /// Any length between two, all equally likely.
    Uniform {
        /// The shortest, milliseconds.
        ms_min: u64,
        /// The longest, milliseconds.
        ms_max: u64,
    },
    /// Pauses between independent events.
    Exponential {
        /// The mean, milliseconds.
        ms_mean: u64,
    },
    /// As people's pauses are: most are short, a few very long.
    LogNormal {
        /// Median, milliseconds.
        ms_median: u64,
        /// 95th percentile, milliseconds.
        ms_p95: u64,
    },
}

impl ThinkTime {
    /// Reads `500ms`, `constant 500ms`, `uniform 200ms..800ms`, `exponential 500ms` or
    /// `lognormal 400ms p95 2s`. The error is a sentence.
    pub fn parse(text: &str) -> Result<ThinkTime, String> {
        let wrong = || {
            format!(
                "`{text}` is no think time; write 500ms, uniform 200ms..800ms, exponential 500ms \
                 or lognormal 400ms p95 2s"
            )
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let found = match words.as_slice() {
            [one] | ["constant", one] => ms(one).map(|ms| ThinkTime::Constant { ms }),
            ["uniform", range] => range.split_once("..").and_then(|(low, high)| {
                let (ms_min, ms_max) = (ms(low)?, ms(high)?);
                (ms_min < ms_max).then_some(ThinkTime::Uniform { ms_min, ms_max })
            }),
            ["exponential", mean] => ms(mean).map(|ms_mean| ThinkTime::Exponential { ms_mean }),
            ["lognormal", median, "p95", p95] => {
                let both = ms(median).zip(ms(p95));
                both.filter(|(median, p95)| *median > 0 && median < p95)
                    .map(|(ms_median, ms_p95)| ThinkTime::LogNormal { ms_median, ms_p95 })
            }
            _ => None,
        };
        found.ok_or_else(wrong)
    }

    /// One think time, nanoseconds.
    pub(crate) fn draw_ns(self, random: &mut fastrand::Rng) -> u64 {
        // Above zero, so that its logarithm is finite.
        let share = 1.0 - random.f64();
        let ms = match self {
            ThinkTime::Constant { ms } => ms as f64,
            ThinkTime::Uniform { ms_min, ms_max } => {
                ms_min as f64 + share * (ms_max - ms_min) as f64
            }
            ThinkTime::Exponential { ms_mean } => -share.ln() * ms_mean as f64,
            ThinkTime::LogNormal { ms_median, ms_p95 } => {
                let sigma = (ms_p95 as f64 / ms_median as f64).ln() / NORMAL_P95;
                // Box and Muller (1958): a normal number of two uniform ones.
                let normal = (-2.0 * share.ln()).sqrt() * (TAU * random.f64()).cos();
                ms_median as f64 * (sigma * normal).exp()
            }
        };
        (ms.min(THINK_MS_MAX) * 1e6) as u64
    }
}

/// Prints the form read by [`ThinkTime::parse`].
impl fmt::Display for ThinkTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = |ms: u64| match ms % 1_000 {
            0 => format!("{}s", ms / 1_000),
            _ => format!("{ms}ms"),
        };
        match *self {
            ThinkTime::Constant { ms } => write!(f, "constant {}", length(ms)),
            ThinkTime::Uniform { ms_min, ms_max } => {
                write!(f, "uniform {}..{}", length(ms_min), length(ms_max))
            }
            ThinkTime::Exponential { ms_mean } => write!(f, "exponential {}", length(ms_mean)),
            ThinkTime::LogNormal { ms_median, ms_p95 } => {
                write!(f, "lognormal {} p95 {}", length(ms_median), length(ms_p95))
            }
        }
    }
}

/// Milliseconds of `500ms`, `2s`, `1.5s` or `1m`, up to one hour.
fn ms(text: &str) -> Option<u64> {
    let ms = duration::nanos(text, Unit::Milliseconds..=Unit::Minutes, None)? / 1e6;
    (ms <= THINK_MS_MAX).then_some(ms.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of many draws, in milliseconds.
    fn quantiles(text: &str, shares: [f64; 3]) -> [f64; 3] {
        let think = ThinkTime::parse(text).expect(text);
        let mut random = fastrand::Rng::with_seed(7);
        let mut drawn: Vec<u64> = (0..100_000).map(|_| think.draw_ns(&mut random)).collect();
        drawn.sort_unstable();
        shares.map(|share| drawn[(share * 99_999.0) as usize] as f64 / 1e6)
    }

    #[test]
    fn draws_follow_their_distribution() {
        let near = |text: &str, shares: [f64; 3], expected: [f64; 3]| {
            let found = quantiles(text, shares);
            for (found, expected) in found.iter().zip(expected) {
                let off = (found - expected).abs();
                assert!(off <= 0.03 * expected, "{text}: {found}, not {expected}");
            }
        };
        let shares = [0.05, 0.5, 0.95];
        near("500ms", shares, [500.0; 3]);
        near("constant 1.5s", shares, [1500.0; 3]);
        near("uniform 100ms..1s", shares, [145.0, 550.0, 955.0]);
        // Quantiles of the exponential distribution: -ln(1 - share) times the mean.
        near("exponential 1s", shares, [51.3, 693.1, 2995.7]);
        // The 5 % quantile lies as far below the median, as a factor, as the 95 % one above.
        near("lognormal 400ms p95 2s", shares, [80.0, 400.0, 2000.0]);
    }

    #[test]
    fn what_is_printed_is_read_again() {
        for text in [
            "constant 500ms",
            "uniform 200ms..1s",
            "exponential 0s",
            "lognormal 400ms p95 2s",
        ] {
            let think = ThinkTime::parse(text).expect(text);
            assert_eq!(think.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_think_time_is_refused() {
        for text in [
            "",
            "soon",
            "500",
            "uniform 2s..1s",
            "uniform 1s",
            "exponential",
            "lognormal 2s p95 1s",
            "lognormal 0ms p95 1s",
            "2h",
            "-1s",
            "1e9s",
        ] {
            assert!(ThinkTime::parse(text).is_err(), "{text}");
        }
    }
}
