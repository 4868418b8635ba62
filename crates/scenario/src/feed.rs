//! Feeds: rows of variables from a CSV or JSON file, each used by one iteration at a time.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::Value as Json;

use crate::value::Value;
use crate::variables::is_variable_name;

/// The rows of one file.
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
    /// Parses the text of the file `path`, whose extension names the format. The error says the
    /// line.
    pub(crate) fn of_file(path: &Path, text: &str) -> Result<Feed, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension {
            Some("json") => Feed::parse_json(text),
            Some("jsonl" | "ndjson") => Feed::parse_json_lines(text),
            _ => Feed::parse(text),
        }
    }

    /// A list of objects.
    fn parse_json(text: &str) -> Result<Feed, String> {
        let rows: Vec<Json> = serde_json::from_str(text)
            .map_err(|error| format!("{}: expected a list of objects: {error}", error.line()))?;
        let numbered = rows.into_iter().enumerate();
        Feed::of_objects(numbered.map(|(position, row)| (format!("item {position}"), row)))
    }

    /// An object on each line; blank lines are left out.
    fn parse_json_lines(text: &str) -> Result<Feed, String> {
        let mut rows = Vec::new();
        for (position, line) in text.lines().enumerate() {
            let number = position + 1;
            if !line.trim().is_empty() {
                let row: Json = serde_json::from_str(line)
                    .map_err(|error| format!("{number}: not JSON: {error}"))?;
                rows.push((number.to_string(), row));
            }
        }
        Feed::of_objects(rows.into_iter())
    }

    /// Reads rows of objects, all with the names of the first.
    fn of_objects(rows: impl Iterator<Item = (String, Json)>) -> Result<Feed, String> {
        let mut feed = Feed {
            names: Vec::new(),
            rows: Vec::new(),
        };
        for (place, row) in rows {
            let Json::Object(members) = row else {
                return Err(format!("{place}: expected an object"));
            };
            if feed.rows.is_empty() {
                feed.names = members.keys().cloned().collect();
                if let Some(name) = feed.names.iter().find(|name| !is_variable_name(name)) {
                    return Err(format!(
                        "{place}: `{name}` cannot be the name of a variable"
                    ));
                }
            }
            let values = feed.names.iter().map(|name| members.get(name));
            let values: Option<Vec<Value>> =
                values.map(|value| value.map(Value::from_json)).collect();
            match values.filter(|values| values.len() == members.len()) {
                Some(values) => feed.rows.push(values),
                None => {
                    let names = feed.names.join(", ");
                    return Err(format!("{place}: expected the names {names}"));
                }
            }
        }
        match feed.rows.is_empty() {
            true => Err("1: expected at least one object".to_owned()),
            false => Ok(feed),
        }
    }

    /// Parses CSV (RFC 4180): a header line with the names of variables, then rows. The error says
    /// the line.
    pub(crate) fn parse(text: &str) -> Result<Feed, String> {
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

/// Returns records, each with the number of the first line; blank lines are left out.
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
    pub(crate) fn of(rows: impl Iterator<Item = u32>) -> FreeRows {
        FreeRows {
            rows: Mutex::new(rows.collect()),
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
    fn rows_are_read_from_json() {
        let check = |file: &str, text: &str, expected: Result<Vec<Vec<Value>>, &str>| {
            let feed = Feed::of_file(Path::new(file), text);
            let rows = feed.map(|feed| feed.rows);
            assert_eq!(rows, expected.map_err(str::to_owned), "{text}");
        };
        let text = |text: &str| Value::Text(text.to_owned());
        let list = Value::List(vec![Value::Integer(1)]);
        check(
            "a.json",
            "[{\"a\": \"007\", \"b\": [1]}, {\"b\": [1], \"a\": \"x\"}]",
            Ok(vec![vec![text("007"), list.clone()], vec![text("x"), list]]),
        );
        check(
            "a.jsonl",
            "{\"a\": 1}\n\n{\"a\": 2}\n",
            Ok(vec![vec![Value::Integer(1)], vec![Value::Integer(2)]]),
        );
        check("a.json", "[1]", Err("item 0: expected an object"));
        check("a.json", "[]", Err("1: expected at least one object"));
        check(
            "a.jsonl",
            "{\"a\": 1}\n{\"b\": 2}",
            Err("2: expected the names a"),
        );
        check(
            "a.json",
            "[{\"a b\": 1}]",
            Err("item 0: `a b` cannot be the name of a variable"),
        );
    }

    #[test]
    fn a_row_is_in_one_hand_at_a_time() {
        let free = FreeRows::of(0..2);
        assert_eq!(
            (free.take(), free.take(), free.take()),
            (Some(0), Some(1), None)
        );
        free.give_back(1);
        free.give_back(0);
        assert_eq!((free.take(), free.take()), (Some(1), Some(0)));
    }
}
