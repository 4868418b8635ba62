//! Output of the drop-in names, letter for letter as by sqldef.

use schema::{Note, NoteKind, Plan, Statement};
use schema_db::apply::Step;

use super::Tool;

pub(super) const NOTHING: &str = "-- Nothing is modified --\n";
pub(super) const EMPTY: &str = "-- No table exists --\n";

/// The head of a plan for display only.
pub(super) const DRY_RUN: &str = "-- dry run --\n";
/// The head of a plan for execution.
pub(super) const APPLY: &str = "-- Apply --\n";

/// Prints the unparsed statements like `hakaru schema`; notes on deprecated spellings are sqldef's,
/// without the place.
pub(super) fn say_notes(notes: Vec<Note>) {
    let (deprecated, others): (Vec<Note>, Vec<Note>) = notes
        .into_iter()
        .partition(|note| note.kind == NoteKind::Deprecated);
    for note in deprecated {
        console::notice(format!("-- WARNING: {}", note.text));
    }
    schema_commands::say_notes(&others);
}

/// A plan in sqldef's order: what a transaction takes, then the rest.
pub(super) struct Script {
    /// Lines, each with the executing step; `None` for a line without execution.
    lines: Vec<(String, Option<usize>)>,
    pub(super) steps: Vec<Step>,
    shown: usize,
}

impl Script {
    pub(super) fn new(tool: Tool, plan: &Plan, before: Option<&str>, transaction: bool) -> Script {
        let mut script = Script {
            lines: Vec::new(),
            steps: Vec::new(),
            shown: 0,
        };
        let stands_alone = |statement: &&Statement| {
            !transaction || (tool == Tool::Psqldef && !is_transactional(&statement.sql))
        };
        let (alone, inside): (Vec<&Statement>, Vec<&Statement>) =
            plan.statements.iter().partition(stands_alone);
        let is_empty = plan.statements.is_empty();
        let before = before.filter(|_| !is_empty);
        let framed = !inside.is_empty() || before.is_some();
        if framed {
            script.say("BEGIN;\n");
        }
        if let Some(before) = before {
            script.step(format!("{before}\n"), of_text(before));
        }
        inside
            .into_iter()
            .for_each(|statement| script.statement(statement, true));
        if framed {
            script.say("COMMIT;\n");
        }
        alone
            .into_iter()
            .for_each(|statement| script.statement(statement, false));
        script
    }

    /// Adds what an earlier run took away and did not make again.
    pub(super) fn restore(&mut self, steps: Vec<Step>) {
        for step in steps {
            self.step(format!("{};\n", step.sql), step);
        }
    }

    /// Whether there is nothing to say.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The whole text.
    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|(line, _)| line.as_str()).collect()
    }

    /// Lines to show at the start of a step: everything up to the step's own line, not shown
    /// before.
    pub(super) fn up_to(&mut self, step: usize) -> String {
        let place = self.lines.iter().position(|(_, each)| *each == Some(step));
        self.show(place.map_or(self.shown, |place| place + 1))
    }

    /// Lines not shown before.
    pub(super) fn remainder(&mut self) -> String {
        self.show(self.lines.len())
    }

    fn show(&mut self, end: usize) -> String {
        let start = std::mem::replace(&mut self.shown, end);
        let lines = self.lines.get(start..end).unwrap_or_default();
        lines.iter().map(|(line, _)| line.as_str()).collect()
    }

    fn say(&mut self, line: &str) {
        self.lines.push((line.to_owned(), None));
    }

    fn step(&mut self, line: String, step: Step) {
        self.lines.push((line, Some(self.steps.len())));
        self.steps.push(step);
    }

    fn statement(&mut self, statement: &Statement, transactional: bool) {
        if statement.held_back.is_some() {
            let sql = statement.sql.replace('\n', "\n-- ");
            return self.say(&format!("-- Skipped: {sql};\n"));
        }
        let step = Step {
            transactional,
            ..Step::of(statement)
        };
        self.step(format!("{};\n", statement.sql), step);
    }
}

/// sqldef looks at the words, and so do we, to end up with the same order.
fn is_transactional(sql: &str) -> bool {
    let sql = sql.to_ascii_lowercase();
    !sql.contains("concurrently") && !sql.contains("async")
}

fn of_text(sql: &str) -> Step {
    Step {
        sql: sql.to_owned(),
        transactional: true,
        verb: "execute".to_owned(),
        kind: "statement".to_owned(),
        name: "of --before-apply".to_owned(),
        ..Step::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{HeldBack, Object, ObjectKind, Verb};

    fn statement(sql: &str, is_held: bool) -> Statement {
        Statement {
            sql: sql.to_owned(),
            object: Object {
                kind: ObjectKind::Table,
                name: "a".to_owned(),
            },
            hazards: Vec::new(),
            verb: if is_held { Verb::Drop } else { Verb::Aside },
            unasked: false,
            needs: Vec::new(),
            held_back: is_held.then_some(HeldBack::Destructive),
            online: schema::plan::Online::default(),
        }
    }

    fn plan() -> Plan {
        Plan {
            statements: vec![
                statement("CREATE INDEX CONCURRENTLY i ON a (b)", false),
                statement("DROP TABLE c", true),
                statement("CREATE TABLE b (\n  id int\n)", false),
            ],
        }
    }

    #[test]
    fn what_a_transaction_does_not_take_comes_after_it() {
        let mut script = Script::new(Tool::Psqldef, &plan(), Some("SET a = 1;"), true);
        assert_eq!(
            script.text(),
            "BEGIN;\nSET a = 1;\n-- Skipped: DROP TABLE c;\nCREATE TABLE b (\n  id int\n);\nCOMMIT;\n\
             CREATE INDEX CONCURRENTLY i ON a (b);\n"
        );
        assert_eq!(script.up_to(0), "BEGIN;\nSET a = 1;\n");
        assert_eq!(
            script.up_to(1),
            "-- Skipped: DROP TABLE c;\nCREATE TABLE b (\n  id int\n);\n"
        );
        assert_eq!(
            script.remainder(),
            "COMMIT;\nCREATE INDEX CONCURRENTLY i ON a (b);\n"
        );
    }

    #[test]
    fn without_a_transaction_nothing_frames_the_statements() {
        let script = Script::new(Tool::Psqldef, &plan(), None, false);
        assert!(!script.text().contains("BEGIN"));
        assert!(script.steps.iter().all(|step| !step.transactional));
    }
}
