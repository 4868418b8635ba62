//! Values that people type.

use std::time::Duration;

use figures::duration::{self, Unit};

/// Reads `500ms`, `20s`, `2m`, `1h`; a bare number is seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    duration::nanos(text, Unit::Milliseconds..=Unit::Days, Some(Unit::Seconds))
        .and_then(|nanos| Duration::try_from_secs_f64(nanos / 1e9).ok())
        .ok_or_else(|| format!("`{text}` is not a duration; use for example 500ms, 20s, 2m or 1h"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_unit() {
        let check = |text: &str, seconds: Option<f64>| {
            assert_eq!(
                parse_duration(text).ok(),
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
        check("", None);
        check("s", None);
        check("-1s", None);
        check("3 days", None);
    }
}
