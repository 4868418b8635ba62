//! The `[Options]` of a request. A new one is a row of [`parse_setting`], one of `Display`, and one
//! of the vocabulary.

use std::fmt;

use crate::ast::{KeyValue, Place};
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::parse::{is_variable_name, key};
use crate::predicate::{Operand, number_or_name};
use crate::step::Files;
use crate::template::{Expr, Style, Template, quoted};
use crate::variables::Variables;
use crate::vocabulary::{Word, WordKind, refusal, vocabulary};

/// A think time longer than this is a slip of the pen.
const DELAY_MS_MAX: u64 = 3_600_000;
/// Redirects followed where the flow says nothing; what curl follows too.
const REDIRECTS_DEFAULT: u64 = 50;

/// What is said of what is so anyway, or of what `hurl` prints.
const WITHOUT_EFFECT: [&str; 4] = ["http1.1", "path-as-is", "verbose", "very-verbose"];

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
    Compressed(Given<bool>),
    /// Milliseconds of think time before the request.
    Delay(Given<u64>),
    Header(KeyValue),
    /// One of [`WITHOUT_EFFECT`].
    WithoutEffect(&'static str, Given<bool>),
    Location(Given<bool>),
    LocationTrusted(Given<bool>),
    /// `None`: without limit.
    MaxRedirs(Given<Option<u64>>),
    /// How often the entry is run, one after the other.
    Repeat(Given<u64>),
    Skip(Given<bool>),
    User(Template),
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

/// The last line for which `pick` finds something.
fn last<'a, T>(options: &'a Options, pick: impl Fn(&'a Setting) -> Option<T>) -> Option<T> {
    let mut settings = options.lines.iter().rev().map(|line| &line.setting);
    settings.find_map(pick)
}

impl Options {
    /// Think time before the request, milliseconds, when there is one.
    pub(crate) fn delay_ms(&self, variables: &mut Variables) -> Result<Option<u64>, String> {
        let found = last(self, |setting| match setting {
            Setting::Delay(delay) => Some(delay),
            _ => None,
        });
        found
            .map(|delay| delay.get(variables, delay_ms))
            .transpose()
    }

    /// How often the entry is run.
    pub(crate) fn repeat(&self, variables: &mut Variables) -> Result<u64, String> {
        let found = last(self, |setting| match setting {
            Setting::Repeat(repeat) => Some(repeat),
            _ => None,
        });
        found.map_or(Ok(1), |repeat| repeat.get(variables, repeat_count))
    }

    /// Whether the entry is passed over.
    pub(crate) fn skips(&self, variables: &mut Variables) -> Result<bool, String> {
        let found = last(self, |setting| match setting {
            Setting::Skip(skip) => Some(skip),
            _ => None,
        });
        found.map_or(Ok(false), |skip| skip.get(variables, boolean))
    }

    /// Whether redirects may be followed at all.
    pub(crate) fn may_follow(&self) -> bool {
        last(self, |setting| match setting {
            Setting::Location(follow) | Setting::LocationTrusted(follow) => Some(follow),
            _ => None,
        })
        .is_some()
    }

    /// How many redirects are followed; `None`: none.
    pub(crate) fn redirects_max(&self, variables: &mut Variables) -> Result<Option<u64>, String> {
        let follow = last(self, |setting| match setting {
            Setting::Location(follow) | Setting::LocationTrusted(follow) => Some(follow),
            _ => None,
        });
        if !follow.map_or(Ok(false), |follow| follow.get(variables, boolean))? {
            return Ok(None);
        }
        let most = last(self, |setting| match setting {
            Setting::MaxRedirs(most) => Some(most),
            _ => None,
        });
        let most = most.map(|most| most.get(variables, redirect_count));
        Ok(Some(match most.transpose()? {
            None => REDIRECTS_DEFAULT,
            Some(most) => most.unwrap_or(u64::MAX),
        }))
    }

    /// Whether a compressed answer is asked for.
    pub(crate) fn compressed(&self, variables: &mut Variables) -> Result<bool, String> {
        let found = last(self, |setting| match setting {
            Setting::Compressed(compressed) => Some(compressed),
            _ => None,
        });
        found.map_or(Ok(false), |found| found.get(variables, boolean))
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
        last(self, |setting| match setting {
            Setting::User(user) => Some(user),
            _ => None,
        })
    }

    /// Gives variables their values.
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
    /// Whether what it says is part of the request.
    pub(crate) fn is_of_request(&self) -> bool {
        matches!(
            self.setting,
            Setting::Header(_) | Setting::User(_) | Setting::Compressed(_)
        )
    }

    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match &self.setting {
            Setting::Compressed(given)
            | Setting::WithoutEffect(_, given)
            | Setting::Location(given)
            | Setting::LocationTrusted(given)
            | Setting::Skip(given) => given.expr().into_iter().collect(),
            Setting::Delay(given) | Setting::Repeat(given) => given.expr().into_iter().collect(),
            Setting::MaxRedirs(given) => given.expr().into_iter().collect(),
            Setting::Header(pair) => pair.key.exprs().chain(pair.value.exprs()).collect(),
            Setting::User(user) => user.exprs().collect(),
            Setting::Variable(_, value) => value.exprs(),
        }
    }
}

pub(crate) fn parse(cursor: &mut Cursor<'_>, options: &mut Options) -> Result<(), Fault> {
    loop {
        cursor.blank();
        let place = cursor.place();
        let start = cursor.at();
        let Some(key) = key(cursor)? else {
            return Ok(());
        };
        let name = key.as_static().unwrap_or("");
        let setting = parse_setting(cursor, name, start)?;
        options.lines.push(OptionLine { place, setting });
        cursor.end_of_line()?;
    }
}

fn parse_setting(cursor: &mut Cursor<'_>, name: &str, start: usize) -> Result<Setting, Fault> {
    const SWITCH: &str = "expected true, false or {{a variable}}";
    let setting = match name {
        "compressed" => Setting::Compressed(given(cursor, boolean, SWITCH)?),
        "delay" => Setting::Delay(given(
            cursor,
            delay_ms,
            "expected a delay up to one hour: 500ms, 2s, 1m",
        )?),
        "header" => Setting::Header(header(cursor)?),
        "location" => Setting::Location(given(cursor, boolean, SWITCH)?),
        "location-trusted" => Setting::LocationTrusted(given(cursor, boolean, SWITCH)?),
        "max-redirs" => Setting::MaxRedirs(given(
            cursor,
            redirect_count,
            "expected how many redirects to follow, or -1 for any number",
        )?),
        "repeat" => Setting::Repeat(given(
            cursor,
            repeat_count,
            "expected how often to run this entry",
        )?),
        "skip" => Setting::Skip(given(cursor, boolean, SWITCH)?),
        "user" => Setting::User(Template::parse(cursor, Style::Value)?),
        "variable" => variable(cursor)?,
        _ => match WITHOUT_EFFECT.into_iter().find(|known| *known == name) {
            Some(known) => Setting::WithoutEffect(known, given(cursor, boolean, SWITCH)?),
            None => {
                let why = refusal(WordKind::Option, name);
                let why = why.unwrap_or_else(|| "is not known".to_owned());
                return Err(Fault::new(start, format!("this option {why}")));
            }
        },
    };
    Ok(setting)
}

fn given<T>(
    cursor: &mut Cursor<'_>,
    read: impl Fn(&str) -> Option<T>,
    expected: &str,
) -> Result<Given<T>, Fault> {
    let start = cursor.at();
    if cursor.rest().starts_with("{{") {
        return Expr::parse(cursor).map(Given::Expr);
    }
    let text = cursor.take_while(|c| !c.is_whitespace() && c != '#');
    let value = read(text).ok_or_else(|| Fault::new(start, expected))?;
    Ok(Given::Fixed(value))
}

fn boolean(text: &str) -> Option<bool> {
    text.parse().ok()
}

fn delay_ms(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return None,
    };
    let delay = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    (delay <= DELAY_MS_MAX).then_some(delay)
}

fn repeat_count(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// `Some(None)` is any number.
fn redirect_count(text: &str) -> Option<Option<u64>> {
    match text {
        "-1" => Some(None),
        _ => text.parse().ok().map(Some),
    }
}

fn header(cursor: &mut Cursor<'_>) -> Result<KeyValue, Fault> {
    let place = cursor.place();
    let start = cursor.at();
    match key(cursor)? {
        Some(key) => Ok(KeyValue {
            place,
            key,
            value: Template::parse(cursor, Style::Value)?,
        }),
        None => Err(Fault::new(
            start,
            "expected a header, such as `X-Mode: fast`",
        )),
    }
}

/// `name=value`: a number, true, false, null, a text in quotes, or the rest of the line as text.
fn variable(cursor: &mut Cursor<'_>) -> Result<Setting, Fault> {
    let start = cursor.at();
    let name = cursor.word();
    let is_it = |word: Word| word.kind == WordKind::Function && word.name == name;
    if vocabulary().any(is_it) {
        let message = format!("`{name}` is a function; use another name");
        return Err(Fault::new(start, message));
    }
    if !is_variable_name(name) || !cursor.take("=") {
        return Err(Fault::new(
            start,
            "expected `name=value`, the name of letters, digits, _ and -",
        ));
    }
    let value = if cursor.peek() == Some('"') {
        Operand::Text(quoted(cursor)?)
    } else {
        let text = Template::parse(cursor, Style::Value)?;
        let plain = text.as_static().and_then(number_or_name);
        plain.map_or(Operand::Text(text), Operand::Value)
    };
    Ok(Setting::Variable(name.to_owned(), value))
}

impl fmt::Display for OptionLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.setting {
            Setting::Compressed(given) => write!(f, "compressed: {given}"),
            Setting::Delay(Given::Fixed(delay)) => write!(f, "delay: {delay}ms"),
            Setting::Delay(given) => write!(f, "delay: {given}"),
            Setting::Header(header) => write!(f, "header: {header}"),
            Setting::WithoutEffect(name, given) => write!(f, "{name}: {given}"),
            Setting::Location(given) => write!(f, "location: {given}"),
            Setting::LocationTrusted(given) => write!(f, "location-trusted: {given}"),
            Setting::MaxRedirs(Given::Fixed(None)) => f.write_str("max-redirs: -1"),
            Setting::MaxRedirs(Given::Fixed(Some(most))) => write!(f, "max-redirs: {most}"),
            Setting::MaxRedirs(Given::Expr(expr)) => write!(f, "max-redirs: {expr}"),
            Setting::Repeat(given) => write!(f, "repeat: {given}"),
            Setting::Skip(given) => write!(f, "skip: {given}"),
            Setting::User(user) => write!(f, "user: {}", user.print(Style::Value)),
            Setting::Variable(name, value) => write!(f, "variable: {name}={value}"),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Given<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Fixed(value) => value.fmt(f),
            Given::Expr(expr) => expr.fmt(f),
        }
    }
}
