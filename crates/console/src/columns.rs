//! A page of paragraphs and columns of figures, as wide as the terminal.

use figures::text::wrap;
use words::Text;

use crate::language;
use crate::look;

/// Columns of a figure; the longest are `1,234,567` and `1,234 MB`.
const COLUMN: usize = 10;

/// A page, written from top to bottom.
#[derive(Default)]
pub struct Columns {
    text: String,
}

impl Columns {
    /// Returns the page.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Adds an empty line.
    pub fn add_gap(&mut self) {
        self.text.push('\n');
    }

    /// Adds finished lines.
    pub fn add_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds the titles of figures.
    pub fn add_titles(&mut self, titles: &[Text]) {
        let titles = titles
            .iter()
            .map(|title| title.written_in(language::chosen()));
        self.add_figures(&titles.collect::<Vec<_>>());
    }

    /// Adds a line of figures, each right-aligned in the column.
    pub fn add_figures(&mut self, figures: &[String]) {
        let cells = figures.iter().map(|cell| {
            let blanks = COLUMN.saturating_sub(figures::line::width(cell));
            format!("{}{cell}", " ".repeat(blanks))
        });
        self.text
            .push_str(&format!("{}\n", cells.collect::<String>().trim_end()));
    }

    /// Adds a sentence, wrapped to at most `lines_max` lines behind `indent` blanks.
    pub fn add_line(&mut self, indent: usize, line: &Text, lines_max: usize) {
        self.add_paragraph(indent, &line.written_in(language::chosen()), lines_max);
    }

    /// Adds a text, wrapped to at most `lines_max` lines behind `indent` blanks.
    pub fn add_paragraph(&mut self, indent: usize, text: &str, lines_max: usize) {
        let columns = look::page_columns().saturating_sub(indent);
        for line in wrap(text, columns, lines_max) {
            self.text
                .push_str(&format!("{}{line}\n", " ".repeat(indent)));
        }
    }
}
