//! The `[Options]` of a request. A new one is one arm of [`parse`] and one line of [`print`].

use crate::ast::Options;
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::parse::key;
use crate::template::Template;

/// A think time longer than this is a slip of the pen.
const DELAY_MS_MAX: u64 = 3_600_000;

pub(crate) fn parse(cursor: &mut Cursor<'_>, options: &mut Options) -> Result<(), Fault> {
    loop {
        cursor.blank();
        let start = cursor.at();
        let Some(key) = key(cursor)? else {
            return Ok(());
        };
        match key.as_static() {
            Some("delay") => options.delay_ms = Some(duration_ms(cursor)?),
            Some("repeat") => options.repeat = Some(count(cursor)?),
            _ => {
                return Err(Fault::new(
                    start,
                    "this option is not run; known are `delay` and `repeat`",
                ));
            }
        }
        cursor.end_of_line()?;
    }
}

/// Lines of the section, without its head.
pub(crate) fn print(options: &Options) -> Vec<String> {
    let delay = options.delay_ms.map(|delay| format!("delay: {delay}ms"));
    let repeat = options.repeat.map(|repeat| format!("repeat: {repeat}"));
    delay.into_iter().chain(repeat).collect()
}

fn duration_ms(cursor: &mut Cursor<'_>) -> Result<u64, Fault> {
    let start = cursor.at();
    refuse_template(cursor)?;
    let number = cursor.take_while(|c| c.is_ascii_digit()).parse::<u64>();
    let unit = match cursor.word() {
        "" | "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        _ => None,
    };
    number
        .ok()
        .zip(unit)
        .and_then(|(number, unit)| number.checked_mul(unit))
        .filter(|delay| *delay <= DELAY_MS_MAX)
        .ok_or_else(|| Fault::new(start, "expected a delay up to one hour: 500ms, 2s, 1m"))
}

fn count(cursor: &mut Cursor<'_>) -> Result<u32, Fault> {
    let start = cursor.at();
    refuse_template(cursor)?;
    let number = cursor.take_while(|c| c.is_ascii_digit()).parse();
    number
        .ok()
        .filter(|number| *number >= 1)
        .ok_or_else(|| Fault::new(start, "expected how often to run this entry, 1 or more"))
}

fn refuse_template(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    let start = cursor.at();
    if Template::parse(cursor, crate::template::Style::Value)?
        .as_static()
        .is_none()
    {
        return Err(Fault::new(start, "a template is not run in an option"));
    }
    cursor.back_to(start);
    Ok(())
}
