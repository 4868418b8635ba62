//! Numbers as text, in both directions.

/// Significant digits of a number as text.
const DIGITS: i32 = 15;
/// From here on and below, numbers are written with an exponent, as by libxml2.
const LARGE: f64 = 1e9;
const SMALL: f64 = 1e-5;

/// Returns the length of the number at the start of a text: digits, with a fraction and an
/// exponent.
pub(crate) fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}

/// Reads a number; what is none becomes NaN.
pub(crate) fn parse(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let has_digit = digits.starts_with(|c: char| c.is_ascii_digit())
        || digits
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match has_digit && length(digits) == digits.len() {
        true => text.parse().unwrap_or(f64::NAN),
        false => f64::NAN,
    }
}

/// Writes a number as libxml2 does.
pub(crate) fn write(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        let sign = if number < 0.0 { "-" } else { "" };
        return format!("{sign}Infinity");
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let is_whole = number.fract() == 0.0;
    if is_whole && number.abs() <= f64::from(i32::MAX) {
        return format!("{}", number as i64);
    }
    if number.abs() > LARGE || number.abs() < SMALL {
        return scientific(number);
    }
    let place = number.abs().log10() as i32;
    let decimals = match place {
        1.. => DIGITS - place - 1,
        _ => DIGITS - place,
    };
    trimmed(&format!("{number:.*}", decimals.max(0) as usize)).to_owned()
}

fn scientific(number: f64) -> String {
    let written = format!("{number:.*e}", (DIGITS - 1) as usize);
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}

fn trimmed(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}
