//! Views, triggers and events.

use crate::mysql::cursor::Cursor;
use crate::mysql::expr::Expr;
use crate::mysql::lexer::{Fault, Kind, Token, unquoted};
use crate::mysql::model::{Event, Trigger, View};

/// What stands between CREATE and the kind of object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub definer: Option<String>,
    pub algorithm: Option<String>,
    pub security: Option<String>,
}

/// Reads from behind CREATE up to the kind of object, which is next then.
pub(crate) fn head(cursor: &mut Cursor<'_, '_>) -> Result<Head, Fault> {
    let mut head = Head::default();
    loop {
        if cursor.eat_seq(&["OR", "REPLACE"]) || cursor.eat("TEMPORARY") || cursor.eat("AGGREGATE")
        {
        } else if cursor.eat("ALGORITHM") {
            cursor.expect_op("=")?;
            head.algorithm = Some(cursor.any()?.text.to_uppercase());
        } else if cursor.eat("DEFINER") {
            cursor.expect_op("=")?;
            head.definer = definer(cursor)?;
        } else if cursor.eat_seq(&["SQL", "SECURITY"]) {
            head.security = Some(cursor.any()?.text.to_uppercase());
        } else {
            return Ok(head);
        }
    }
}

/// `user@host` in one spelling; `None` for whoever executes.
pub(super) fn definer(cursor: &mut Cursor<'_, '_>) -> Result<Option<String>, Fault> {
    if cursor.eat("CURRENT_USER") {
        if cursor.eat_op("(") {
            cursor.expect_op(")")?;
        }
        return Ok(None);
    }
    let user = cursor.word_or_string()?;
    let host = cursor.peek().filter(|token| token.kind == Kind::Param);
    let Some(host) = host else {
        return Ok(Some(format!("`{user}`@`%`")));
    };
    cursor.at += 1;
    let host = host.text.trim_start_matches('@');
    let host = match host.starts_with(['`', '\'', '"']) {
        true => unquoted(host),
        false => host.to_owned(),
    };
    Ok(Some(format!("`{user}`@`{host}`")))
}

/// From behind VIEW on.
pub(crate) fn view(
    cursor: &mut Cursor<'_, '_>,
    head: Head,
    database: Option<&str>,
) -> Result<View, Fault> {
    cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
    let (_, name) = cursor.qualified()?;
    let mut view = View {
        name,
        algorithm: head.algorithm.unwrap_or_else(|| "UNDEFINED".to_owned()),
        definer: head.definer,
        security: head.security,
        ..View::default()
    };
    if cursor.is_op("(") {
        view.columns = cursor.names()?;
    }
    cursor.expect("AS")?;
    view.tables = mentioned(cursor.rest());
    view.body = Expr::query(cursor.rest(), &view.columns, database);
    cursor.at += cursor.rest().len();
    Ok(view)
}

/// All names in the tokens, in lower case; includes all tables and views read.
fn mentioned(tokens: &[Token<'_>]) -> Vec<String> {
    let names = tokens.iter().filter_map(|token| match token.kind {
        Kind::Word => Some(token.text.to_lowercase()),
        Kind::Quoted => Some(unquoted(token.text).to_lowercase()),
        _ => None,
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// From behind TRIGGER on.
pub(crate) fn trigger(
    cursor: &mut Cursor<'_, '_>,
    head: Head,
    database: Option<&str>,
) -> Result<Trigger, Fault> {
    cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
    let (_, name) = cursor.qualified()?;
    let when = cursor.any()?.text.to_uppercase();
    let what = cursor.any()?.text.to_uppercase();
    cursor.expect("ON")?;
    let (_, table) = cursor.qualified()?;
    for word in ["FOR", "EACH", "ROW"] {
        cursor.expect(word)?;
    }
    let mut trigger = Trigger {
        name,
        table,
        definer: head.definer,
        event: format!("{when} {what}"),
        ..Trigger::default()
    };
    if cursor.is_any(&["FOLLOWS", "PRECEDES"]) {
        let word = cursor.any()?.text.to_uppercase();
        trigger.order = format!("{word} {}", cursor.name()?.text);
    }
    trigger.body = Expr::statement(cursor.rest(), database);
    cursor.at += cursor.rest().len();
    Ok(trigger)
}

/// From behind EVENT on.
pub(crate) fn event(
    cursor: &mut Cursor<'_, '_>,
    head: Head,
    database: Option<&str>,
) -> Result<Event, Fault> {
    cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
    let (_, name) = cursor.qualified()?;
    let mut event = Event {
        name,
        definer: head.definer,
        status: "ENABLE".to_owned(),
        ..Event::default()
    };
    cursor.expect("ON")?;
    cursor.expect("SCHEDULE")?;
    let start = cursor.at;
    while !cursor.is_done()
        && !cursor.is_any(&["STARTS", "ENDS", "ON", "ENABLE", "DISABLE", "COMMENT", "DO"])
    {
        cursor.at += 1;
    }
    event.schedule = Expr::statement(cursor.since(start), None);
    let start = cursor.at;
    event.has_start = cursor.is("STARTS");
    while !cursor.is_done() && !cursor.is_any(&["ON", "ENABLE", "DISABLE", "COMMENT", "DO"]) {
        cursor.at += 1;
    }
    event.bounds = Expr::statement(cursor.since(start), None);
    if cursor.eat_seq(&["ON", "COMPLETION"]) {
        event.is_preserved = !cursor.eat("NOT");
        cursor.expect("PRESERVE")?;
    }
    if cursor.eat("ENABLE") {
    } else if cursor.eat("DISABLE") {
        event.status = "DISABLE".to_owned();
        if cursor.eat("ON") {
            cursor.any()?;
            event.status.push_str(" ON SLAVE");
        }
    }
    if cursor.eat("COMMENT") {
        event.comment = cursor.string()?;
    }
    cursor.expect("DO")?;
    event.body = Expr::statement(cursor.rest(), database);
    cursor.at += cursor.rest().len();
    Ok(event)
}
