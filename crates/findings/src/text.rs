//! Numbers and texts as shown in findings.

use figures::numbers;
use words::{Text, text};

/// Titles are at most so long, in columns.
pub(crate) const TITLE_CHARS_MAX: usize = 160;

/// Frames of a source line shown as evidence: more would be a backtrace, and not read.
const FRAMES_SHOWN: usize = 2;

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

/// Returns a title cut to the maximum length.
pub(crate) fn title(text: Text) -> Text {
    text.fitted(TITLE_CHARS_MAX)
}

/// Milliseconds, as everywhere: `412 ms`, `4.90 ms`, `50.0 µs`.
pub(crate) fn ms(value: f64) -> String {
    numbers::duration_ms(value)
}

/// A count per request, such as `100` or `5.4`.
pub(crate) fn times(value: f64) -> String {
    if value >= 20.0 || value.fract() < 0.05 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// A share, as everywhere: `37%`.
pub(crate) fn percent(share: f64) -> String {
    numbers::share(share)
}

/// A source line for a title: file and line of the innermost frame.
pub(crate) fn place(site: Option<&str>) -> Text {
    match site {
        None | Some("") => text!("an unknown source line"),
        Some(site) => breakdown::line_of(site).into(),
    }
}

/// Evidence of where a statement is issued: the innermost frame and the caller.
pub(crate) fn called_from(site: &str) -> Text {
    text!(
        "called from {site}",
        site = breakdown::frames_of(site, FRAMES_SHOWN)
    )
}

/// The file of a source line such as `app/models/order.rb:12`.
pub(crate) fn file_of(line: &str) -> Option<&str> {
    line.rsplit_once(':').map(|(file, _)| file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit() {
        assert_eq!(times(100.0), "100");
        assert_eq!(times(5.42), "5.4");
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("abc", 4), "abc");
    }

    #[test]
    fn places_name_the_innermost_frames() {
        let site = "app.rb:5 in a < app.rb:7 in b < app.rb:9";
        assert_eq!(place(Some(site)).to_string(), "app.rb:5");
        assert_eq!(place(None).to_string(), "an unknown source line");
        assert_eq!(
            called_from(site).to_string(),
            "called from app.rb:5 in a < app.rb:7 in b"
        );
    }
}
