//! Durations as typed by people: a number and a unit, such as `500ms`, `1.5s` or `2m`, and several
//! of them, such as `1h30m`.

use std::ops::RangeInclusive;
use std::time::Duration;

/// A unit of time, from the shortest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// `us` or `µs`.
    Microseconds,
    /// `ms`.
    Milliseconds,
    /// `s`.
    Seconds,
    /// `m` or `min`.
    Minutes,
    /// `h`.
    Hours,
    /// `d`.
    Days,
}

impl Unit {
    fn of(text: &str) -> Option<Unit> {
        Some(match text {
            "us" | "µs" => Unit::Microseconds,
            "ms" => Unit::Milliseconds,
            "s" => Unit::Seconds,
            "m" | "min" => Unit::Minutes,
            "h" => Unit::Hours,
            "d" => Unit::Days,
            _ => return None,
        })
    }

    fn nanos(self) -> f64 {
        match self {
            Unit::Microseconds => 1e3,
            Unit::Milliseconds => 1e6,
            Unit::Seconds => 1e9,
            Unit::Minutes => 60e9,
            Unit::Hours => 3_600e9,
            Unit::Days => 86_400e9,
        }
    }
}

/// Returns the nanoseconds of a duration in one of the `units`, not negative and finite; `None` for
/// any other text. A number without a unit has the unit `bare`, where that is given; otherwise it
/// could be taken for another.
pub fn nanos(text: &str, units: RangeInclusive<Unit>, bare: Option<Unit>) -> Option<f64> {
    let text = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let split = text.find(|c: char| !is_number(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = match unit.trim() {
        "" => bare?,
        unit => Unit::of(unit).filter(|unit| units.contains(unit))?,
    };
    let nanos = number.parse::<f64>().ok()? * unit.nanos();
    nanos.is_finite().then_some(nanos)
}

/// Reads `500ms`, `20s`, `2m`, `1h`, `1h30m`; a bare number is seconds. Of several parts, each has
/// a unit shorter than the one before.
///
/// # Errors
/// Any other text; the message has examples.
pub fn parse(text: &str) -> Result<Duration, String> {
    let units = Unit::Milliseconds..=Unit::Days;
    nanos(text, units.clone(), Some(Unit::Seconds))
        .or_else(|| sum_of_parts(text, units))
        .and_then(|nanos| Duration::try_from_secs_f64(nanos / 1e9).ok())
        .ok_or_else(|| {
            format!("`{text}` is not a duration; use for example 500ms, 20s, 2m, 1h or 1h30m")
        })
}

/// Returns the nanoseconds of parts such as `1h30m`, from the longest unit to the shortest.
fn sum_of_parts(text: &str, units: RangeInclusive<Unit>) -> Option<f64> {
    let mut rest = text.trim();
    let (mut sum, mut longer) = (0.0, None);
    while !rest.is_empty() {
        let unit_at = rest.find(char::is_alphabetic)?;
        let unit = &rest[unit_at..];
        let end = unit_at
            + unit
                .find(|c: char| !c.is_alphabetic())
                .unwrap_or(unit.len());
        let (part, behind) = rest.split_at(end);
        let unit = Unit::of(&part[unit_at..])?;
        if longer.is_some_and(|longer| longer <= unit) {
            return None;
        }
        sum += nanos(part, units.clone(), None)?;
        (rest, longer) = (behind.trim_start(), Some(unit));
    }
    longer.map(|_| sum)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: RangeInclusive<Unit> = Unit::Microseconds..=Unit::Days;

    #[test]
    fn durations_are_read_with_their_unit() {
        let check = |text: &str, expected: Option<f64>| {
            assert_eq!(nanos(text, ALL, None), expected, "{text}");
        };
        check("250us", Some(250e3));
        check("250µs", Some(250e3));
        check("500ms", Some(500e6));
        check("1.5 s", Some(1.5e9));
        check("2m", Some(120e9));
        check("2min", Some(120e9));
        check(" 1h ", Some(3_600e9));
        check("30d", Some(2_592_000e9));
        for wrong in [
            "", "20", "s", ".s", "-1s", "1.2.3s", "3 days", "1e3s", "infs",
        ] {
            check(wrong, None);
        }
        assert_eq!(nanos("20", ALL, Some(Unit::Seconds)), Some(20e9));
        assert_eq!(nanos("", ALL, Some(Unit::Seconds)), None);
        let short = Unit::Microseconds..=Unit::Seconds;
        assert_eq!(nanos("5s", short.clone(), None), Some(5e9));
        assert_eq!(nanos("5min", short, None), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_or_a_negative_length(text in "\\PC*") {
            let read = nanos(&text, ALL, Some(Unit::Seconds));
            prop_assert!(read.is_none_or(|nanos| nanos >= 0.0));
            let parts = sum_of_parts(&text, ALL);
            prop_assert!(parts.is_none_or(|nanos| nanos >= 0.0));
        }
    }

    #[test]
    fn a_flag_without_a_unit_is_seconds() {
        let check = |text: &str, seconds: Option<f64>| {
            assert_eq!(
                parse(text).ok(),
                seconds.map(Duration::from_secs_f64),
                "{text}"
            );
        };
        check("20s", Some(20.0));
        check("20", Some(20.0));
        check("1.5m", Some(90.0));
        check("500ms", Some(0.5));
        check("2h", Some(7200.0));
        check("30d", Some(2_592_000.0));
        check("4m30s", Some(270.0));
        check("1h 30m", Some(5400.0));
        check("1d2h3m4s5ms", Some(93_784.005));
        for wrong in ["30s4m", "1m1m", "4m30", "1h-30m", "4m30x", "µs1s"] {
            check(wrong, None);
        }
        check("", None);
        check("s", None);
        check("-1s", None);
        check("3 days", None);
    }
}
