//! Lines of limited width, with or without colour.

use words::Text;

use super::Style;
use figures::text::{self, COLUMNS, ascii};

/// Meaning of a piece of a line; colour repeats the meaning, and nothing is lost without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    /// The thing to look at.
    Strong,
    /// Text of little importance.
    Faint,
    Bad,
    Good,
    /// A cell of a bar, in the term's colour (a number of the 256-colour table).
    Bar(u8),
}

pub(super) struct Page {
    style: Style,
    written: String,
}

impl Page {
    pub(super) fn new(style: Style) -> Page {
        Page {
            style,
            written: String::new(),
        }
    }

    pub(super) fn finish(self) -> String {
        self.written
    }

    /// Width of a line in columns.
    pub(super) fn columns(&self) -> usize {
        self.style.columns
    }

    /// Number of lines with the room of `lines` at the usual width.
    fn lines(&self, lines: usize) -> usize {
        lines
            .saturating_mul(COLUMNS)
            .div_ceil(self.columns().clamp(1, COLUMNS))
    }

    /// Lines so far.
    pub(super) fn lines_written(&self) -> usize {
        self.written.lines().count()
    }

    pub(super) fn blank(&mut self) {
        self.written.push('\n');
    }

    /// A text in the language of the page.
    pub(super) fn written(&self, text: impl Into<Text>) -> String {
        text.into().written_in(self.style.language)
    }

    /// A first word such as `Fix:`, padded to the width of the widest such word.
    pub(super) fn label(&self, word: Text) -> String {
        text::left(&self.written(word), 6)
    }

    /// Writes a section's title, after an empty line unless the section is the first.
    pub(super) fn heading(&mut self, title: impl Into<Text>) {
        if !self.written.is_empty() {
            self.blank();
        }
        let title = self.written(title);
        self.line(&[(Ink::Strong, &title)]);
    }

    /// Writes a section's title with a remark beside the title where there is room.
    pub(super) fn title(&mut self, title: Text, remark: Text) {
        let both = format!("{}   {}", self.written(&title), self.written(&remark));
        if text::width(&both) <= self.columns() {
            return self.heading(both);
        }
        self.heading(title);
        self.paragraph(2, "", Ink::Faint, remark, 2);
    }

    /// Writes one line unwrapped, cut at the page's width.
    pub(super) fn text(&mut self, indent: usize, text: impl Into<Text>) {
        self.inked(indent, Ink::Plain, text);
    }

    /// Writes a line like [`Page::text`], in another ink.
    pub(super) fn inked(&mut self, indent: usize, ink: Ink, text: impl Into<Text>) {
        let text = self.written(text);
        self.line(&[(Ink::Plain, &" ".repeat(indent)), (ink, &text)]);
    }

    /// A line made of pieces, cut where the page ends.
    pub(super) fn line(&mut self, pieces: &[(Ink, &str)]) {
        let mut room = self.columns();
        let mut line = String::new();
        for (ink, piece) in pieces {
            let piece = if self.style.ascii {
                text::fit(&ascii(piece), room)
            } else {
                text::fit(piece, room)
            };
            room -= text::width(&piece);
            line.push_str(&self.painted(*ink, &piece));
        }
        let line = line.trim_end();
        // `fit` marks what it cut with a character that is not ASCII, as wide as its stand-in.
        match self.style.ascii {
            true => self.written.push_str(&line.replace(text::CUT, "~")),
            false => self.written.push_str(line),
        }
        self.written.push('\n');
    }

    /// Writes a paragraph after a first word such as `Fix:`, further lines indented to the first
    /// line's text. `lines_max` is meant for the usual width; a narrow page has more.
    pub(super) fn paragraph(
        &mut self,
        indent: usize,
        mark: impl Into<Text>,
        ink: Ink,
        words: impl Into<Text>,
        lines_max: usize,
    ) {
        let mark = &self.written(mark);
        let words = self.written(words);
        let words = if self.style.ascii {
            ascii(&words)
        } else {
            words
        };
        let hang = indent + text::width(mark);
        let lines_max = self.lines(lines_max);
        for (index, line) in text::wrap(&words, self.columns().saturating_sub(hang), lines_max)
            .iter()
            .enumerate()
        {
            match index {
                0 => self.line(&[
                    (Ink::Plain, &" ".repeat(indent)),
                    (Ink::Plain, mark),
                    (ink, line),
                ]),
                _ => self.line(&[(Ink::Plain, &" ".repeat(hang)), (ink, line)]),
            }
        }
    }

    fn painted(&self, ink: Ink, piece: &str) -> String {
        if !self.style.colour || piece.is_empty() {
            return piece.to_owned();
        }
        match ink {
            Ink::Plain => piece.to_owned(),
            Ink::Strong => format!("\u{1b}[1m{piece}\u{1b}[0m"),
            Ink::Faint => format!("\u{1b}[2m{piece}\u{1b}[0m"),
            Ink::Bad => format!("\u{1b}[1;31m{piece}\u{1b}[0m"),
            Ink::Good => format!("\u{1b}[32m{piece}\u{1b}[0m"),
            Ink::Bar(colour) => format!("\u{1b}[30;48;5;{colour}m{piece}\u{1b}[0m"),
        }
    }
}
