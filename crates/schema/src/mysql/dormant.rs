//! Statements adapted for execution on a scratch database.

use super::cursor::Cursor;
use super::expr::lexed;
use super::parser;

/// Words of which the first behind the schedule says where an event's status stands, or would
/// stand.
const BEHIND_SCHEDULE: [&str; 4] = ["ENABLE", "DISABLE", "COMMENT", "DO"];

/// Disables an event, since a due one runs on creation; returns any other statement unchanged.
pub fn dormant(sql: &str) -> String {
    let tokens = lexed(sql);
    let mut cursor = Cursor::new(&tokens, sql.len());
    let is_event = cursor.eat("CREATE") && parser::head(&mut cursor).is_ok() && cursor.eat("EVENT");
    // What stands before may be a name that looks like one of the words.
    let mut rest = cursor
        .rest()
        .iter()
        .skip_while(|token| !token.is("SCHEDULE"));
    let status = rest.find(|token| BEHIND_SCHEDULE.iter().any(|word| token.is(word)));
    let mut dormant = sql.to_owned();
    match status.filter(|_| is_event) {
        Some(token) if token.is("ENABLE") => {
            dormant.replace_range(token.at..token.end(), "DISABLE");
        }
        Some(token) if !token.is("DISABLE") => dormant.insert_str(token.at, "DISABLE "),
        _ => {}
    }
    dormant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_do_nothing() {
        let check = |sql: &str, expected: &str| assert_eq!(dormant(sql), expected);
        check(
            "CREATE DEFINER=`a`@`b` EVENT comment ON SCHEDULE EVERY 1 DAY DO DELETE FROM t",
            "CREATE DEFINER=`a`@`b` EVENT comment ON SCHEDULE EVERY 1 DAY DISABLE DO DELETE FROM t",
        );
        check(
            "create event e on schedule at now() on completion preserve enable comment 'x' do begin end",
            "create event e on schedule at now() on completion preserve DISABLE comment 'x' do begin end",
        );
        check(
            "CREATE EVENT e ON SCHEDULE AT now() COMMENT 'ENABLE' DO SET @a = 1",
            "CREATE EVENT e ON SCHEDULE AT now() DISABLE COMMENT 'ENABLE' DO SET @a = 1",
        );
        for kept in [
            "CREATE EVENT e ON SCHEDULE AT now() DISABLE ON SLAVE DO SET @a = 1",
            "CREATE TABLE event (schedule int COMMENT 'x')",
            "CREATE TRIGGER t BEFORE INSERT ON event FOR EACH ROW SET @a = 1",
        ] {
            check(kept, kept);
        }
    }
}
