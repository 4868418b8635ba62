//! Fitting text into the columns of a terminal: quoted text (routes, SQL, responses), and whole
//! pages.

mod table;

use crate::line::char_width;
pub use crate::line::{one_line, width};
pub use table::{Align, Column, table};

/// Width of a page in columns, where the width is unknown.
pub const COLUMNS: usize = 100;

/// Mark in place of cut characters.
pub const CUT: char = '…';

/// Returns the text at most `columns` wide, the end cut and marked where too long.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let mut fitted = String::new();
    for character in text.chars() {
        let needed = char_width(character);
        if needed > left {
            break;
        }
        left -= needed;
        fitted.push(character);
    }
    if columns > 0 {
        fitted.push(CUT);
    }
    fitted
}

/// Fitted, and filled with blanks on the right.
pub fn left(text: &str, columns: usize) -> String {
    let mut padded = fit(text, columns);
    padded.extend(std::iter::repeat_n(' ', columns - width(&padded)));
    padded
}

/// Fitted, and filled with blanks on the left.
pub fn right(text: &str, columns: usize) -> String {
    let fitted = fit(text, columns);
    let mut padded = " ".repeat(columns - width(&fitted));
    padded.push_str(&fitted);
    padded
}

/// Lines of at most `columns`, broken between words where possible; at most `lines_max`, the last
/// one marked when there was more.
pub fn wrap(text: &str, columns: usize, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in one_line(text).split(' ') {
        let atoms = atoms(word).into_iter();
        let pieces = atoms.flat_map(|atom| pieces(atom, columns));
        for (index, piece) in pieces.enumerate() {
            let gap = usize::from(index == 0);
            if !line.is_empty() && width(&line) + gap + width(&piece) > columns {
                lines.push(std::mem::take(&mut line));
            }
            if gap > 0 && !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&piece);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            *last = fit(&format!("{last} {CUT}"), columns);
        }
    }
    lines
}

/// Folds a page to lines at most `columns` wide: longer lines are broken between words where
/// possible, and continue under the text of the line, a little deeper. Blanks inside a line stay,
/// so that what fits keeps its columns.
pub fn fold(page: &str, columns: usize) -> String {
    let mut folded = String::with_capacity(page.len());
    for line in page.lines() {
        fold_line(line, columns, &mut folded);
    }
    if !page.ends_with('\n') {
        folded.pop();
    }
    folded
}

fn fold_line(line: &str, columns: usize, folded: &mut String) {
    /// Deeper than the line by so much.
    const DEEPER: usize = 2;
    let own = line
        .chars()
        .take_while(|character| *character == ' ')
        .count();
    let hang = (own + DEEPER).min(columns / 3);
    let (mut rest, mut indent) = (line, 0);
    while indent + width(rest) > columns {
        let end = break_at(rest, columns - indent);
        folded.push_str(&" ".repeat(indent));
        folded.push_str(rest[..end].trim_end());
        folded.push('\n');
        rest = rest[end..].trim_start();
        indent = hang;
    }
    folded.push_str(&" ".repeat(if rest.is_empty() { 0 } else { indent }));
    folded.push_str(rest);
    folded.push('\n');
}

/// Index at which a too wide line is broken: after the last fitting word, else inside the first
/// word.
fn break_at(line: &str, columns: usize) -> usize {
    let (mut used, mut last_end, mut before) = (0, None, None);
    for (at, character) in line.char_indices() {
        let is_end = match before {
            None | Some(' ') => false,
            Some(_) if character == ' ' => true,
            Some(before) => may_break(before, character),
        };
        if is_end {
            last_end = Some(at);
        }
        before = Some(character);
        used += char_width(character);
        if used > columns {
            let first = line.chars().next().map_or(0, char::len_utf8);
            return last_end.unwrap_or(at.max(first));
        }
    }
    line.len()
}

/// Replaces Hakaru's signs by ASCII stand-ins; any other non-ASCII character becomes `?`.
pub fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '–' | '−' | '·' => plain.push('-'),
            '—' => plain.push_str("--"),
            '→' => plain.push_str("->"),
            '×' => plain.push('x'),
            'µ' | 'μ' => plain.push('u'),
            '±' => plain.push_str("+-"),
            '≥' => plain.push_str(">="),
            '≤' => plain.push_str("<="),
            '…' => plain.push_str("..."),
            '’' | '‘' => plain.push('\''),
            '“' | '”' => plain.push('"'),
            '█' | '▉' | '▊' | '▋' | '▌' => plain.push('#'),
            '▍' | '▎' | '▏' => plain.push(' '),
            _ if character.is_ascii() => plain.push(character),
            _ => plain.push('?'),
        }
    }
    plain
}

/// Splits a word where a line may end: Japanese has no blanks between words.
fn atoms(word: &str) -> Vec<&str> {
    let mut atoms = Vec::new();
    let (mut start, mut before) = (0, None);
    for (at, character) in word.char_indices() {
        if before.is_some_and(|before| may_break(before, character)) {
            atoms.push(&word[start..at]);
            start = at;
        }
        before = Some(character);
    }
    atoms.push(&word[start..]);
    atoms
}

/// Whether a line may end between two adjacent characters: beside a wide one, unless a closing sign
/// would begin a line or an opening one end a line.
fn may_break(before: char, after: char) -> bool {
    const CLOSING: &str =
        "、。，．）」』】〉》・：；？！ー々ァィゥェォッャュョぁぃぅぇぉっゃゅょ)]}%.,:;…";
    const OPENING: &str = "（「『【〈《([{−";
    let is_wide = char_width(before) == 2 || char_width(after) == 2;
    is_wide && !CLOSING.contains(after) && !OPENING.contains(before)
}

/// A word in pieces of at most `columns`.
fn pieces(word: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut left = columns;
    for character in word.chars() {
        let needed = char_width(character);
        if needed > left {
            pieces.push(String::new());
            left = columns;
        }
        left = left.saturating_sub(needed);
        if let Some(piece) = pieces.last_mut() {
            piece.push(character);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_fitted() {
        assert_eq!(fit("channel", 7), "channel");
        assert_eq!(fit("channels", 7), "channe…");
        assert_eq!(fit("測る測る", 6), "測る…");
        assert_eq!(fit("x", 0), "");
        assert_eq!(left("ab", 4), "ab  ");
        assert_eq!(right("測", 4), "  測");
    }

    #[test]
    fn texts_are_wrapped() {
        assert_eq!(wrap("one two three", 7, 9), ["one two", "three"]);
        assert_eq!(wrap("onetwothree", 4, 9), ["onet", "woth", "ree"]);
        assert_eq!(wrap("one two three four", 7, 2), ["one two", "three …"]);
        assert_eq!(wrap("", 7, 2), [""; 0]);
        // No blank is needed, and no line begins with a full stop.
        assert_eq!(
            wrap("GET / を測る。速い", 10, 9),
            ["GET / を測", "る。速い"]
        );
        assert_eq!(wrap("測る測る。速い", 8, 9), ["測る測", "る。速い"]);
    }

    #[test]
    fn pages_are_folded_at_words_and_keep_their_columns() {
        assert_eq!(fold("a  b\n", 9), "a  b\n");
        assert_eq!(fold("  one two three", 9), "  one two\n   three");
        assert_eq!(fold("onetwothree", 6), "onetwo\n  thre\n  e");
        assert_eq!(fold("", 6), "");
        assert_eq!(fold("\n\nx\n", 6), "\n\nx\n");
        assert_eq!(fold("測る測る", 4), "測る\n 測\n る");
    }

    #[test]
    fn signs_have_stand_ins() {
        assert_eq!(
            ascii("2 × 5 → 40 µs ±3% ██▌ é"),
            "2 x 5 -> 40 us +-3% ### ?"
        );
    }

    proptest! {
        #[test]
        fn no_folded_line_is_wider_than_asked(text in "[ -~é測\\n]{0,300}", columns in 9..60_usize) {
            let folded = fold(&text, columns);
            for line in folded.lines() {
                prop_assert!(width(line) <= columns, "{:?}", line);
            }
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(letters(&folded), letters(&text));
        }

        #[test]
        fn no_line_is_wider_than_asked(text in "\\PC{0,80}", columns in 2..30_usize) {
            for line in wrap(&text, columns, 5) {
                prop_assert!(width(&line) <= columns, "{:?}", line);
            }
            prop_assert_eq!(width(&left(&text, columns)), columns);
            prop_assert_eq!(width(&right(&text, columns)), columns);
        }
    }
}
