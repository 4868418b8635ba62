//! `--online-command`: hands one table's `ALTER TABLE` to a program such as gh-ost or
//! pt-online-schema-change.

use std::process::{Command, Stdio};

use schema::plan::Way;
use schema_db::apply::Step;
use schema_db::mysql::MysqlAddress;

use super::place::Place;
use crate::flags::How;
use ending::Failure;

/// An external program with a connection.
pub(super) struct Outside {
    words: Vec<String>,
    address: MysqlAddress,
}

impl Outside {
    /// Returns the program on the command line; `None` without one, or for another server.
    pub(super) fn of(how: &How, place: &Place) -> Result<Option<Outside>, Failure> {
        let (Some(command), Place::Mysql(url)) = (&how.online_command, place) else {
            return Ok(None);
        };
        let words = words(command);
        if words.is_empty() {
            return Err(Failure::usage(
                "--online-command names no program; say one such as 'gh-ost --alter={alter} …'",
            ));
        }
        let address =
            super::place::mysql_address(url).map_err(|error| super::trouble::of_server(&error))?;
        Ok(Some(Outside { words, address }))
    }

    /// Runs the program and waits for the end; output goes to standard error.
    pub(super) fn run(&self, step: &Step) -> Result<(), String> {
        let alter = match &step.online.way {
            Way::Cheapest { action, .. } => action.as_str(),
            _ => "",
        };
        let table = step.online.table.as_deref().unwrap_or_default();
        let port = self.address.port.to_string();
        let values = [
            ("{host}", self.address.host.as_str()),
            ("{port}", &port),
            ("{user}", &self.address.user),
            ("{database}", &self.address.database),
            ("{table}", table),
            ("{alter}", alter),
        ];
        let filled: Vec<String> = self.words.iter().map(|word| fill(word, &values)).collect();
        let mut command = Command::new(&filled[0]);
        command.args(&filled[1..]).stdin(Stdio::null());
        command.stdout(std::io::stderr());
        // Never on the command line, where everybody reads it.
        if let Some(password) = &self.address.password {
            command.env("MYSQL_PWD", password);
        }
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!(
                "{} failed on {table}: {status}; what it printed is above",
                filled[0]
            )),
            Err(error) => Err(format!(
                "cannot run {}: {error}; --online-command has to name a program",
                filled[0]
            )),
        }
    }
}

/// Replaces the words in braces in one pass: values may hold braces.
fn fill(word: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        match values.iter().find(|(key, _)| from.starts_with(key)) {
            Some((key, value)) => {
                filled.push_str(value);
                rest = &from[key.len()..];
            }
            None => {
                filled.push('{');
                rest = &from[1..];
            }
        }
    }
    filled + rest
}

/// Words between blanks; quotes of either kind keep blanks together.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in command.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            None if matches!(letter, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_becomes_words_with_values() {
        assert_eq!(words("a 'b c' --d=\"e f\" ''"), ["a", "b c", "--d=e f", ""]);
        let values = [("{table}", "t{alter}"), ("{alter}", "ADD x")];
        assert_eq!(
            fill("--{table}:{alter}:{else}", &values),
            "--t{alter}:ADD x:{else}"
        );
    }
}
