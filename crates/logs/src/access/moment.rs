//! Reads the times of day of logs.

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
/// Seconds since 1970 with more digits are milliseconds.
const SECONDS_DIGITS_MAX: usize = 11;

/// Returns microseconds since 1970 of `10/Oct/2026:13:55:36 +0900`, of RFC 3339, and of seconds or
/// milliseconds since 1970; `None` for anything else.
pub(super) fn micros_since_1970(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let text = text.trim_start_matches('[').trim_end_matches(']');
    if text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return since_1970(text);
    }
    match text.as_bytes().get(2) {
        Some(b'/') => common(text),
        _ => rfc_3339(text),
    }
}

fn since_1970(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole_number: i64 = whole.parse().ok()?;
    match whole.len() > SECONDS_DIGITS_MAX {
        true => whole_number.checked_mul(1_000),
        false => whole_number
            .checked_mul(1_000_000)?
            .checked_add(fraction_micros(fraction)?),
    }
}

/// `10/Oct/2026:13:55:36 +0900`
fn common(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(':')?;
    let mut date = date.split('/');
    let day: i64 = date.next()?.parse().ok()?;
    let month = date.next()?;
    let month = MONTHS.iter().position(|known| *known == month)? as i64 + 1;
    let year: i64 = date.next()?.parse().ok()?;
    let (time, zone) = time.split_once(' ').unwrap_or((time, "+0000"));
    at(Day { year, month, day }, time, zone)
}

/// `2026-10-10T13:55:36.5+09:00`, with a blank instead of the `T` as well.
fn rfc_3339(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', ' '])?;
    let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let zone_at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (time, zone) = time.split_at(zone_at);
    at(Day { year, month, day }, time, zone)
}

struct Day {
    year: i64,
    month: i64,
    day: i64,
}

fn at(day: Day, time: &str, zone: &str) -> Option<i64> {
    let is_date = (1..=12).contains(&day.month) && (1..=31).contains(&day.day);
    if !is_date || !(1970..=9999).contains(&day.year) {
        return None;
    }
    let mut parts = time.trim().split(':');
    let hour: i64 = parts.next()?.parse().ok()?;
    let minute: i64 = parts.next()?.parse().ok()?;
    let (second, fraction) = parts
        .next()?
        .split_once('.')
        .unwrap_or_else(|| (time.rsplit(':').next().unwrap_or_default(), ""));
    let second: i64 = second.trim().parse().ok()?;
    if !(0..24).contains(&hour) || !(0..60).contains(&minute) || !(0..=60).contains(&second) {
        return None;
    }
    let seconds = days(&day) * 86_400 + hour * 3_600 + minute * 60 + second - offset_s(zone)?;
    Some(seconds * 1_000_000 + fraction_micros(fraction.trim())?)
}

/// Returns the days since 1970 in the Gregorian calendar; a year is counted from March, so leap
/// days come last.
fn days(day: &Day) -> i64 {
    let year = day.year - i64::from(day.month <= 2);
    let month = (day.month + 9) % 12;
    let of_years = year * 365 + year / 4 - year / 100 + year / 400;
    // 719468 days lie between 1 March of year 0 and 1970.
    of_years + (month * 153 + 2) / 5 + day.day - 1 - 719_468
}

/// Seconds east of UTC of `+0900`, `+09:00`, `Z` and nothing.
fn offset_s(zone: &str) -> Option<i64> {
    if matches!(zone, "" | "Z" | "z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let number: i64 = digits.parse().ok()?;
    match digits.len() {
        4 => Some(sign * (number / 100 * 3_600 + number % 100 * 60)),
        2 => Some(sign * number * 3_600),
        _ => None,
    }
}

fn fraction_micros(digits: &str) -> Option<i64> {
    let mut sum = 0;
    for place in 0..6 {
        let digit = digits.as_bytes().get(place).copied().unwrap_or(b'0');
        if !digit.is_ascii_digit() {
            return None;
        }
        sum = sum * 10 + i64::from(digit - b'0');
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_of_all_forms_mean_the_same_moment() {
        // 2026-10-10 04:55:36 UTC.
        let moment = Some(1_791_608_136_000_000);
        for text in [
            "10/Oct/2026:13:55:36 +0900",
            "[10/Oct/2026:13:55:36 +0900]",
            "2026-10-10T13:55:36+09:00",
            "2026-10-10T04:55:36Z",
            "2026-10-10 04:55:36",
            "1791608136",
            "1791608136.000",
            "1791608136000",
        ] {
            assert_eq!(micros_since_1970(text.as_bytes()), moment, "{text}");
        }
        let half = micros_since_1970(b"2026-10-10T04:55:36.5Z");
        assert_eq!(half, moment.map(|moment| moment + 500_000));
        for text in [
            "",
            "-",
            "yesterday",
            "10/Oct/2026",
            "32/Oct/2026:1:1:1 +0000",
        ] {
            assert_eq!(micros_since_1970(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[0-9/:TZ +.OctJan\\-\\[\\]]{0,40}", any in "\\PC{0,20}") {
            micros_since_1970(text.as_bytes());
            micros_since_1970(any.as_bytes());
        }

        #[test]
        fn days_follow_each_other(seconds in 0i64..200_000_000_000) {
            // What is written by the same calendar is read back.
            let text = format!("{seconds}");
            let read = micros_since_1970(text.as_bytes());
            let expected = if text.len() > SECONDS_DIGITS_MAX { seconds * 1_000 } else { seconds * 1_000_000 };
            prop_assert_eq!(read, Some(expected));
        }
    }
}
