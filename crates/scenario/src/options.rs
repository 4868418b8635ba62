//! The `[Options]` of a request. A new one is a name in one of the lists here, and one of the
//! vocabulary.

mod print;

use crate::ast::{KeyValue, Place};
use crate::files::Files;
use crate::predicate::Operand;
use crate::template::{Expr, Template};
use crate::variables::Variables;

/// Redirects followed where the flow says nothing; what curl follows too.
const REDIRECTS_DEFAULT: u64 = 50;
/// Milliseconds between tries where the flow says nothing; as `hurl` does.
const RETRY_INTERVAL_MS_DEFAULT: u64 = 1_000;

/// Options with the values on and off. `http1.1`, `path-as-is`, `verbose` and `very-verbose` name
/// the default, or concern output of `hurl`.
pub(crate) const SWITCHES: [&str; 13] = [
    "compressed",
    "digest",
    "http1.1",
    "http2",
    "insecure",
    "location",
    "location-trusted",
    "netrc",
    "netrc-optional",
    "path-as-is",
    "skip",
    "verbose",
    "very-verbose",
];
/// Options whose value is a text.
pub(crate) const TEXTS: [&str; 8] = [
    "aws-sigv4",
    "cacert",
    "cert",
    "connect-to",
    "key",
    "netrc-file",
    "resolve",
    "user",
];
/// Options whose value is a time.
pub(crate) const TIMES: [&str; 2] = ["delay", "retry-interval"];
/// Options whose value is a count, or -1 for any number.
pub(crate) const COUNTS: [&str; 2] = ["max-redirs", "retry"];
/// Options with a non-negative number as value.
pub(crate) const NUMBERS: [&str; 2] = ["limit-rate", "repeat"];

/// Longest think time; a longer one is a slip of the pen.
const DELAY_MS_MAX: u64 = 3_600_000;

/// The lines of `[Options]`, in order; of several for one thing the last counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options {
    pub(crate) lines: Vec<OptionLine>,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OptionLine {
    pub(crate) place: Place,
    pub(crate) setting: Setting,
}

/// What a line sets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Setting {
    /// One of [`SWITCHES`].
    Switch(&'static str, Given<bool>),
    /// One of [`TEXTS`].
    Text(&'static str, Template),
    /// One of [`TIMES`], in milliseconds.
    Time(&'static str, Given<u64>),
    /// One of [`COUNTS`]. `None`: without limit.
    Count(&'static str, Given<Option<u64>>),
    /// One of [`NUMBERS`].
    Number(&'static str, Given<u64>),
    Header(KeyValue),
    Variable(String, Operand),
}

/// A setting's value: written out, or an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given<T> {
    Fixed(T),
    Expr(Expr),
}

impl<T: Copy> Given<T> {
    fn get(
        &self,
        variables: &mut Variables,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, String> {
        match self {
            Given::Fixed(value) => Ok(*value),
            Given::Expr(expr) => {
                let value = expr.value(variables)?;
                let wrong =
                    || format!("{expr} is {}, which this option cannot take", value.shown());
                read(&value.to_string()).ok_or_else(wrong)
            }
        }
    }

    fn expr(&self) -> Option<&Expr> {
        match self {
            Given::Fixed(_) => None,
            Given::Expr(expr) => Some(expr),
        }
    }
}

impl Options {
    /// The last line for which `pick` finds something.
    fn last<'a, T>(&'a self, pick: impl Fn(&'a Setting) -> Option<T>) -> Option<T> {
        let mut settings = self.lines.iter().rev().map(|line| &line.setting);
        settings.find_map(pick)
    }

    fn given_switch(&self, names: &[&str]) -> Option<&Given<bool>> {
        self.last(|setting| match setting {
            Setting::Switch(known, given) => names.contains(known).then_some(given),
            _ => None,
        })
    }

    /// Returns a switch, where given.
    pub(crate) fn switch(
        &self,
        name: &str,
        variables: &mut Variables,
    ) -> Result<Option<bool>, String> {
        let found = self.given_switch(&[name]);
        found.map(|given| given.get(variables, boolean)).transpose()
    }

    /// Returns a text, where given.
    pub(crate) fn text(&self, name: &str) -> Option<&Template> {
        self.last(|setting| match setting {
            Setting::Text(known, text) => (*known == name).then_some(text),
            _ => None,
        })
    }

    /// All texts of an option which may come several times, in order.
    pub(crate) fn texts(&self, name: &'static str) -> impl Iterator<Item = &Template> {
        self.lines
            .iter()
            .filter_map(move |line| match &line.setting {
                Setting::Text(known, text) => (*known == name).then_some(text),
                _ => None,
            })
    }

    fn time(&self, name: &str, variables: &mut Variables) -> Result<Option<u64>, String> {
        let found = self.last(|setting| match setting {
            Setting::Time(known, given) => (*known == name).then_some(given),
            _ => None,
        });
        found
            .map(|given| given.get(variables, delay_ms))
            .transpose()
    }

    fn count(&self, name: &str, variables: &mut Variables) -> Result<Option<Option<u64>>, String> {
        let found = self.last(|setting| match setting {
            Setting::Count(known, given) => (*known == name).then_some(given),
            _ => None,
        });
        found.map(|given| given.get(variables, count)).transpose()
    }

    fn number(&self, name: &str, variables: &mut Variables) -> Result<Option<u64>, String> {
        let found = self.last(|setting| match setting {
            Setting::Number(known, given) => (*known == name).then_some(given),
            _ => None,
        });
        found.map(|given| given.get(variables, number)).transpose()
    }

    /// Think time before the request, milliseconds, when there is one.
    pub(crate) fn delay_ms(&self, variables: &mut Variables) -> Result<Option<u64>, String> {
        self.time("delay", variables)
    }

    /// Bytes per second in each direction, where limited.
    pub(crate) fn limit_rate(&self, variables: &mut Variables) -> Result<Option<u64>, String> {
        let found = self.number("limit-rate", variables)?;
        Ok(found.filter(|rate| *rate > 0))
    }

    /// How often the entry is run.
    pub(crate) fn repeat(&self, variables: &mut Variables) -> Result<u64, String> {
        Ok(self.number("repeat", variables)?.unwrap_or(1))
    }

    /// Returns the number of retries after a failed check.
    pub(crate) fn retries(&self, variables: &mut Variables) -> Result<u64, String> {
        let found = self.count("retry", variables)?;
        Ok(found.map_or(0, |most| most.unwrap_or(u64::MAX)))
    }

    /// Returns the time before a retry, milliseconds.
    pub(crate) fn retry_interval_ms(&self, variables: &mut Variables) -> Result<u64, String> {
        let found = self.time("retry-interval", variables)?;
        Ok(found.unwrap_or(RETRY_INTERVAL_MS_DEFAULT))
    }

    /// Whether the entry is passed over.
    pub(crate) fn skips(&self, variables: &mut Variables) -> Result<bool, String> {
        Ok(self.switch("skip", variables)?.unwrap_or(false))
    }

    /// Whether redirects may be followed at all.
    pub(crate) fn may_follow(&self) -> bool {
        self.given_switch(&["location", "location-trusted"])
            .is_some()
    }

    /// How many redirects are followed; `None`: none.
    pub(crate) fn redirects_max(&self, variables: &mut Variables) -> Result<Option<u64>, String> {
        let follow = self.given_switch(&["location", "location-trusted"]);
        if !follow.map_or(Ok(false), |follow| follow.get(variables, boolean))? {
            return Ok(None);
        }
        let most = self.count("max-redirs", variables)?;
        Ok(Some(most.map_or(REDIRECTS_DEFAULT, |most| {
            most.unwrap_or(u64::MAX)
        })))
    }

    /// Whether a compressed answer is asked for.
    pub(crate) fn compressed(&self, variables: &mut Variables) -> Result<bool, String> {
        Ok(self.switch("compressed", variables)?.unwrap_or(false))
    }

    /// Whether digest authentication may be asked for.
    pub(crate) fn may_digest(&self) -> bool {
        self.given_switch(&["digest"]).is_some()
    }

    /// More headers of the request.
    pub(crate) fn headers(&self) -> impl Iterator<Item = &KeyValue> {
        self.lines.iter().filter_map(|line| match &line.setting {
            Setting::Header(header) => Some(header),
            _ => None,
        })
    }

    /// `name:password`, when given.
    pub(crate) fn user(&self) -> Option<&Template> {
        self.text("user")
    }

    /// Sets variables.
    pub(crate) fn set_variables(&self, variables: &mut Variables) -> Result<(), String> {
        for line in &self.lines {
            if let Setting::Variable(name, value) = &line.setting {
                // A variable's value is never a file.
                let value = value.value(&Files::new(), variables)?;
                variables.set(name, value);
            }
        }
        Ok(())
    }
}

impl OptionLine {
    /// Returns whether the setting is part of the request.
    pub(crate) fn is_of_request(&self) -> bool {
        matches!(
            self.setting,
            Setting::Header(_)
                | Setting::Text("user" | "aws-sigv4", _)
                | Setting::Switch("compressed" | "digest", _)
        )
    }

    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match &self.setting {
            Setting::Switch(_, given) => given.expr().into_iter().collect(),
            Setting::Time(_, given) | Setting::Number(_, given) => {
                given.expr().into_iter().collect()
            }
            Setting::Count(_, given) => given.expr().into_iter().collect(),
            Setting::Text(_, text) => text.exprs().collect(),
            Setting::Header(pair) => pair.key.exprs().chain(pair.value.exprs()).collect(),
            Setting::Variable(_, value) => value.exprs(),
        }
    }
}

pub(crate) fn boolean(text: &str) -> Option<bool> {
    text.parse().ok()
}

pub(crate) fn delay_ms(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let delay = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    (delay <= DELAY_MS_MAX).then_some(delay)
}

pub(crate) fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// `Some(None)` is any number.
pub(crate) fn count(text: &str) -> Option<Option<u64>> {
    match text {
        "-1" => Some(None),
        _ => text.parse().ok().map(Some),
    }
}
