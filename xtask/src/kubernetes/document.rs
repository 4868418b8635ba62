//! Single figures of texts in a known form: the JSON of `hakaru load`, and lines of a word and a
//! number.

/// Returns the number behind the last word, each word searched behind the one before.
pub(super) fn number(text: &str, words: &[&str]) -> Option<f64> {
    let mut rest = text;
    for word in words {
        rest = &rest[rest.find(word)? + word.len()..];
    }
    let rest = rest.trim_start_matches([' ', ':', '"']);
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && !".e-+".contains(letter));
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

/// All numbers behind the word.
pub(super) fn numbers(text: &str, word: &str) -> Vec<f64> {
    let places = text.match_indices(word);
    places
        .filter_map(|(place, _)| number(&text[place..], &[word]))
        .collect()
}

/// All texts in quotes with the given begin.
pub(super) fn quoted(text: &str, begin: &str) -> Vec<String> {
    let words = text.split('"').skip(1).step_by(2);
    words
        .filter(|word| word.starts_with(begin))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_behind_their_words() {
        let text =
            r#"{"requests": 12, "latency_ms": {"p50": 1.5, "p99": 2e1}, "a": {"p99": null}}"#;
        assert_eq!(number(text, &["\"requests\""]), Some(12.0));
        assert_eq!(number(text, &["latency_ms", "\"p99\""]), Some(20.0));
        assert_eq!(number(text, &["\"a\"", "\"p99\""]), None);
        assert_eq!(numbers(text, "\"p99\""), [20.0]);
        assert_eq!(number("p50 1\np99 2.25\n", &["p99"]), Some(2.25));
        assert_eq!(quoted(text, "p9"), ["p99", "p99"]);
    }
}
