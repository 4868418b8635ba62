//! From answered requests to points.

use crate::spec::{ScoreRule, ScoreSpec};

/// What has been counted towards the score. Tallies of several threads are merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    rule_counts: Vec<u64>,
    capture_units: Vec<f64>,
}

/// One rule's share of the points.
#[derive(Clone, Debug, PartialEq)]
pub struct PointsLine {
    /// The rule, such as `GET * 304` or `captured messages`.
    pub rule: String,
    /// Requests, or units of the captured number.
    pub count: u64,
    /// Points given by the rule.
    pub points: f64,
}

impl Tally {
    /// Counts a request with the demanded response. `line` is method and path without the query;
    /// `captured` comes from [`crate::User::scored`].
    pub fn count(&mut self, spec: &ScoreSpec, line: &str, status: u16, captured: &[(usize, f64)]) {
        self.rule_counts.resize(spec.rules.len(), 0);
        self.capture_units.resize(spec.captures.len(), 0.0);
        let matching = spec
            .rules
            .iter()
            .position(|rule| applies(rule, line, status));
        if let Some(rule) = matching {
            self.rule_counts[rule] += 1;
        }
        for (capture, units) in captured {
            if let Some(sum) = self.capture_units.get_mut(*capture) {
                *sum += units;
            }
        }
    }

    /// Returns the counts by rule, and the units by captured number.
    pub fn counts(&self) -> (&[u64], &[f64]) {
        (&self.rule_counts, &self.capture_units)
    }

    /// Returns the tally with the given counts, as returned by [`Tally::counts`].
    pub fn of_counts(rule_counts: Vec<u64>, capture_units: Vec<f64>) -> Tally {
        Tally {
            rule_counts,
            capture_units,
        }
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &Tally) {
        let rules = self.rule_counts.len().max(other.rule_counts.len());
        let captures = self.capture_units.len().max(other.capture_units.len());
        self.rule_counts.resize(rules, 0);
        self.capture_units.resize(captures, 0.0);
        for (sum, count) in self.rule_counts.iter_mut().zip(&other.rule_counts) {
            *sum += count;
        }
        for (sum, units) in self.capture_units.iter_mut().zip(&other.capture_units) {
            *sum += units;
        }
    }

    /// The points, line by line in the order of the rules.
    pub fn lines(&self, spec: &ScoreSpec) -> Vec<PointsLine> {
        let counts = self.rule_counts.iter().copied().chain(std::iter::repeat(0));
        let rules = spec
            .rules
            .iter()
            .zip(counts)
            .map(|(rule, count)| PointsLine {
                rule: match rule.status {
                    Some(status) => format!("{} {status}", rule.pattern),
                    None => rule.pattern.clone(),
                },
                count,
                points: (count / rule.per.max(1)) as f64 * rule.points,
            });
        let units = self
            .capture_units
            .iter()
            .copied()
            .chain(std::iter::repeat(0.0));
        let captures = spec
            .captures
            .iter()
            .zip(units)
            .map(|(capture, units)| PointsLine {
                rule: format!("captured {}", capture.name),
                count: units.max(0.0) as u64,
                points: units * capture.points,
            });
        rules.chain(captures).collect()
    }
}

fn applies(rule: &ScoreRule, line: &str, status: u16) -> bool {
    rule.status.is_none_or(|wanted| wanted == status) && matches_pattern(&rule.pattern, line)
}

/// Whether `text` fits `pattern`, in which `*` stands for any run of characters.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        // The last part must end the text; those before take the first place they fit.
        if parts.peek().is_none() {
            return text.ends_with(part);
        }
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::CapturePoints;

    #[test]
    fn patterns_match_runs_of_characters() {
        for (pattern, text, expected) in [
            ("GET /fetch", "GET /fetch", true),
            ("GET /fetch", "GET /fetch/1", false),
            ("GET *", "GET /x", true),
            ("* /x", "POST /x", true),
            ("GET /a/*/c", "GET /a/b/c", true),
            ("GET /a/*/c", "GET /a/c", false),
            ("GET *.png", "GET /icons/a.png", true),
            ("*a*a*", "GET /a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }

    /// The rule of the ISUCON 7 qualifier: fetches give nothing, a hundred 304s one point, posts
    /// three, every message received one.
    #[test]
    fn a_contest_rule_can_be_said() {
        let rule = |pattern: &str, status, points, per| ScoreRule {
            pattern: pattern.to_owned(),
            status,
            points,
            per,
        };
        let spec = ScoreSpec {
            rules: vec![
                rule("GET /fetch", None, 0.0, 1),
                rule("GET *", Some(304), 1.0, 100),
                rule("GET *", None, 1.0, 1),
                rule("POST *", None, 3.0, 1),
            ],
            captures: vec![CapturePoints {
                name: "messages".to_owned(),
                points: 1.0,
            }],
        };
        let mut tally = Tally::default();
        tally.count(&spec, "GET /fetch", 200, &[]);
        for _ in 0..250 {
            tally.count(&spec, "GET /style.css", 304, &[]);
        }
        tally.count(&spec, "GET /message", 200, &[(0, 7.0)]);
        let mut other = Tally::default();
        other.count(&spec, "POST /message", 204, &[]);
        tally.merge(&other);
        let points: Vec<f64> = tally.lines(&spec).iter().map(|line| line.points).collect();
        assert_eq!(points, [0.0, 2.0, 1.0, 3.0, 7.0]);
    }
}
