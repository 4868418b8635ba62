//! Words of commands, as split by a shell.

/// One command: unquoted words, and the line in the record.
pub(super) struct Command {
    pub(super) line: usize,
    pub(super) words: Vec<String>,
}

/// Splits a text into commands as a shell would.
pub(super) fn commands(text: &str) -> Result<Vec<Command>, String> {
    let mut commands: Vec<Command> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let (mut line, mut begun) = (1, 1);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\n') => line += 1,
                // A line break of Windows.
                Some('\r') if letters.peek() == Some(&'\n') => {
                    letters.next();
                    line += 1;
                }
                other => word.get_or_insert_default().extend(other),
            },
            '\'' | '"' => {
                let started = line;
                let is_ansi = letter == '\'' && word.as_deref().is_some_and(|w| w.ends_with('$'));
                let into = word.get_or_insert_default();
                if is_ansi {
                    into.pop();
                }
                line += quoted(letter, is_ansi, &mut letters, into)
                    .ok_or_else(|| format!("line {started}: this {letter} is not closed"))?;
            }
            ' ' | '\t' | '\r' => words.extend(word.take()),
            '\n' | ';' | '&' | '|' => {
                words.extend(word.take());
                end(&mut words, begun, &mut commands);
                line += usize::from(letter == '\n');
            }
            other => word.get_or_insert_default().push(other),
        }
        if words.is_empty() && word.is_none() {
            begun = line;
        }
    }
    words.extend(word);
    end(&mut words, begun, &mut commands);
    Ok(commands)
}

fn end(words: &mut Vec<String>, line: usize, commands: &mut Vec<Command>) {
    let words = std::mem::take(words);
    if words
        .first()
        .is_some_and(|word| word == "curl" || word.ends_with("/curl"))
    {
        commands.push(Command { line, words });
    }
}

/// Reads up to the closing quote; returns the number of lines inside, `None` for an open quote.
fn quoted(
    quote: char,
    is_ansi: bool,
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    out: &mut String,
) -> Option<usize> {
    let mut lines = 0;
    loop {
        let letter = letters.next()?;
        lines += usize::from(letter == '\n');
        match letter {
            letter if letter == quote => return Some(lines),
            '\\' if is_ansi => ansi(letters, out)?,
            '\\' if quote == '"' => match letters.next()? {
                '\n' => lines += 1,
                letter @ ('"' | '\\' | '$' | '`') => out.push(letter),
                letter => out.extend(['\\', letter]),
            },
            letter => out.push(letter),
        }
    }
}

/// What stands behind a backslash in `$'…'`; `None` where the text ends.
fn ansi(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) -> Option<()> {
    let letter = letters.next()?;
    let digits = match letter {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    if digits > 0 {
        let mut number = String::new();
        while number.len() < digits {
            match letters.next_if(char::is_ascii_hexdigit) {
                Some(digit) => number.push(digit),
                None => break,
            }
        }
        let code = u32::from_str_radix(&number, 16).ok();
        out.extend(code.and_then(char::from_u32));
        return Some(());
    }
    out.push(match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        other => other,
    });
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_a_shell_reads_them() {
        let text = "curl 'http://a.test/x?y=1' \\\n  -H $'X-Name: it\\'s \\u0041' \\\r\n --data-raw \"a=\\\"b\\\"\"\nls\n";
        let commands = commands(text).expect("commands");
        assert_eq!(commands.len(), 1);
        let words: Vec<&str> = commands[0].words.iter().map(String::as_str).collect();
        assert_eq!(
            words,
            [
                "curl",
                "http://a.test/x?y=1",
                "-H",
                "X-Name: it's A",
                "--data-raw",
                "a=\"b\""
            ]
        );
        assert!(super::commands("curl 'http://a").is_err());
    }
}
