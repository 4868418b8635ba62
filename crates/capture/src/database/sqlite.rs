//! SQLite: facts about the file from a second connection. `synchronous` and `busy_timeout` belong
//! to the app's own connections; where the app sets them by a statement, the recording has that
//! statement.

use super::{Readable, Reading, refused};
pub(super) use crate::explain::sqlite::Sqlite;

impl Readable for Sqlite {
    fn read(&mut self) -> Reading {
        let mut reading = Reading::default();
        for name in ["journal_mode", "page_size", "page_count", "auto_vacuum"] {
            let value = self
                .database
                .pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
            match value {
                Ok(value) => reading
                    .settings
                    .extend(text(value).map(|text| (name.to_owned(), text))),
                Err(error) => {
                    let code = error.sqlite_error_code();
                    let reason = code.map_or("driver".to_owned(), |code| format!("{code:?}"));
                    reading.notes.push(refused(name, reason));
                }
            }
        }
        reading
    }
}

fn text(value: rusqlite::types::Value) -> Option<String> {
    match value {
        rusqlite::types::Value::Text(text) => Some(text),
        rusqlite::types::Value::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}
