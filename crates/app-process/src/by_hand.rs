//! Commands for messages, and as a line to repeat by hand, without secrets.

use crate::spec::{CommandLine, Spec};

/// In place of a value which may be a secret.
const HIDDEN: &str = "…";

/// Returns a shell line repeating a command: folder, environment and command.
pub(crate) fn line(spec: &Spec, command: &CommandLine) -> String {
    let here = std::env::current_dir().is_ok_and(|current| current == spec.directory);
    let folder = match here || spec.directory.as_os_str() == "." {
        true => String::new(),
        false => format!("cd {} && ", spec.directory.display()),
    };
    let variable = |(name, value): &(String, String)| match may_be_secret(name, value) {
        true => format!("{name}={HIDDEN} "),
        false => format!("{name}={} ", quoted(value)),
    };
    let environment: String = spec.env.iter().map(variable).collect();
    format!("{folder}{environment}{}", command.shown())
}

impl CommandLine {
    /// Returns the command as a shell line for people, with hidden values of variables
    /// (`API_KEY=x puma`) and options (`--password=x`).
    pub fn shown(&self) -> String {
        let text = self.to_string();
        let (mut shown, mut rest, mut before) = (String::new(), text.as_str(), ' ');
        while let Some(letter) = rest.chars().next() {
            if is_word_start(before)
                && let Some((name, after)) = assignment(rest)
            {
                let (value, behind) = after.split_at(value_length(after, before));
                shown.push_str(name);
                shown.push('=');
                // A value may hold a command with assignments of its own.
                (rest, before) = (after, '=');
                if may_be_secret(name, value) {
                    shown.push_str(HIDDEN);
                    rest = behind;
                }
                continue;
            }
            shown.push(letter);
            (rest, before) = (&rest[letter.len_utf8()..], letter);
        }
        shown
    }
}

/// Whether a word may begin behind a letter of a shell line, or of a script between quotes.
fn is_word_start(before: char) -> bool {
    before.is_whitespace() || "'\"`;&|(".contains(before)
}

/// Splits an assignment, or an option with a value, into the name and the rest of the text.
fn assignment(text: &str) -> Option<(&str, &str)> {
    let (name, after) = text.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, after))
}

/// Returns the length of the value at the beginning of a text: to the end of the quotes around the
/// assignment, or of the shell's word. In doubt it is too long, and more is hidden.
fn value_length(text: &str, before: char) -> usize {
    if matches!(before, '\'' | '"' | '`') {
        return text.find(before).unwrap_or(text.len());
    }
    let (mut quote, mut depth, mut is_escaped) = (None, 0_u32, false);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            _ if is_escaped => is_escaped = false,
            (Some('\''), '\'') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => is_escaped = true,
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') if depth > 0 => depth -= 1,
            (None, _) if depth == 0 && ends_word(letter) => return at,
            _ => {}
        }
    }
    text.len()
}

fn ends_word(letter: char) -> bool {
    letter.is_whitespace() || ";&|)<>".contains(letter)
}

fn may_be_secret(name: &str, value: &str) -> bool {
    // A switch such as SECRET_KEY_BASE_DUMMY=1 hides nothing.
    let is_secret = value.len() > 2 && secrets::is_secret(name);
    let has_login = value
        .split_once("://")
        .is_some_and(|(_, rest)| rest.contains('@'));
    is_secret || has_login
}

/// Returns the value quoted for a shell.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+%".contains(c);
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_a_command_are_hidden() {
        let check = |line: &str, expected: &str| {
            let command = CommandLine::Shell(line.to_owned());
            assert_eq!(command.shown(), expected);
        };
        check("puma -t 5:5 -p 3000", "puma -t 5:5 -p 3000");
        check("API_KEY=sesame puma", "API_KEY=… puma");
        check(
            "RACK_ENV=test env API_KEY='open sesame' exec puma -C a.rb",
            "RACK_ENV=test env API_KEY=… exec puma -C a.rb",
        );
        check(
            "export DB_PASS=\"a b\\\"c\"; puma&",
            "export DB_PASS=…; puma&",
        );
        check("(API_TOKEN=sesame puma)", "(API_TOKEN=… puma)");
        check("A_KEY=$(cat a key)x puma", "A_KEY=… puma");
        check("A_KEY=open\\ sesame puma", "A_KEY=… puma");
        check("puma --password=sesame -v", "puma --password=… -v");
        check(
            "DATABASE_URL=mysql2://app:sesame@db/shop puma",
            "DATABASE_URL=… puma",
        );
        check(
            "SECRET_KEY_BASE_DUMMY=1 puma",
            "SECRET_KEY_BASE_DUMMY=1 puma",
        );
        // Scripts within the line.
        check(
            "sh -c 'cd app; API_KEY=sesame puma'",
            "sh -c 'cd app; API_KEY=… puma'",
        );
        check("sh -c \"API_KEY='a b' puma\" x", "sh -c \"API_KEY=…\" x");
        check("RUN='API_KEY=sesame' sh", "RUN='API_KEY=…' sh");
        // Nothing of a line that no shell would take is shown by mistake.
        check("API_KEY='open sesame puma", "API_KEY=…");
    }

    #[test]
    fn secrets_in_words_are_hidden() {
        let words = ["env", "API_KEY=open sesame", "BYPASS_CACHE=true", "puma"];
        let command = CommandLine::Argv(words.map(str::to_owned).to_vec());
        assert_eq!(command.shown(), "env 'API_KEY=…' BYPASS_CACHE=true puma");
    }
}
