//! Texts written by others, such as routes, SQL and files of the kernel, as one line for a
//! terminal.

/// Columns a text takes in a terminal. Marks that combine are counted as one column, which errs on
/// the narrow side of the page.
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Columns of a character in a terminal: two for wide blocks of Unicode's East Asian Width and for
/// emoji, else one.
pub fn char_width(character: char) -> usize {
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

/// Returns one line without control characters: texts of an app or a client cannot steer the
/// terminal. White space of any length becomes one blank.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().map(|character| match steers(character) {
            true => '?',
            false => character,
        }));
    }
    line
}

/// Whether a character can steer a terminal: a control, or a mark for the direction of writing or
/// without a width.
pub fn steers(character: char) -> bool {
    let turns = matches!(
        character,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200B}'..='\u{200F}'
    );
    turns || character.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_cannot_steer_the_terminal() {
        assert_eq!(one_line("a\u{1b}[31m\r\n  b\t\u{202e}c"), "a?[31m b ?c");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(width("測る a"), 6);
    }
}
