//! Dates: what `toDate`, `dateFormat`, `newDate` and a cookie's `Expires` speak of.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::SystemTime;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, Utc};

/// An instant of the calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(DateTime<Utc>);

impl Date {
    /// The host's wall clock.
    pub(crate) fn now() -> Date {
        Date(SystemTime::now().into())
    }

    /// Reads `text` as `spec` (strftime's letters) says. Without a zone UTC is meant, without a
    /// time midnight.
    pub(crate) fn parse(text: &str, spec: &str) -> Option<Date> {
        if let Ok(date) = DateTime::parse_from_str(text, spec) {
            return Some(Date(date.with_timezone(&Utc)));
        }
        if let Ok(date) = NaiveDateTime::parse_from_str(text, spec) {
            return Some(Date(date.and_utc()));
        }
        let day = NaiveDate::parse_from_str(text, spec).ok()?;
        Some(Date(day.and_time(NaiveTime::MIN).and_utc()))
    }

    /// Parses a date of RFC 3339, the kind of ISO 8601 used on the web.
    pub(crate) fn parse_iso(text: &str) -> Option<Date> {
        let date = DateTime::parse_from_rfc3339(text).ok()?;
        Some(Date(date.with_timezone(&Utc)))
    }

    /// Parses a date of a header in any of the forms of HTTP, as leniently as browsers do (RFC
    /// 6265bis, 5.1.1): the first time, day, month and year, in whatever order.
    pub(crate) fn parse_http(text: &[u8]) -> Option<Date> {
        let (mut time, mut day, mut month, mut year) = (None, None, None, None);
        for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
            if time.is_none() && clock(token).is_some() {
                time = clock(token);
            } else if day.is_none() && number(token, 1..=2).is_some() {
                day = number(token, 1..=2);
            } else if month.is_none() && month_of(token).is_some() {
                month = month_of(token);
            } else if year.is_none() {
                year = number(token, 2..=4);
            }
        }
        let [hour, minute, second] = time?;
        let year = match year? {
            year @ 0..=69 => year + 2000,
            year @ 70..=99 => year + 1900,
            year => year,
        };
        const YEAR_MIN: u32 = 1601;
        let day =
            (year >= YEAR_MIN).then(|| NaiveDate::from_ymd_opt(year as i32, month?, day?))??;
        let time = NaiveTime::from_hms_opt(hour, minute, second)?;
        Some(Date(day.and_time(time).and_utc()))
    }

    /// As `spec` (strftime's letters) says; nothing when the letters mean nothing.
    pub(crate) fn format(&self, spec: &str) -> Option<String> {
        use fmt::Write;
        let mut text = String::new();
        // An unknown letter is an error of the formatting, which `to_string` would panic on.
        write!(text, "{}", self.0.format(spec)).ok()?;
        Some(text)
    }

    /// Returns the whole days from `other` to `self`; negative when earlier.
    pub(crate) fn days_after(self, other: Date) -> i64 {
        (self.0 - other.0).num_days()
    }

    /// Seconds since 1970.
    pub(crate) fn unix_seconds(self) -> i64 {
        self.0.timestamp()
    }
}

fn is_delimiter(byte: &u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

/// The number at the begin of a token, of so many digits.
fn number(token: &[u8], digits: RangeInclusive<usize>) -> Option<u32> {
    let count = token
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let text = std::str::from_utf8(&token[..count]).ok()?;
    digits.contains(&count).then(|| text.parse().ok())?
}

/// Hour, minute and second at the begin of a token.
fn clock(token: &[u8]) -> Option<[u32; 3]> {
    let mut parts = token.splitn(3, |byte| *byte == b':');
    let mut whole = || {
        let part = parts.next()?;
        part.iter()
            .all(u8::is_ascii_digit)
            .then(|| number(part, 1..=2))?
    };
    let (hour, minute) = (whole()?, whole()?);
    Some([hour, minute, number(parts.next()?, 1..=2)?])
}

/// The number of a month, by the first three letters.
fn month_of(token: &[u8]) -> Option<u32> {
    const MONTHS: [&[u8]; 12] = [
        b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov",
        b"dec",
    ];
    let name = token.get(..3)?.to_ascii_lowercase();
    let index = MONTHS.iter().position(|month| *month == name)?;
    Some(index as u32 + 1)
}

/// RFC 3339, to the microsecond.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Micros, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written() {
        let shown = |date: Option<Date>| date.map(|date| date.to_string()).unwrap_or_default();
        for (text, spec, expected) in [
            (
                "2023-01-23T18:25:43.511Z",
                "%+",
                "2023-01-23T18:25:43.511000Z",
            ),
            (
                "2023-01-23 18:25:43 +0200",
                "%Y-%m-%d %H:%M:%S %z",
                "2023-01-23T16:25:43.000000Z",
            ),
            (
                "Wed, 13 Jan 2021 22:23:01 GMT",
                "%a, %d %b %Y %H:%M:%S GMT",
                "2021-01-13T22:23:01.000000Z",
            ),
            ("2021-01-13", "%Y-%m-%d", "2021-01-13T00:00:00.000000Z"),
            ("soon", "%Y-%m-%d", ""),
        ] {
            assert_eq!(shown(Date::parse(text, spec)), expected, "{text} {spec}");
        }
        let http = Date::parse_http(b"Wed, 13-Jan-21 22:23:01 GMT").expect("a date");
        assert_eq!(
            http.format("%A %-d %B").as_deref(),
            Some("Wednesday 13 January")
        );
        assert_eq!(http.format("%!"), None);
        assert_eq!(Date::parse_http(b"Wed, 40 Jan 2021 22:23:01 GMT"), None);
        let later = Date::parse_iso("2021-01-15T22:23:00Z").expect("a date");
        assert_eq!((later.days_after(http), http.days_after(later)), (1, -1));
    }
}
