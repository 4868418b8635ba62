//! MySQL and MariaDB: texts are split into statements as servers and their client do, and each object keeps the
//! statements that make it.
//!
//! What two schemas have in common is told by a normal form of the tokens. Objects that one of them lacks are
//! created and dropped; a view, trigger or event that differs is made anew. A table that differs is refused by
//! name: statements that alter one are not worked out here yet, and no plan is better than one that leaves it out.

mod lex;
mod normal;
mod object;
mod split;

use crate::{
    Hazard, Note, NoteKind, Object, Plan, PlanError, PlanOptions, Server, Source, Statement,
    SyntaxError,
};
use lex::{Executes, backticked};
use object::{KINDS, Role};
use split::Splitter;

/// The schema of one database.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    entries: Vec<Entry>,
}

/// One object.
#[derive(Clone, Debug)]
struct Entry {
    object: Object,
    /// As written: what makes it, then what changes it.
    statements: Vec<String>,
    /// The same in normal form.
    norm: String,
}

/// Letters of a statement that a note shows.
const NOTE_LETTERS: usize = 60;

/// Reads SQL texts.
///
/// # Errors
/// See [`crate::read`].
pub fn read(sources: &[Source], server: &Server) -> Result<(Schema, Vec<Note>), SyntaxError> {
    let mut schema = Schema::default();
    let mut notes = Vec::new();
    for source in sources {
        read_one(source, server, &mut schema, &mut notes)?;
    }
    Ok((schema, notes))
}

fn read_one(
    source: &Source,
    server: &Server,
    schema: &mut Schema,
    notes: &mut Vec<Note>,
) -> Result<(), SyntaxError> {
    let mut splitter = Splitter::new(&source.text, Executes::of(server));
    let mut statement = split::Statement::default();
    let mut line = 1;
    let mut counted = 0;
    loop {
        let is_more = splitter.next(&mut statement);
        if !is_more.map_err(|fault| SyntaxError::at(source, fault.at, fault.message))? {
            return Ok(());
        }
        let start = statement.tokens.first().map_or(0, |token| token.at);
        line += source.text[counted..start].matches('\n').count();
        counted = start;
        let text = normal::text(&source.text, &statement.tokens);
        let norm = || normal::canonical(&statement.tokens, server.database.as_deref());
        let kind = match object::role(&statement.tokens) {
            Role::Makes(kind, name) => {
                schema.make(Object { kind, name }, text, norm());
                continue;
            }
            Role::Changes(table) if schema.change(&table, &text, &norm()) => continue,
            Role::Removes(kind, name) => {
                schema.entries.retain(|entry| {
                    entry.object
                        != Object {
                            kind,
                            name: name.clone(),
                        }
                });
                continue;
            }
            Role::Changes(_) | Role::Unknown => NoteKind::Opaque,
            Role::Data => NoteKind::Data,
            Role::Setting => NoteKind::Setting,
        };
        notes.push(Note {
            source: source.name.clone(),
            line,
            kind,
            text: text.chars().take(NOTE_LETTERS).collect(),
        });
    }
}

/// See [`crate::plan`].
///
/// # Errors
/// When a table differs; see also [`crate::plan`].
pub fn plan(from: &Schema, to: &Schema, _options: &PlanOptions) -> Result<Plan, PlanError> {
    let mut plan = Plan::default();
    for entry in to.in_order() {
        match from.find(&entry.object) {
            None => plan.statements.extend(entry.created()),
            Some(known) if known.norm == entry.norm => {}
            Some(_) if matches!(entry.object.kind, "table" | "sequence") => {
                return Err(PlanError {
                    message: format!(
                        "{} {} differs, and altering one on MySQL or MariaDB is not worked out here; \
                         alter it by hand, or leave it out of the comparison",
                        entry.object.kind, entry.object.name
                    ),
                });
            }
            Some(_) => {
                plan.statements.push(entry.dropped(false));
                plan.statements.extend(entry.created());
            }
        }
    }
    let mut gone: Vec<&Entry> = from.in_order();
    gone.retain(|entry| to.find(&entry.object).is_none());
    let dropped = gone.iter().rev().map(|entry| entry.dropped(true));
    plan.statements.extend(dropped);
    Ok(plan)
}

impl Entry {
    fn created(&self) -> impl Iterator<Item = Statement> {
        self.statements.iter().map(|sql| Statement {
            sql: sql.clone(),
            object: self.object.clone(),
            hazards: vec![Hazard::NotTransactional],
            verb: "create",
            destructive: false,
            needs: Vec::new(),
            held_back: None,
        })
    }

    fn dropped(&self, destructive: bool) -> Statement {
        let Object { kind, name } = &self.object;
        let lost = format!("{kind} {name}");
        Statement {
            sql: format!("DROP {} {}", kind.to_ascii_uppercase(), backticked(name)),
            object: self.object.clone(),
            hazards: vec![
                match *kind {
                    "table" | "sequence" => Hazard::DataLoss(lost),
                    _ => Hazard::Drop(lost),
                },
                Hazard::NotTransactional,
            ],
            verb: "drop",
            destructive,
            needs: Vec::new(),
            held_back: None,
        }
    }
}

impl Schema {
    fn find(&self, object: &Object) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.object == *object)
    }

    /// The last of two statements that make the same object counts, as with `CREATE OR REPLACE`.
    fn make(&mut self, object: Object, text: String, norm: String) {
        self.entries.retain(|entry| entry.object != object);
        self.entries.push(Entry {
            object,
            statements: vec![text],
            norm,
        });
    }

    /// Whether the table is there.
    fn change(&mut self, table: &str, text: &str, norm: &str) -> bool {
        let mut entries = self.entries.iter_mut();
        let Some(entry) =
            entries.find(|entry| entry.object.kind == "table" && entry.object.name == table)
        else {
            return false;
        };
        entry.statements.push(text.to_owned());
        entry.norm.push_str(" ; ");
        entry.norm.push_str(norm);
        true
    }

    /// By kind, then as they were read.
    fn in_order(&self) -> Vec<&Entry> {
        let rank = |entry: &&Entry| {
            KINDS
                .iter()
                .position(|(kind, _)| *kind == entry.object.kind)
        };
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_by_key(rank);
        entries
    }

    /// See [`crate::Schema::statements`].
    pub fn statements(&self) -> Vec<String> {
        let entries = self.in_order().into_iter();
        entries.flat_map(|entry| entry.statements.clone()).collect()
    }

    /// See [`crate::Schema::adopt`].
    pub fn adopt(&mut self, stored: &Schema) {
        for entry in &mut self.entries {
            if let Some(stored) = stored.find(&entry.object) {
                entry.norm.clone_from(&stored.norm);
            }
        }
    }

    /// See [`crate::Schema::retain`].
    pub fn retain(&mut self, keep: &dyn Fn(&Object) -> bool) {
        self.entries.retain(|entry| keep(&entry.object));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Allowed, Product};

    fn schema(sql: &str) -> (Schema, Vec<Note>) {
        let source = Source {
            name: "-".to_owned(),
            text: sql.to_owned(),
        };
        read(&[source], &Server::unknown(Product::MariaDb)).unwrap()
    }

    fn check(from: &str, to: &str, expected: &[&str]) {
        let (from, to) = (schema(from).0, schema(to).0);
        let plan = plan(&from, &to, &PlanOptions::default()).unwrap();
        let found: Vec<&str> = plan
            .statements
            .iter()
            .map(|step| step.sql.as_str())
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn objects_come_and_go() {
        let table = "CREATE TABLE `t` (id int)";
        let view = "CREATE VIEW v AS SELECT id FROM t";
        check("", &format!("{view};\n{table};"), &[table, view]);
        check(
            &format!("{table};{view}"),
            "",
            &["DROP VIEW `v`", "DROP TABLE `t`"],
        );
        check(table, "create table t(id INT) -- the same", &[]);
        let other = "CREATE VIEW v AS SELECT 1";
        check(
            &format!("{table};{view}"),
            &format!("{table};{other}"),
            &["DROP VIEW `v`", other],
        );
    }

    #[test]
    fn dropping_waits_for_permission() {
        let (from, to) = (schema("CREATE TABLE t (id int)").0, schema("").0);
        let mut plan = plan(&from, &to, &PlanOptions::default()).unwrap();
        plan.hold_back(&Allowed::default());
        assert_eq!(plan.applied().count(), 0);
    }

    #[test]
    fn a_table_that_differs_is_refused_by_name() {
        let (from, to) = (
            schema("CREATE TABLE t (id int)").0,
            schema("CREATE TABLE t (id bigint)").0,
        );
        let error = plan(&from, &to, &PlanOptions::default()).unwrap_err();
        assert!(error.message.starts_with("table t differs"), "{error}");
    }

    #[test]
    fn dumps_are_read_as_the_client_does() {
        let dump = "/*!40101 SET NAMES utf8 */;
            DROP TABLE IF EXISTS `t`;
            CREATE TABLE `t` (id int);
            INSERT INTO t VALUES (';');
            DELIMITER ;;
            /*!50003 CREATE*/ /*!50017 DEFINER=`root`@`%`*/ /*!50003 TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; END */;;
            DELIMITER ;
            CREATE INDEX i ON t (id);
            GRANT ALL ON t TO me;";
        let (schema, notes) = schema(dump);
        let expected = [
            "CREATE TABLE `t` (id int)",
            "CREATE INDEX i ON t (id)",
            "CREATE DEFINER=`root`@`%` TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; END",
        ];
        assert_eq!(schema.statements(), expected);
        let kinds: Vec<(usize, NoteKind)> =
            notes.iter().map(|note| (note.line, note.kind)).collect();
        assert_eq!(
            kinds,
            [
                (1, NoteKind::Setting),
                (4, NoteKind::Data),
                (9, NoteKind::Opaque)
            ]
        );
    }

    #[test]
    fn what_does_not_end_has_a_place() {
        let source = Source {
            name: "a.sql".to_owned(),
            text: "CREATE TABLE t (id int);\n  SELECT 'x".to_owned(),
        };
        let error = read(&[source], &Server::unknown(Product::Mysql)).unwrap_err();
        assert_eq!((error.line, error.column), (2, 10));
    }
}
