//! Fitting text that others wrote (routes, SQL, answers) into columns.

/// What stands for characters that were cut.
pub(crate) const CUT: char = '…';

/// Columns a text takes in a terminal. Marks that combine are counted as one column, which errs on the
/// narrow side of the page.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Two for the blocks that Unicode's East Asian Width calls wide, and for emoji.
fn char_width(character: char) -> usize {
    match u32::from(character) {
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F000..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// One line without control characters, so that what an app or a client sent cannot steer the terminal.
/// White space of any length becomes one blank.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().map(|character| match character {
            // Controls, and marks that turn the direction of writing.
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200B}'..='\u{200F}' => '?',
            _ if character.is_control() => '?',
            _ => character,
        }));
    }
    line
}

/// At most `columns` wide, the end cut and marked when it does not fit.
pub(crate) fn fit(text: &str, columns: usize) -> String {
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
pub(crate) fn left(text: &str, columns: usize) -> String {
    let mut padded = fit(text, columns);
    padded.extend(std::iter::repeat_n(' ', columns - width(&padded)));
    padded
}

/// Fitted, and filled with blanks on the left.
pub(crate) fn right(text: &str, columns: usize) -> String {
    let fitted = fit(text, columns);
    let mut padded = " ".repeat(columns - width(&fitted));
    padded.push_str(&fitted);
    padded
}

/// Lines of at most `columns`, broken between words where possible; at most `lines_max`, the last one
/// marked when there was more.
pub(crate) fn wrap(text: &str, columns: usize, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in one_line(text)
        .split(' ')
        .flat_map(|word| pieces(word, columns))
    {
        if !line.is_empty() && width(&line) + 1 + width(&word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
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
    fn others_cannot_steer_the_terminal() {
        assert_eq!(one_line("a\u{1b}[31m\r\n  b\t\u{202e}c"), "a?[31m b ?c");
    }

    #[test]
    fn texts_are_wrapped() {
        assert_eq!(wrap("one two three", 7, 9), ["one two", "three"]);
        assert_eq!(wrap("onetwothree", 4, 9), ["onet", "woth", "ree"]);
        assert_eq!(wrap("one two three four", 7, 2), ["one two", "three …"]);
        assert_eq!(wrap("", 7, 2), [""; 0]);
    }

    proptest! {
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
