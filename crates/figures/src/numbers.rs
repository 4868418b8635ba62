//! Every number people read, written in one way.
//! Each result but [`counted`] is at most nine columns wide.

/// Shown where there is no value.
pub const UNKNOWN: &str = "–";

/// A count: `8,412`, from ten million on `12.3 M`.
pub fn count(value: u64) -> String {
    if value < 10_000_000 {
        return grouped(value);
    }
    scaled(value as f64, 1000.0, &[" k", " M", " G", " T", " P", " E"])
}

/// A count with a noun as a text: `counted!(errors, "error")`.
#[macro_export]
macro_rules! counted {
    ($count:expr, $noun:literal) => {{
        let count = $count;
        words::counted!(count, $crate::numbers::count(count), $noun)
    }};
}

/// A count with a noun: `1 error`, `2,400 errors`.
pub fn counted(value: u64, noun: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(value))
}

/// A length of time given in milliseconds: `0.42 ms`, `52.1 ms`, `412 ms`, `1.24 s`, `20.0 min`,
/// `3.1 h`.
pub fn duration_ms(ms: f64) -> String {
    const SECOND: f64 = 1000.0;
    const MINUTE: f64 = 60.0 * SECOND;
    const HOUR: f64 = 60.0 * MINUTE;
    let size = ms.abs();
    if !ms.is_finite() {
        UNKNOWN.to_owned()
    } else if size < 0.000_5 {
        "0 ms".to_owned()
    } else if size < 0.1 {
        format!("{} µs", significant(ms * 1000.0))
    } else if size < 999.5 {
        format!("{} ms", significant(ms))
    } else if size < 2.0 * MINUTE {
        format!("{} s", significant(ms / SECOND))
    } else if size < 2.0 * HOUR {
        format!("{} min", significant(ms / MINUTE))
    } else if size < 9999.0 * HOUR {
        format!("{} h", significant(ms / HOUR))
    } else {
        ">9999 h".to_owned()
    }
}

/// A length of time given in nanoseconds: `43.2 ns`, then as [`duration_ms`].
pub fn duration_ns(ns: f64) -> String {
    match ns.abs() {
        size if size < 999.5 => format!("{} ns", significant(ns)),
        size if size < 99_950.0 => format!("{} µs", significant(ns / 1000.0)),
        _ => duration_ms(ns / 1e6),
    }
}

/// A length of time, or a word for an unknown one.
pub fn duration_ms_or_unknown(ms: Option<f64>) -> String {
    ms.map_or_else(|| UNKNOWN.to_owned(), duration_ms)
}

/// A share of one as per cent: `71%`, `0.4%`, `<0.1%`.
pub fn share(part: f64) -> String {
    let percent = part * 100.0;
    let size = percent.abs();
    if !percent.is_finite() {
        UNKNOWN.to_owned()
    } else if size == 0.0 {
        "0%".to_owned()
    } else if size < 0.05 {
        "<0.1%".to_owned()
    } else if size < 0.95 {
        format!("{percent:.1}%")
    } else if size < 99_999.0 {
        format!("{percent:.0}%")
    } else {
        ">99999%".to_owned()
    }
}

/// A plain number with three significant digits, such as a rate: `421`, `0.52`, `12.3 k`.
pub fn plain(value: f64) -> String {
    if !value.is_finite() {
        UNKNOWN.to_owned()
    } else if value.abs() < 9999.5 {
        significant(value)
    } else {
        scaled(value, 1000.0, &[" k", " M", " G", " T", " P", " E"])
    }
}

/// Bytes, in units of 1024: `812 B`, `1.2 MiB`.
pub fn bytes(value: u64) -> String {
    match value {
        0..1024 => format!("{value} B"),
        _ => scaled(
            value as f64,
            1024.0,
            &[" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"],
        ),
    }
}

/// Ascending numbers as ranges: `1–4, 7`.
pub fn ranges(numbers: &[i64]) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let written = ranges.into_iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}–{last}"),
    });
    written.collect::<Vec<String>>().join(", ")
}

/// Three significant digits, never an exponent; two decimals at most.
fn significant(value: f64) -> String {
    let size = value.abs();
    if size < 9.995 {
        format!("{value:.2}")
    } else if size < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let mut scaled = value / step;
    let mut units = units.iter().peekable();
    while let Some(unit) = units.next() {
        // 999.5 would be rounded to four digits.
        if scaled.abs() < 999.5 {
            return format!("{}{unit}", significant(scaled));
        }
        if units.peek().is_some() {
            scaled /= step;
        }
    }
    "huge".to_owned()
}

fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts() {
        let check = |value, expected: &str| assert_eq!(count(value), expected);
        check(0, "0");
        check(999, "999");
        check(8_412, "8,412");
        check(9_999_999, "9,999,999");
        check(12_345_678, "12.3 M");
        check(999_600_000, "1.00 G");
        check(u64::MAX, "18.4 E");
        assert_eq!(counted(0, "error"), "0 errors");
        assert_eq!(counted(1, "failed check"), "1 failed check");
        assert_eq!(counted(2_400, "error"), "2,400 errors");
    }

    #[test]
    fn neighbours_are_one_range() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1–3, 7, 9–10");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn durations() {
        let check = |ms, expected: &str| assert_eq!(duration_ms(ms), expected);
        check(0.0, "0 ms");
        check(0.000_9, "0.90 µs");
        check(0.042, "42.0 µs");
        check(0.42, "0.42 ms");
        check(52.13, "52.1 ms");
        check(412.3, "412 ms");
        check(999.9, "1.00 s");
        check(1_240.0, "1.24 s");
        check(20.0 * 60_000.0, "20.0 min");
        check(-3.2, "-3.20 ms");
        check(1e30, ">9999 h");
        check(f64::NAN, "–");
        assert_eq!(duration_ms_or_unknown(None), "–");
        assert_eq!(duration_ns(43.2), "43.2 ns");
        assert_eq!(duration_ns(999.7), "1.00 µs");
        assert_eq!(duration_ns(1_500_000.0), "1.50 ms");
        assert_eq!(duration_ns(f64::NAN), "–");
    }

    #[test]
    fn shares() {
        let check = |part, expected: &str| assert_eq!(share(part), expected);
        check(0.0, "0%");
        check(0.000_1, "<0.1%");
        check(0.004, "0.4%");
        check(0.714, "71%");
        check(1.0, "100%");
        check(-0.02, "-2%");
        check(f64::INFINITY, "–");
    }

    #[test]
    fn plain_numbers_and_bytes() {
        assert_eq!(plain(0.524), "0.52");
        assert_eq!(plain(421.4), "421");
        assert_eq!(plain(1240.0), "1240");
        assert_eq!(plain(12_340.0), "12.3 k");
        assert_eq!(plain(1e300), "huge");
        assert_eq!(bytes(812), "812 B");
        assert_eq!(bytes(1_258_291), "1.20 MiB");
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_its_column(value in any::<f64>(), whole in any::<u64>()) {
            let texts = [
                count(whole), bytes(whole), duration_ms(value), duration_ns(value), share(value), plain(value),
                duration_ms(whole as f64), plain(whole as f64),
            ];
            for text in texts {
                prop_assert!(text.chars().count() <= 9, "{}", text);
            }
        }
    }
}
