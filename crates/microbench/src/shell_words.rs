//! A command line as words, split like in a shell without expansions.

/// Splits at blanks outside of quotes; a backslash keeps the next character. An open quote ends
/// with the text.
pub fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(letter),
            (Some(_), '\\') => {
                // Between double quotes only these lose their backslash.
                let next = letters.next();
                let is_escaped = next.is_none_or(|next| "\\\"$`\n".contains(next));
                let word = word.get_or_insert_default();
                word.extend((!is_escaped).then_some('\\'));
                word.extend(next);
            }
            (None, '\\') => word.get_or_insert_default().extend(letters.next()),
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Joins words into a line split by a shell into the same words.
pub fn join(words: &[String]) -> String {
    let each = words.iter().map(|word| quoted(word));
    each.collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let check = |text: &str, expected: &[&str]| assert_eq!(split(text), expected, "{text}");
        check("", &[]);
        check("  a  b ", &["a", "b"]);
        check("'a b' \"c \\\" d\" e\\ f", &["a b", "c \" d", "e f"]);
        check("'' a''b", &["", "ab"]);
        check("-e \"puts %Q[a\\nb]\"\n", &["-e", "puts %Q[a\\nb]"]);
    }

    proptest::proptest! {
        #[test]
        fn what_is_joined_is_split_again(words in proptest::collection::vec("[ -~]{0,8}", 0..5)) {
            proptest::prop_assert_eq!(split(&join(&words)), words);
        }
    }
}
