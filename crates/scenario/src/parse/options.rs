//! From text to options.

use super::key;
use crate::ast::KeyValue;
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::options::{
    COUNTS, Given, NUMBERS, OptionLine, Options, SWITCHES, Setting, TEXTS, TIMES, boolean, count,
    delay_ms, number,
};
use crate::predicate::{Operand, number_or_name};
use crate::template::{Expr, Style, Template, quoted};
use crate::variables::is_variable_name;
use crate::vocabulary::{Word, WordKind, refusal, vocabulary};

pub(super) fn parse(cursor: &mut Cursor<'_>, options: &mut Options) -> Result<(), Fault> {
    loop {
        cursor.blank();
        let place = cursor.place();
        let start = cursor.at();
        let Some(key) = key(cursor)? else {
            return Ok(());
        };
        let name = key.as_static().unwrap_or("");
        let setting = setting(cursor, name, start)?;
        options.lines.push(OptionLine { place, setting });
        cursor.end_of_line()?;
    }
}

fn setting(cursor: &mut Cursor<'_>, name: &str, start: usize) -> Result<Setting, Fault> {
    if let Some(name) = of(&SWITCHES, name) {
        let given = given(cursor, boolean, "expected true, false or {{a variable}}")?;
        return Ok(Setting::Switch(name, given));
    }
    if let Some(name) = of(&TEXTS, name) {
        return Ok(Setting::Text(name, Template::parse(cursor, Style::Value)?));
    }
    if let Some(name) = of(&TIMES, name) {
        const TIME: &str = "expected a time up to one hour: 500ms, 2s, 1m";
        return Ok(Setting::Time(name, given(cursor, delay_ms, TIME)?));
    }
    if let Some(name) = of(&COUNTS, name) {
        const COUNT: &str = "expected how often at most, or -1 for any number";
        return Ok(Setting::Count(name, given(cursor, count, COUNT)?));
    }
    if let Some(name) = of(&NUMBERS, name) {
        return Ok(Setting::Number(
            name,
            given(cursor, number, "expected a number, 0 or more")?,
        ));
    }
    match name {
        "header" => Ok(Setting::Header(header(cursor)?)),
        "variable" => variable(cursor),
        _ => {
            let why = refusal(WordKind::Option, name);
            let why = why.unwrap_or_else(|| "is not known".to_owned());
            Err(Fault::new(start, format!("this option {why}")))
        }
    }
}

/// Returns the name as written in the list.
fn of(names: &[&'static str], name: &str) -> Option<&'static str> {
    names.iter().find(|known| **known == name).copied()
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
