//! The language of comments: `docs/style.md` has the rules in words.
//!
//! Both limits stand a little above what was counted, and may only fall.

use super::File;

/// Characters of a comment's line, as rustfmt allows code.
const COLUMNS_MAX: usize = 100;
/// Lines of comments above [`COLUMNS_MAX`]. The aim is none.
const LONG_MAX: usize = 18;
/// Percent of doc comments whose first sentence has a pronoun of [`PRONOUNS`].
const LEANING_PERCENT_MAX: usize = 8;
/// Words for a thing named somewhere else.
const PRONOUNS: [&str; 9] = [
    "it", "its", "they", "them", "their", "that", "this", "these", "those",
];

/// What is wrong with the comments of all Rust files together.
pub(super) fn unclear(files: &[File]) -> Vec<String> {
    let rust = || {
        let is_rust = |file: &&File| file.path.ends_with(".rs");
        files.iter().filter(is_rust)
    };
    let mut wrong = Vec::new();
    let long: usize = rust().map(|file| long_comments(&file.text)).sum();
    if long > LONG_MAX {
        wrong.push(format!(
            "{long} lines of comments have more than {COLUMNS_MAX} characters, at most {LONG_MAX}; wrap those you wrote"
        ));
    }
    let firsts: Vec<String> = rust()
        .flat_map(|file| first_sentences(&file.text))
        .collect();
    let leaning = firsts.iter().filter(|first| leans(first)).count();
    if leaning * 100 > firsts.len() * LEANING_PERCENT_MAX {
        wrong.push(format!(
            "{leaning} of {} doc comments lean on it, they or that in their first sentence, at most \
             {LEANING_PERCENT_MAX} %; name the thing (docs/style.md)",
            firsts.len()
        ));
    }
    wrong
}

/// Returns the text of a line with nothing but a comment.
fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//")
}

fn long_comments(text: &str) -> usize {
    let comments = text.lines().filter(|line| comment(line).is_some());
    comments
        .filter(|line| line.chars().count() > COLUMNS_MAX)
        .count()
}

/// Returns the first sentence of each doc comment.
fn first_sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut lines = text.lines().map(doc).peekable();
    while let Some(line) = lines.next() {
        let Some(line) = line else { continue };
        let mut comment = line.to_owned();
        while let Some(Some(more)) = lines.peek() {
            comment.push(' ');
            comment.push_str(more.trim());
            lines.next();
        }
        let first = comment.split(". ").next().unwrap_or_default();
        sentences.push(first.trim().to_owned());
    }
    sentences
}

fn doc(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///")
        .or_else(|| line.strip_prefix("//!"))
}

fn leans(sentence: &str) -> bool {
    let words = sentence.split(|c: char| !c.is_alphanumeric());
    words
        .map(str::to_lowercase)
        .any(|word| PRONOUNS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sentences_end_at_their_full_stop() {
        let text = "/// One thing\n/// of two. It is left.\nfn a() {}\n    /// Its end.\n";
        assert_eq!(first_sentences(text), ["One thing of two", "Its end."]);
        assert_eq!(
            first_sentences(text)
                .iter()
                .map(|s| leans(s))
                .collect::<Vec<_>>(),
            [false, true]
        );
        assert!(!leans("Items of a list"));
    }

    #[test]
    fn wide_comments_are_counted_and_wide_code_is_not() {
        let wide = "x".repeat(COLUMNS_MAX);
        assert_eq!(
            long_comments(&format!("// {wide}\n{wide}{wide}\n// short")),
            1
        );
    }
}
