//! Values that people type.

use std::time::Duration;

/// Reads `500ms`, `20s`, `2m`, `1h`; a bare number is seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds_a_unit = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => {
            return Err(format!(
                "`{text}` is not a duration; use for example 500ms, 20s, 2m or 1h"
            ));
        }
    };
    number
        .parse::<f64>()
        .ok()
        .and_then(|number| Duration::try_from_secs_f64(number * seconds_a_unit).ok())
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
