//! A plan as text: SQL for a client, with the hazards of each statement above.

use std::fmt::Write as _;

use figures::counted;
use schema::plan::offline_permission;
use schema::{Hazard, HeldBack, Plan, Statement};
use words::{Text, text};

use super::online::Sizes;

/// Colours of a terminal: dim, warning, danger.
const DIM: &str = "2";
const WARNING: &str = "33";
const DANGER: &str = "31";

/// The whole plan.
pub(super) fn plan(plan: &Plan, sizes: &Sizes, colour: bool) -> String {
    if plan.statements.is_empty() {
        return "-- nothing to do\n".to_owned();
    }
    let paint = Paint { colour };
    let total = plan.statements.len();
    let mut text = String::new();
    for (index, statement) in plan.statements.iter().enumerate() {
        let about = format!("-- {}/{total} {}", index + 1, what(statement));
        let _ = writeln!(text, "{}", paint.with(DIM, &about));
        if let Some((table, size)) = sizes.of(&statement.online) {
            let line = format!("--   table: {table}, {}", size.shown());
            let _ = writeln!(text, "{}", paint.with(DIM, &line));
        }
        for hazard in &statement.hazards {
            let line = format!("--   {}", sentence(hazard).replace('\n', "\n--   "));
            let _ = writeln!(text, "{}", paint.with(colour_of(hazard), &line));
        }
        match &statement.held_back {
            None => {
                let _ = writeln!(text, "{};\n", statement.sql);
            }
            Some(why) => {
                let line = format!("--   held back: {}", reason(statement, why));
                let _ = writeln!(text, "{}", paint.with(DANGER, &line));
                let _ = writeln!(text, "-- {};\n", statement.sql.replace('\n', "\n-- "));
            }
        }
    }
    text
}

/// Number of statements, in one line.
pub(super) fn summary(plan: &Plan) -> Text {
    let (all, applied) = (plan.statements.len(), plan.applied().count());
    match (all, all - applied) {
        (0, _) => text!("nothing to do: the two schemas are the same"),
        (_, 0) => text!("{statements}, none held back", statements = count(all)),
        (_, held) => text!(
            "{statements} to apply, {held} held back; each says above how to allow it",
            statements = count(applied),
            held
        ),
    }
}

fn count(statements: usize) -> Text {
    counted!(statements as u64, "statement")
}

/// Verb and object, such as `drop column users.nick`.
pub(super) fn what(statement: &Statement) -> String {
    let object = &statement.object;
    format!("{} {} {}", statement.verb.word(), object.kind, object.name)
}

fn reason(statement: &Statement, why: &HeldBack) -> String {
    match why {
        HeldBack::Destructive => {
            format!("to apply it, say --allow {}", permission(statement))
        }
        HeldBack::Offline => format!(
            "others would wait; to apply it all the same, say --allow {}",
            offline_permission(statement)
        ),
        HeldBack::Needs(index) => format!("it needs statement {}, which is held back", index + 1),
    }
}

/// The permission for the statement, in the words of `--allow`.
pub fn permission(statement: &Statement) -> String {
    let object = &statement.object;
    format!("{}-{}:{}", statement.verb.word(), object.kind, object.name)
}

fn colour_of(hazard: &Hazard) -> &'static str {
    match hazard {
        Hazard::DataLoss(_) | Hazard::LossyCast(_) | Hazard::Opens(_) => DANGER,
        _ => WARNING,
    }
}

fn sentence(hazard: &Hazard) -> String {
    match hazard {
        Hazard::DataLoss(what) => format!("loses data: {what}"),
        Hazard::LossyCast(what) => format!("may change values: {what}"),
        Hazard::Drop(what) => format!("drops: {what}"),
        Hazard::Opens(what) => format!("opens access: {what}"),
        Hazard::Rewrite(what) => format!("rewrites: {what}"),
        Hazard::Lock(lock) => match meaning(lock) {
            Some(meaning) => format!("locks: {lock} ({meaning})"),
            None => format!("locks: {lock}"),
        },
        Hazard::MayFail { reason, query } => match query {
            Some(query) => format!("may fail: {reason}; rows in the way:\n  {query}"),
            None => format!("may fail: {reason}"),
        },
        Hazard::NotTransactional => {
            "stands alone: cannot be rolled back with the others".to_owned()
        }
        Hazard::Offline(why) => format!("no online way: {why}"),
    }
}

/// Effect of a lock on others, for names in need of an explanation.
fn meaning(lock: &str) -> Option<&'static str> {
    Some(match lock {
        "ACCESS EXCLUSIVE" | "EXCLUSIVE" => "others can neither read nor write meanwhile",
        "SHARE" | "SHARE ROW EXCLUSIVE" => "others can read, not write, meanwhile",
        "SHARE UPDATE EXCLUSIVE" | "NONE" => "others can read and write meanwhile",
        _ => return None,
    })
}

struct Paint {
    colour: bool,
}

impl Paint {
    fn with(&self, code: &str, text: &str) -> String {
        match self.colour {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{Object, ObjectKind, Verb};

    fn statement(verb: Verb, sql: &str) -> Statement {
        Statement {
            sql: sql.to_owned(),
            object: Object {
                kind: ObjectKind::Table,
                name: "a".to_owned(),
            },
            hazards: Vec::new(),
            verb,
            unasked: false,
            needs: Vec::new(),
            held_back: None,
            online: schema::plan::Online::default(),
        }
    }

    #[test]
    fn what_is_held_back_is_a_comment_that_says_how_to_allow_it() {
        let dropped = Statement {
            hazards: vec![Hazard::DataLoss("all rows of a".to_owned())],
            held_back: Some(HeldBack::Destructive),
            ..statement(Verb::Drop, "DROP TABLE a")
        };
        let created = Statement {
            held_back: Some(HeldBack::Needs(0)),
            ..statement(Verb::Create, "CREATE TABLE a (\n  b\n)")
        };
        let statements = vec![dropped, created];
        let plan_ = Plan { statements };
        assert_eq!(
            plan(&plan_, &Sizes::default(), false),
            "-- 1/2 drop table a\n--   loses data: all rows of a\n\
             --   held back: to apply it, say --allow drop-table:a\n-- DROP TABLE a;\n\n\
             -- 2/2 create table a\n--   held back: it needs statement 1, which is held back\n\
             -- CREATE TABLE a (\n--   b\n-- );\n\n"
        );
        assert!(
            summary(&plan_)
                .to_string()
                .starts_with("0 statements to apply, 2 held back")
        );
    }

    #[test]
    fn a_plan_can_be_piped_into_a_client() {
        let statements = vec![Statement {
            hazards: vec![Hazard::MayFail {
                reason: "b must be unique".to_owned(),
                query: Some("SELECT b\nFROM a".to_owned()),
            }],
            ..statement(Verb::Create, "CREATE UNIQUE INDEX i ON a (b)")
        }];
        let text = plan(&Plan { statements }, &Sizes::default(), false);
        let code: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("--") && !line.is_empty())
            .collect();
        assert_eq!(code, ["CREATE UNIQUE INDEX i ON a (b);"]);
        assert!(!text.contains('\u{1b}'));
    }
}
