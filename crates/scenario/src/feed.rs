//! Feeds: rows of variables from a CSV file, each used by one iteration at a time.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::parse::is_variable_name;
use crate::value::Value;

/// The rows of one CSV file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Feed {
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Vec<Value>>,
}

/// Which rows are free. They are handed out in order; a row that was given back goes to the end.
#[derive(Debug)]
pub(crate) struct FreeRows {
    rows: Mutex<VecDeque<u32>>,
}

impl Feed {
    /// Parses CSV (RFC 4180): a header line with the names of variables, then rows. The error says the line.
    pub(crate) fn parse(text: &str) -> Result<Feed, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut records = records(text)?.into_iter();
        let Some((_, names)) = records.next() else {
            return Err("1: expected a header line with the names of variables".to_owned());
        };
        let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
        if let Some(name) = names.iter().find(|name| !is_variable_name(name)) {
            return Err(format!("1: `{name}` cannot be the name of a variable"));
        }
        let mut rows = Vec::new();
        for (line, fields) in records {
            if fields.len() != names.len() {
                let (wanted, found) = (names.len(), fields.len());
                return Err(format!("{line}: expected {wanted} fields, found {found}"));
            }
            rows.push(fields.iter().map(|field| Value::guess(field)).collect());
        }
        if rows.is_empty() {
            return Err("2: expected at least one row below the header".to_owned());
        }
        Ok(Feed { names, rows })
    }
}

/// Records with the line they begin on; blank lines are left out.
fn records(text: &str) -> Result<Vec<(usize, Vec<String>)>, String> {
    let mut records = Vec::new();
    let mut fields: Vec<String> = Vec::new();
    let mut field = String::new();
    let (mut line, mut line_of_record) = (1, 1);
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\n' {
            line += 1;
        }
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' if quoted => quoted = false,
            other if quoted => field.push(other),
            '"' if field.is_empty() => quoted = true,
            ',' => fields.push(std::mem::take(&mut field)),
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' => {
                end_record(&mut records, &mut fields, &mut field, line_of_record);
                line_of_record = line;
            }
            other => field.push(other),
        }
    }
    if quoted {
        return Err(format!("{line_of_record}: a quoted field has no end"));
    }
    end_record(&mut records, &mut fields, &mut field, line_of_record);
    Ok(records)
}

fn end_record(
    records: &mut Vec<(usize, Vec<String>)>,
    fields: &mut Vec<String>,
    field: &mut String,
    line: usize,
) {
    if fields.is_empty() && field.is_empty() {
        return;
    }
    fields.push(std::mem::take(field));
    records.push((line, std::mem::take(fields)));
}

impl FreeRows {
    pub(crate) fn all(count: usize) -> FreeRows {
        FreeRows {
            rows: Mutex::new((0..count as u32).collect()),
        }
    }

    /// The next free row; nothing when all are in use.
    pub(crate) fn take(&self) -> Option<u32> {
        self.lock().pop_front()
    }

    pub(crate) fn give_back(&self, row: u32) {
        self.lock().push_back(row);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<u32>> {
        // A queue of numbers is whole even if a holder of the lock panicked.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[&[&str]], &str>) {
        let feed = Feed::parse(text).map(|feed| {
            let shown = |row: &Vec<Value>| row.iter().map(Value::to_string).collect();
            feed.rows.iter().map(shown).collect::<Vec<Vec<String>>>()
        });
        let expected = expected
            .map(|rows| {
                let owned = |row: &&[&str]| row.iter().map(|field| (*field).to_owned()).collect();
                rows.iter().map(owned).collect::<Vec<Vec<String>>>()
            })
            .map_err(str::to_owned);
        assert_eq!(feed, expected, "{text:?}");
    }

    #[test]
    fn rows_are_read() {
        check(
            "name,password\na,1\nb,007\n",
            Ok(&[&["a", "1"], &["b", "007"]]),
        );
        check(
            "name\r\n\"a, \"\"b\"\"\r\nc\"\r\n",
            Ok(&[&["a, \"b\"\r\nc"]]),
        );
        check("a,b\n,\n\n1,2", Ok(&[&["", ""], &["1", "2"]]));
        check("a,b\n1,2\n3\n", Err("3: expected 2 fields, found 1"));
        check("a b\n1\n", Err("1: `a b` cannot be the name of a variable"));
        check("a\n", Err("2: expected at least one row below the header"));
        check(
            "",
            Err("1: expected a header line with the names of variables"),
        );
        check("a\n1\n\"x\n", Err("3: a quoted field has no end"));
    }

    #[test]
    fn a_row_is_in_one_hand_at_a_time() {
        let free = FreeRows::all(2);
        assert_eq!(
            (free.take(), free.take(), free.take()),
            (Some(0), Some(1), None)
        );
        free.give_back(1);
        free.give_back(0);
        assert_eq!((free.take(), free.take()), (Some(1), Some(0)));
    }
}
