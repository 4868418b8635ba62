//! Numbers and texts as findings show them.

/// Titles are at most so long, in characters.
pub(crate) const TITLE_CHARS_MAX: usize = 90;

/// `text` cut to `chars_max` characters, with an ellipsis where something was cut.
pub(crate) fn fit(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// A title within its bound.
pub(crate) fn title(text: &str) -> String {
    fit(text, TITLE_CHARS_MAX)
}

/// Milliseconds with as many digits as mean something, such as `412 ms`, `4.9 ms`, `0.05 ms`.
pub(crate) fn ms(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0} ms"),
        size if size >= 0.995 => format!("{value:.1} ms"),
        _ => format!("{value:.2} ms"),
    }
}

/// A count per request, such as `100` or `5.4`.
pub(crate) fn times(value: f64) -> String {
    if value >= 20.0 || value.fract() < 0.05 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// A share as percent, such as `37 %`.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        value if value != 0.0 && value.abs() < 1.0 => format!("{value:.1} %"),
        value => format!("{value:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_fitting_digits() {
        assert_eq!(ms(412.4), "412 ms");
        assert_eq!(ms(4.94), "4.9 ms");
        assert_eq!(ms(0.0512), "0.05 ms");
        assert_eq!(times(100.0), "100");
        assert_eq!(times(5.42), "5.4");
        assert_eq!(percent(0.374), "37 %");
        assert_eq!(percent(0.002), "0.2 %");
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("abc", 4), "abc");
    }
}
