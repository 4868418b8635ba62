//! What a load is expected to show, such as `p99 < 200ms` or `errors < 0.1%`.

use std::fmt;

use figures::duration::{self, Unit};
use hdrhistogram::Histogram;

use crate::figures::Figures;
use crate::measure::Measured;

/// An expectation: a figure, a relation, and the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    figure: Figure,
    relation: Relation,
    limit: f64,
    text: String,
}

/// What came of an expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalResult {
    /// The expectation as written.
    pub text: String,
    /// Measured figure, with a unit; nothing when no request gave one, or too few.
    pub came: Option<String>,
    /// Whether the goal held.
    pub verdict: GoalVerdict,
}

/// Whether an expectation held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalVerdict {
    /// The figure is on the right side of the limit.
    Held,
    /// The figure is on the wrong side, or no request gave one.
    Missed,
    /// Nothing is known: the requests are too few for the percentile, which would be the maximum.
    TooFew {
        /// Requests of which one lies beyond the percentile.
        needed: u64,
        /// Requests with a time.
        came: u64,
    },
}

/// Returns the least number of values with one beyond a quantile; 1 for the maximum.
pub fn values_needed(quantile: f64) -> u64 {
    // 1 - 0.9999 is a little below a ten-thousandth in binary.
    const ROUNDING: f64 = 1e-9;
    match quantile < 1.0 {
        true => (1.0 / (1.0 - quantile) * (1.0 - ROUNDING)).ceil() as u64,
        false => 1,
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// From due to answered, or from sent.
    Time { of: TimeOf, from_sent: bool },
    /// Failed requests.
    Errors,
    /// Failed requests as a share of all.
    ErrorShare,
    /// Complete responses per second.
    Rps,
    /// All requests.
    Requests,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum TimeOf {
    Quantile(f64),
    Mean,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Below,
    AtMost,
    Above,
    AtLeast,
    Equal,
}

impl Goal {
    /// Reads one expectation. The error is a sentence that shows what can be written.
    pub fn parse(text: &str) -> Result<Goal, String> {
        parse(text).ok_or_else(|| {
            format!(
                "`{}` is no expectation; write such as p99 < 200ms, sent p50 <= 5ms, mean < 20ms, \
                 errors = 0, errors < 0.1%, rps > 1000",
                text.trim()
            )
        })
    }

    /// Reads several with commas between.
    pub fn parse_all(text: &str) -> Result<Vec<Goal>, String> {
        text.split(',').map(Goal::parse).collect()
    }

    /// Returns whether the goal is about failed requests.
    pub fn is_about_errors(&self) -> bool {
        matches!(self.figure, Figure::Errors | Figure::ErrorShare)
    }

    /// Compares the goal with a measurement.
    pub fn check(&self, measured: &Measured) -> GoalResult {
        match self.figure.too_few(measured) {
            Some(verdict) => GoalResult {
                text: self.text.clone(),
                came: None,
                verdict,
            },
            None => self.check_roughly(measured),
        }
    }

    /// Compares the goal with a short trial, where the maximum of few requests stands for any
    /// percentile.
    pub(crate) fn check_roughly(&self, measured: &Measured) -> GoalResult {
        let came = self.figure.of(measured);
        let held = came.is_some_and(|came| self.relation.holds(came, self.limit));
        GoalResult {
            text: self.text.clone(),
            came: came.map(|came| self.figure.shown(came)),
            verdict: match held {
                true => GoalVerdict::Held,
                false => GoalVerdict::Missed,
            },
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Figure {
    /// Returns the value of the figure: nanoseconds, a count, a share of one, or a number per
    /// second.
    fn of(self, measured: &Measured) -> Option<f64> {
        let figures = &measured.figures;
        let outcomes = &figures.outcomes;
        match self {
            Figure::Time { of, from_sent } => of.of(times(figures, from_sent)),
            Figure::Errors => Some(outcomes.failed() as f64),
            Figure::ErrorShare => {
                let all = outcomes.all();
                (all > 0).then(|| outcomes.failed() as f64 / all as f64)
            }
            Figure::Rps => Some(measured.rps()),
            Figure::Requests => Some(outcomes.all() as f64),
        }
    }

    /// Returns the verdict on a percentile of too few requests, but some.
    fn too_few(self, measured: &Measured) -> Option<GoalVerdict> {
        let Figure::Time {
            of: TimeOf::Quantile(quantile),
            from_sent,
        } = self
        else {
            return None;
        };
        let came = times(&measured.figures, from_sent).len();
        let needed = values_needed(quantile);
        (1..needed)
            .contains(&came)
            .then_some(GoalVerdict::TooFew { needed, came })
    }

    fn shown(self, value: f64) -> String {
        match self {
            Figure::Time { .. } => format!("{:.3} ms", value / 1e6),
            Figure::ErrorShare => format!("{:.3}%", value * 100.0),
            Figure::Rps => format!("{value:.1}"),
            Figure::Errors | Figure::Requests => format!("{value}"),
        }
    }
}

fn times(figures: &Figures, from_sent: bool) -> &Histogram<u64> {
    match from_sent {
        true => &figures.service,
        false => &figures.latency,
    }
}

impl TimeOf {
    fn of(self, histogram: &Histogram<u64>) -> Option<f64> {
        if histogram.is_empty() {
            return None;
        }
        Some(match self {
            TimeOf::Quantile(quantile) => histogram.value_at_quantile(quantile) as f64,
            TimeOf::Mean => histogram.mean(),
            TimeOf::Min => histogram.min() as f64,
            TimeOf::Max => histogram.max() as f64,
        })
    }
}

impl Relation {
    fn holds(self, came: f64, limit: f64) -> bool {
        match self {
            Relation::Below => came < limit,
            Relation::AtMost => came <= limit,
            Relation::Above => came > limit,
            Relation::AtLeast => came >= limit,
            Relation::Equal => came == limit,
        }
    }
}

fn parse(text: &str) -> Option<Goal> {
    let text = text.trim();
    let split = text.find(['<', '>', '='])?;
    let (name, rest) = text.split_at(split);
    let signs = rest.len() - rest.trim_start_matches(['<', '>', '=']).len();
    let relation = match &rest[..signs] {
        "<" => Relation::Below,
        "<=" => Relation::AtMost,
        ">" => Relation::Above,
        ">=" => Relation::AtLeast,
        "=" | "==" => Relation::Equal,
        _ => return None,
    };
    let limit = rest[signs..].trim();
    let (figure, limit) = match figure(name.trim())? {
        figure @ Figure::Time { .. } => (
            figure,
            duration::nanos(limit, Unit::Microseconds..=Unit::Seconds, None)?,
        ),
        Figure::Errors => match limit.strip_suffix('%') {
            Some(percent) => (Figure::ErrorShare, number(percent.trim_end())? / 100.0),
            None => (Figure::Errors, number(limit)?),
        },
        figure => (figure, number(limit)?),
    };
    Some(Goal {
        figure,
        relation,
        limit,
        text: text.to_owned(),
    })
}

fn figure(name: &str) -> Option<Figure> {
    let from_sent = name
        .strip_prefix("sent")
        .map(|rest| rest.trim_start_matches([' ', '_']));
    let of = match from_sent.unwrap_or(name) {
        "mean" => TimeOf::Mean,
        "min" => TimeOf::Min,
        "max" => TimeOf::Max,
        "errors" if from_sent.is_none() => return Some(Figure::Errors),
        "rps" if from_sent.is_none() => return Some(Figure::Rps),
        "requests" if from_sent.is_none() => return Some(Figure::Requests),
        name => {
            let percent = number(name.strip_prefix('p')?)?;
            TimeOf::Quantile((percent <= 100.0).then_some(percent / 100.0)?)
        }
    };
    Some(Figure::Time {
        of,
        from_sent: from_sent.is_some(),
    })
}

fn number(text: &str) -> Option<f64> {
    let digits = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| digits)
}

#[cfg(test)]
mod tests {
    use recording::{Generator, Nanos, Outcome, Timestamp, Window};

    use super::*;
    use crate::figures::Ended;

    /// Returns 100 requests in one second, with 1 to 100 ms from due, all sent 1 ms late; the last
    /// one failed.
    fn measured() -> Measured {
        let mut figures = Figures::new(&[0]);
        for ms in 1..=100 {
            figures.add(&Ended {
                step: 0,
                outcome: if ms < 100 {
                    Outcome::Ok
                } else {
                    Outcome::ServerError
                },
                status: if ms < 100 { 200 } else { 500 },
                latency: Nanos(ms * 1_000_000),
                service: Nanos((ms - 1) * 1_000_000),
                lateness: Some(Nanos(1_000_000)),
                body_bytes: 1,
                was_sent: true,
            });
        }
        figures.in_time = 100;
        Measured {
            window: Window {
                start: Timestamp::default(),
                end: Timestamp::from_monotonic_nanos(1_000_000_000),
            },
            engine: crate::engine::Engine::Epoll,
            figures,
            generator: Generator::default(),
            failures: Vec::new(),
            tally: Default::default(),
            score: None,
            users: 10,
            stopped: false,
            fault: None,
        }
    }

    #[test]
    fn expectations_are_held_against_figures() {
        let check = |text: &str, held: bool| {
            let goal = Goal::parse(text).unwrap_or_else(|error| panic!("{error}"));
            let verdict = match held {
                true => GoalVerdict::Held,
                false => GoalVerdict::Missed,
            };
            assert_eq!(goal.check(&measured()).verdict, verdict, "{text}");
        };
        // A histogram of three digits gives the upper end of a thousandth.
        check("p50 < 50.1ms", true);
        check("p50 < 50ms", false);
        check("p50 >= 49.9 ms", true);
        check("p99<0.0995s", true);
        check("sent p50 < 49.1ms", true);
        check("sent_p50 < 48.9ms", false);
        check("mean < 51ms", true);
        check("max <= 101ms", true);
        check("min < 2ms", true);
        check("errors = 0", false);
        check("errors == 1", true);
        check("errors <= 1%", true);
        check("errors < 1 %", false);
        check("rps > 99", true);
        check("requests = 100", true);
    }

    #[test]
    fn what_is_no_expectation_is_refused() {
        for wrong in [
            "",
            "p99",
            "p99 < ",
            "p99 < 5",
            "p99 < 5min",
            "p101 < 5ms",
            "px < 5ms",
            "errors < x%",
            "rps > 5ms",
            "sent rps > 5",
            "p99 =< 5ms",
            "p99 < -5ms",
            "latency < 5ms",
        ] {
            assert!(Goal::parse(wrong).is_err(), "{wrong}");
        }
        let several = Goal::parse_all("p99 < 200ms, errors < 0.1%").expect("two");
        assert_eq!(several.len(), 2);
        assert!(several[1].is_about_errors());
    }

    #[test]
    fn nothing_measured_holds_no_expectation_about_times() {
        let mut nothing = measured();
        nothing.figures = Figures::new(&[]);
        for text in ["p99 < 1s", "errors < 1%"] {
            let result = Goal::parse(text).expect(text).check(&nothing);
            let unknown = (None, GoalVerdict::Missed);
            assert_eq!((result.came, result.verdict), unknown, "{text}");
        }
    }

    #[test]
    fn a_percentile_of_too_few_requests_is_not_judged_by_their_maximum() {
        let check = |text: &str, needed: u64| {
            let goal = Goal::parse(text).expect(text);
            let result = goal.check(&measured());
            let verdict = GoalVerdict::TooFew { needed, came: 100 };
            assert_eq!((result.came, result.verdict), (None, verdict), "{text}");
            // A trial of a search says what it can.
            assert_ne!(goal.check_roughly(&measured()).came, None, "{text}");
        };
        check("p99.9 < 200ms", 1_000);
        check("p99.9 < 1us", 1_000);
        check("sent p99.9 > 99000us", 1_000);
        check("p99.99 <= 1s", 10_000);
        check("p99.5 < 1s", 200);
    }

    #[test]
    fn a_quantile_needs_a_value_beyond_it() {
        let needed = [
            0.0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.999_99, 0.999_999, 1.0,
        ];
        assert_eq!(
            needed.map(values_needed),
            [1, 2, 10, 20, 100, 1_000, 10_000, 100_000, 1_000_000, 1]
        );
    }
}
