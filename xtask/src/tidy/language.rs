//! The language of comments: `docs/style.md` has the rules in words.
//!
//! Both limits are a little above the counts, and may only fall.

use super::File;

/// Characters of a comment's line, as rustfmt allows code.
const COLUMNS_MAX: usize = 100;
/// Lines of comments above [`COLUMNS_MAX`].
const LONG_MAX: usize = 0;
/// Percent of doc comments whose first sentence has a pronoun of [`PRONOUNS`].
const LEANING_PERCENT_MAX: usize = 2;
/// Words for a thing named somewhere else.
const PRONOUNS: [&str; 9] = [
    "it", "its", "they", "them", "their", "that", "this", "these", "those",
];

/// Words banned from doc comments, each with the words to use instead.
const BANNED: [(&str, &str); 8] = [
    ("told", "reported, recorded"),
    ("tells", "reports, records"),
    ("anew", "again, or a verb such as recreated"),
    ("made again", "recreated, repeated"),
    ("noted down", "recorded, traced"),
    ("by weighing", "by judgement"),
    ("hand-out", "dispatch"),
    ("dear", "expensive"),
];

/// Returns the faults in the comments of all Rust files together.
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
    wrong.extend(rust().flat_map(banned));
    wrong
}

/// Returns a fault for each banned word in a doc comment.
fn banned(file: &File) -> Vec<String> {
    let mut wrong = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let Some(prose) = doc(line).map(prose) else {
            continue;
        };
        for (word, instead) in BANNED {
            if prose.contains(&format!(" {word} ")) {
                wrong.push(format!(
                    "{}:{}: {word:?} in a doc comment; write {instead} (docs/style.md)",
                    file.path,
                    index + 1
                ));
            }
        }
    }
    wrong
}

/// Returns the words of a line outside of backticks, in lower case, with a space around each.
fn prose(line: &str) -> String {
    let outside = line.split('`').step_by(2).collect::<Vec<_>>().join(" ` ");
    let mut words = String::from(" ");
    for word in outside.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '`'))) {
        if !word.is_empty() {
            words.push_str(&word.to_lowercase());
            words.push(' ');
        }
    }
    words
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
    fn banned_words_are_named_with_their_line_and_the_word_to_use() {
        let file = |text: &str| File {
            path: "a.rs".to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(
            banned(&file(
                "fn a() {}\n    /// Told by `told`, made\n//! again: Made again."
            )),
            [
                "a.rs:2: \"told\" in a doc comment; write reported, recorded (docs/style.md)",
                "a.rs:3: \"made again\" in a doc comment; write recreated, repeated (docs/style.md)",
            ]
        );
        let allowed = "/// `told`, retold, hand `x` out, made `x` again\n// told\nlet told = 1;";
        assert_eq!(banned(&file(allowed)), [""; 0]);
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
