//! Dates: what `toDate`, `dateFormat`, `newDate` and a cookie's `Expires` speak of.

use std::fmt;
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

    /// Parses a date of a header, such as `Thu, 01 Jan 1970 00:00:00 GMT`, also with dashes.
    pub(crate) fn parse_http(text: &str) -> Option<Date> {
        const MONTHS: [&str; 12] = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
        let (_, date) = text.split_once(',')?;
        let mut parts = date.split([' ', '-']).filter(|part| !part.is_empty());
        let day = parts.next()?.parse().ok()?;
        let month = parts.next()?;
        let month = MONTHS.iter().position(|name| *name == month)? as u32 + 1;
        let year: i32 = parts.next()?.parse().ok()?;
        let mut time = parts.next()?.split(':').map(|part| part.parse().ok());
        let time = NaiveTime::from_hms_opt(time.next()??, time.next()??, time.next()??)?;
        // Two digits mean 1970 to 2069 (RFC 6265, 5.1.1).
        let year = match year {
            0..=69 => year + 2000,
            70..=99 => year + 1900,
            _ => year,
        };
        let day = NaiveDate::from_ymd_opt(year, month, day)?;
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
        let http = Date::parse_http("Wed, 13-Jan-21 22:23:01 GMT").expect("a date");
        assert_eq!(
            http.format("%A %-d %B").as_deref(),
            Some("Wednesday 13 January")
        );
        assert_eq!(http.format("%!"), None);
        assert_eq!(Date::parse_http("Wed, 40 Jan 2021 22:23:01 GMT"), None);
        let later = Date::parse_iso("2021-01-15T22:23:00Z").expect("a date");
        assert_eq!((later.days_after(http), http.days_after(later)), (1, -1));
    }
}
