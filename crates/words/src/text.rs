//! Texts, and writing texts out in a language.

use std::borrow::Cow;
use std::fmt;

use crate::{Language, japanese};

/// A text for people. Its `Display` is English.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Text without a translation: a name, a number, a statement.
    Verbatim(Cow<'static, str>),
    /// A name from a recording.
    Name(String),
    /// A sentence, by English template.
    Sentence {
        template: &'static str,
        arguments: Vec<(&'static str, Text)>,
    },
    /// Several texts, with the second field between each two.
    List(Vec<Text>, Box<Text>),
    /// A text cut to a number of columns; wide characters take two.
    Fitted(Box<Text>, usize),
}

/// A sentence without arguments, for tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase(&'static str);

impl Phrase {
    /// Makes a phrase of an English text.
    pub const fn new(english: &'static str) -> Phrase {
        Phrase(english)
    }

    /// Returns the English of the phrase.
    pub fn english(self) -> &'static str {
        self.0
    }

    /// In a language.
    pub fn written_in(self, language: Language) -> String {
        Text::from(self).written_in(language)
    }
}

impl Text {
    /// Returns a template with arguments; [`crate::text!`] checks the match.
    pub fn of(template: &'static str, arguments: Vec<(&'static str, Text)>) -> Text {
        Text(Kind::Sentence {
            template,
            arguments,
        })
    }

    /// A name or a sentence in the English of a recording, such as `a Mutex`; English without an
    /// entry in the catalogue stays unchanged. Where the catalogue of names has braces, such as in
    /// `process {pid}`, anything may stand.
    pub fn named(english: &str) -> Text {
        Text(Kind::Name(english.to_owned()))
    }

    /// Joins several texts, with `between` between each two.
    pub fn list(texts: impl IntoIterator<Item = Text>, between: Text) -> Text {
        Text(Kind::List(texts.into_iter().collect(), Box::new(between)))
    }

    /// Returns the text, cut with an ellipsis when longer than `columns`.
    pub fn fitted(self, columns: usize) -> Text {
        Text(Kind::Fitted(Box::new(self), columns))
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Kind::Verbatim(text) => text.is_empty(),
            Kind::Name(name) => name.is_empty(),
            Kind::Sentence { template, .. } => template.is_empty(),
            Kind::List(texts, _) => texts.iter().all(Text::is_empty),
            Kind::Fitted(text, _) => text.is_empty(),
        }
    }

    /// In a language.
    pub fn written_in(&self, language: Language) -> String {
        let mut written = String::new();
        self.write(language, &mut written);
        written
    }

    fn write(&self, language: Language, to: &mut String) {
        match &self.0 {
            Kind::Verbatim(text) => to.push_str(text),
            Kind::Name(name) => to.push_str(&named(name, language)),
            Kind::Sentence {
                template,
                arguments,
            } => fill(translated(template, language), arguments, language, to),
            Kind::List(texts, between) => {
                for (at, text) in texts.iter().enumerate() {
                    if at > 0 {
                        between.write(language, to);
                    }
                    text.write(language, to);
                }
            }
            Kind::Fitted(text, columns) => to.push_str(&fit(&text.written_in(language), *columns)),
        }
    }
}

fn translated(english: &str, language: Language) -> &str {
    match language {
        Language::English => english,
        Language::Japanese => japanese::of(english).unwrap_or(english),
    }
}

/// Translates the English of a recording: by the sentence's entry in the catalogue, else by the
/// first matching template of names.
fn named(english: &str, language: Language) -> Cow<'_, str> {
    if language == Language::English {
        return Cow::Borrowed(english);
    }
    if let Some(known) = japanese::of(english) {
        return Cow::Borrowed(known);
    }
    let fitting = japanese::name_templates().find_map(|(template, japanese)| {
        let arguments = matched(&pieces(template), english)?;
        let arguments: Vec<(&str, Text)> = (arguments.into_iter())
            .map(|(name, value)| (name, Text::named(value)))
            .collect();
        let mut written = String::new();
        fill(japanese, &arguments, language, &mut written);
        Some(written)
    });
    fitting.map_or(Cow::Borrowed(english), Cow::Owned)
}

/// Returns the arguments found in `text` by the pieces of a template; `None` unless all of `text`
/// fits.
fn matched<'a, 'b>(pieces: &[Piece<'a>], text: &'b str) -> Option<Vec<(&'a str, &'b str)>> {
    let (first, rest) = pieces.split_first()?;
    let (name, words) = match (first, rest.first()) {
        (Piece::Words(words), _) => {
            let text = text.strip_prefix(words)?;
            return match rest {
                [] => text.is_empty().then(Vec::new),
                rest => matched(rest, text),
            };
        }
        (Piece::Argument(name), None) => {
            return (!text.is_empty()).then(|| vec![(*name, text)]);
        }
        (Piece::Argument(name), Some(Piece::Words(words))) => (*name, *words),
        (Piece::Argument(_), Some(Piece::Argument(_))) => return None,
    };
    let ends = text.match_indices(words).map(|(at, _)| at);
    ends.filter(|end| *end > 0).find_map(|end| {
        let mut found = vec![(name, &text[..end])];
        found.extend(matched(rest, &text[end..])?);
        Some(found)
    })
}

/// A piece of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Words(&'a str),
    /// The name of an argument.
    Argument(&'a str),
}

/// The pieces of a template; `{{` and `}}` are braces.
pub(crate) fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let (words, from) = rest.split_at(at);
        if !words.is_empty() {
            pieces.push(Piece::Words(words));
        }
        let named = from.strip_prefix('{').and_then(|from| from.split_once('}'));
        rest = match named {
            Some((name, after)) if !name.starts_with('{') => {
                pieces.push(Piece::Argument(name));
                after
            }
            _ => {
                pieces.push(Piece::Words(&from[..1]));
                from.get(2..).unwrap_or_default()
            }
        };
    }
    if !rest.is_empty() {
        pieces.push(Piece::Words(rest));
    }
    pieces
}

fn fill(template: &str, arguments: &[(&str, Text)], language: Language, to: &mut String) {
    for piece in pieces(template) {
        match piece {
            Piece::Words(words) => to.push_str(words),
            Piece::Argument(name) => {
                let argument = arguments.iter().find(|(of, _)| *of == name);
                if let Some((_, text)) = argument {
                    text.write(language, to);
                }
            }
        }
    }
}

/// Cut to so many columns; characters of Chinese, Japanese and Korean are two wide.
fn fit(text: &str, columns: usize) -> String {
    let width = |character: char| if character >= '\u{2E80}' { 2 } else { 1 };
    if text.chars().map(width).sum::<usize>() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |character: &char| {
        let fits = width(*character) <= left;
        left = left.saturating_sub(width(*character));
        fits
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written_in(Language::English))
    }
}

/// Compares the English.
impl PartialEq<&str> for Text {
    fn eq(&self, english: &&str) -> bool {
        self.to_string() == **english
    }
}

impl Default for Text {
    fn default() -> Text {
        Text(Kind::Verbatim(Cow::Borrowed("")))
    }
}

impl From<Phrase> for Text {
    fn from(phrase: Phrase) -> Text {
        Text::of(phrase.0, Vec::new())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(Kind::Verbatim(Cow::Owned(text)))
    }
}

impl From<&Text> for Text {
    fn from(text: &Text) -> Text {
        text.clone()
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Text {
        Text::from(text.as_str())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::from(text.to_owned())
    }
}

/// A value allowed as argument of a text.
pub trait Argument {
    /// Returns the value as a text.
    fn as_text(&self) -> Text;
}

impl Argument for Text {
    fn as_text(&self) -> Text {
        self.clone()
    }
}

impl Argument for Phrase {
    fn as_text(&self) -> Text {
        Text::from(*self)
    }
}

impl<Of: Argument + ?Sized> Argument for &Of {
    fn as_text(&self) -> Text {
        (**self).as_text()
    }
}

/// Makes language-independent values verbatim arguments.
macro_rules! verbatim {
    ($($of:ty),*) => {$(
        impl Argument for $of {
            fn as_text(&self) -> Text {
                Text::from(self.to_string())
            }
        }
    )*};
}

verbatim!(str, String, char, u16, u32, u64, usize, i32, i64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{counted, text};

    #[test]
    fn english_is_the_template_with_its_arguments() {
        let count = 3_u64;
        let text = text!("{count} of {all} {{sic}}", count, all = text!("many"));
        assert_eq!(text.to_string(), "3 of many {sic}");
        assert_eq!(counted!(1, "1", "request").to_string(), "1 request");
        assert_eq!(counted!(2, "2", "request").to_string(), "2 requests");
    }

    #[test]
    fn without_a_japanese_sentence_the_english_one_stands() {
        let text = text!("nobody says {what}", what = "this");
        assert_eq!(text.written_in(Language::Japanese), "nobody says this");
    }

    #[test]
    fn lists_have_something_between() {
        let list = Text::list(["a", "b"].map(Text::from), text!("; "));
        assert_eq!(list.to_string(), "a; b");
    }

    #[test]
    fn long_texts_are_cut_by_columns() {
        assert_eq!(Text::from("abcdef").fitted(4).to_string(), "abc…");
        assert_eq!(Text::from("ab defg").fitted(4).to_string(), "ab…");
        assert_eq!(Text::from("測る測る").fitted(6).to_string(), "測る…");
        assert_eq!(Text::from("測る測").fitted(6).to_string(), "測る測");
    }

    #[test]
    fn sentences_of_recordings_are_known_by_their_templates() {
        let check = |template, text, expected: Option<&[(&str, &str)]>| {
            let found = matched(&pieces(template), text);
            assert_eq!(found.as_deref(), expected, "{template} {text}");
        };
        check("{a} of {b}", "1 of 2", Some(&[("a", "1"), ("b", "2")]));
        check(
            "{a} of {b}!",
            "1 of 2 of 3!",
            Some(&[("a", "1"), ("b", "2 of 3")]),
        );
        check("{a} of {b}", "1 and 2", None);
        check("{a} of {b}", "1 of ", None);
        check("in {a} ms", "in 3 ms and more", None);
        check("as it is", "as it is", Some(&[]));
    }

    #[test]
    fn templates_fall_into_pieces() {
        use Piece::{Argument, Words};
        let expected = [
            Argument("a"),
            Words(" of "),
            Words("{"),
            Words("b"),
            Words("}"),
        ];
        assert_eq!(pieces("{a} of {{b}}"), expected);
        assert_eq!(pieces("a { b"), [Words("a "), Words("{"), Words("b")]);
    }
}
