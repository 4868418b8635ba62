//! Texts into a schema: statement after statement is read, and folded into what is there.

mod alter;
mod grants;
mod kinds;

use super::Schema;
use super::cursor::Cursor;
use super::expr;
use super::lexer::{Executes, Fault, Token};
use super::model::{Opaque, Table};
use super::normal::{self, routine};
use super::parser::{self, Created};
use super::split::{Splitter, Statement};
use crate::{Note, NoteKind, ObjectKind, Product, Server, Source, SyntaxError};
use kinds::{DATA, SETTINGS, dropped_kind, opaque_kind};

/// Characters of a statement shown in a note.
const NOTE_LETTERS: usize = 60;

/// What became of a statement.
enum Outcome {
    Done,
    Noted(NoteKind),
}

/// Reads all sources into one schema.
pub(super) fn read(
    sources: &[Source],
    server: &Server,
) -> Result<(Schema, Vec<Note>), SyntaxError> {
    let mut schema = Schema {
        is_mariadb: server.product == Product::MariaDb,
        has_lower_names: server.lower_case_tables,
        ..Schema::default()
    };
    let mut notes = Vec::new();
    for source in sources {
        read_source(source, server, &mut schema, &mut notes)?;
    }
    Ok((schema, notes))
}

fn read_source(
    source: &Source,
    server: &Server,
    schema: &mut Schema,
    notes: &mut Vec<Note>,
) -> Result<(), SyntaxError> {
    let mut splitter = Splitter::new(&source.text, Executes::of(server));
    let mut statement = Statement::default();
    let (mut line, mut counted) = (1, 0);
    let mut database = server.database.clone();
    loop {
        let is_more = splitter.next(&mut statement);
        if !is_more.map_err(|fault| SyntaxError::at(source, fault.at, fault.message))? {
            return Ok(());
        }
        let (start, end) = statement.span();
        line += source.text[counted..start].matches('\n').count();
        counted = start;
        let renames = statement.renames.iter();
        for _ in renames.filter(|(_, renamed)| renamed.is_deprecated) {
            notes.push(Note {
                source: source.name.clone(),
                line,
                kind: NoteKind::Deprecated,
                text: "@rename is deprecated. Please use @renamed instead.".to_owned(),
            });
        }
        if let [first, ..] = statement.tokens.as_slice()
            && first.is("USE")
        {
            database = Some(used(&source.text[first.end()..]));
        }
        let mut reader = Reader {
            server,
            database: database.as_deref(),
            schema,
            statement: &statement,
            text: &source.text,
        };
        let outcome = reader.statement().map_err(|fault| SyntaxError {
            statement: source.text[start..end].to_owned(),
            ..SyntaxError::at(source, fault.at, fault.message)
        })?;
        if let Outcome::Noted(kind) = outcome {
            let drops = statement
                .tokens
                .first()
                .is_some_and(|first| first.is("DROP"));
            if kind == NoteKind::Opaque && !drops {
                let text = written(&source.text, &statement.tokens, None);
                schema.unread.push(text);
            }
            notes.push(Note {
                source: source.name.clone(),
                line,
                kind,
                text: source.text[start..end].chars().take(NOTE_LETTERS).collect(),
            });
        }
    }
}

/// Name behind USE, ended by the line if not by `;`.
fn used(rest: &str) -> String {
    let line = rest.lines().next().unwrap_or_default();
    let name = line.split(';').next().unwrap_or_default();
    name.trim().trim_matches('`').to_owned()
}

struct Reader<'r, 's> {
    server: &'r Server,
    /// Database of the text, a possible qualifier of names.
    database: Option<&'r str>,
    schema: &'r mut Schema,
    statement: &'r Statement<'s>,
    text: &'s str,
}

impl<'s> Reader<'_, 's> {
    fn statement(&mut self) -> Result<Outcome, Fault> {
        let tokens = &self.statement.tokens;
        let mut cursor = Cursor::new(tokens, self.statement.span().1);
        let is_database = tokens
            .get(1)
            .is_some_and(|second| second.is("DATABASE") || second.is("SCHEMA"));
        // Settings last as long as a session, but these.
        if cursor.is_seq(&["SET", "DEFAULT", "ROLE"]) {
            return Ok(Outcome::Noted(NoteKind::Opaque));
        }
        if is_database || cursor.is_any(&SETTINGS) {
            return Ok(Outcome::Noted(NoteKind::Setting));
        }
        if self.is_of_foreign_table(cursor) {
            return Ok(Outcome::Noted(NoteKind::Opaque));
        }
        if cursor.is_any(&DATA) {
            return Ok(Outcome::Noted(NoteKind::Data));
        }
        if cursor.eat("CREATE") {
            return self.create(cursor);
        }
        if cursor.eat("ALTER") {
            let _ = cursor.eat("ONLINE") || cursor.eat("IGNORE");
            return match cursor.eat("TABLE") {
                true => self.alter(cursor),
                false => self.alter_view(cursor),
            };
        }
        if cursor.eat("GRANT") {
            return self.grant(cursor, true);
        }
        if cursor.eat("REVOKE") {
            return self.grant(cursor, false);
        }
        if cursor.eat("DROP") {
            return self.drop(cursor);
        }
        if cursor.eat_seq(&["RENAME", "TABLE"]) {
            return self.rename(cursor);
        }
        Ok(Outcome::Noted(NoteKind::Opaque))
    }

    /// Reads privileges on the database; roles and privileges on the whole server are opaque.
    fn grant(&mut self, mut cursor: Cursor<'_, 's>, gives: bool) -> Result<Outcome, Fault> {
        let grants = parser::grants(&mut cursor, self.server, self.database);
        let Ok(Some(grants)) = grants else {
            return Ok(Outcome::Noted(NoteKind::Opaque));
        };
        for grant in grants {
            grants::fold(self.schema, grant, gives);
        }
        Ok(Outcome::Done)
    }

    /// Applies a view's new query; anything else is opaque.
    fn alter_view(&mut self, mut cursor: Cursor<'_, 's>) -> Result<Outcome, Fault> {
        let head = parser::head(&mut cursor);
        let Some(head) = head.ok().filter(|_| cursor.eat("VIEW")) else {
            return Ok(Outcome::Noted(NoteKind::Opaque));
        };
        let mut view = parser::view(&mut cursor, head, self.database)?;
        let written = self.written();
        let rest = written.get("ALTER".len()..).unwrap_or_default();
        view.source = format!("CREATE{rest}");
        self.schema.add_view(view);
        Ok(Outcome::Done)
    }

    /// The statement as written, without own-database qualifiers and executable comments.
    fn written(&self) -> String {
        written(self.text, &self.statement.tokens, self.database)
    }

    fn create(&mut self, mut cursor: Cursor<'_, 's>) -> Result<Outcome, Fault> {
        let is_index = (0..4)
            .any(|ahead| cursor.peek_at(ahead).is_some_and(|token| token.is("INDEX")))
            && !cursor.is_any(&["TABLE", "TEMPORARY"]);
        if is_index {
            return self.create_index(cursor);
        }
        let head = parser::head(&mut cursor)?;
        if cursor.eat("TABLE") {
            return self.create_table(cursor);
        }
        let database = self.database;
        let renamed = self
            .statement
            .renames
            .first()
            .map(|(_, renamed)| renamed.from.clone());
        if self.is_elsewhere(&cursor) {
            return Ok(Outcome::Noted(NoteKind::Opaque));
        }
        if cursor.eat("VIEW") {
            let mut view = parser::view(&mut cursor, head, database)?;
            view.source = self.written();
            view.renamed_from = renamed;
            self.schema.add_view(view);
        } else if cursor.eat("TRIGGER") {
            let mut trigger = parser::trigger(&mut cursor, head, database)?;
            trigger.source = self.written();
            self.schema
                .triggers
                .retain(|known| known.name != trigger.name);
            self.schema.triggers.push(trigger);
        } else if cursor.eat("EVENT") {
            let mut event = parser::event(&mut cursor, head, database)?;
            event.source = self.written();
            self.schema.events.retain(|known| known.name != event.name);
            self.schema.events.push(event);
        } else if let Some(kind) = opaque_kind(&mut cursor) {
            cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
            let (_, name) = cursor.qualified()?;
            // A loadable function, `RETURNS type SONAME file`, is the whole server's.
            let is_loadable = cursor.peek_at(2).is_some_and(|token| token.is("SONAME"));
            if kind == ObjectKind::Function && is_loadable {
                return Ok(Outcome::Noted(NoteKind::Opaque));
            }
            let opaque = Opaque {
                kind,
                name: name.text,
                // Sequences are only there or not.
                norm: match kind {
                    ObjectKind::Sequence => String::new(),
                    _ => routine::norm(cursor.rest(), self.server),
                },
                text: self.written(),
            };
            self.schema
                .opaques
                .retain(|known| (known.kind, &known.name) != (kind, &opaque.name));
            self.schema.opaques.push(opaque);
        } else {
            return Ok(Outcome::Noted(NoteKind::Opaque));
        }
        Ok(Outcome::Done)
    }

    /// Whether the statement is about a table in another database, possibly of an own table's name.
    fn is_of_foreign_table(&self, mut cursor: Cursor<'_, 's>) -> bool {
        let verbs = ["CREATE", "ALTER", "DROP", "RENAME"];
        if self.database.is_none() || !verbs.iter().any(|verb| cursor.eat(verb)) {
            return false;
        }
        for word in [
            "TEMPORARY",
            "ONLINE",
            "IGNORE",
            "UNIQUE",
            "FULLTEXT",
            "SPATIAL",
        ] {
            cursor.eat(word);
        }
        cursor.eat_seq(&["OR", "REPLACE"]);
        if cursor.eat("INDEX") {
            while !cursor.is_done() && !cursor.eat("ON") {
                cursor.at += 1;
            }
        } else if !cursor.eat("TABLE") {
            return false;
        }
        if !cursor.eat_seq(&["IF", "NOT", "EXISTS"]) {
            cursor.eat_seq(&["IF", "EXISTS"]);
        }
        self.is_foreign_name(cursor)
    }

    /// Whether a name in another database is next.
    fn is_foreign_name(&self, mut cursor: Cursor<'_, 's>) -> bool {
        let written = cursor.qualified().ok().and_then(|(database, _)| database);
        let own = self.database.zip(written);
        own.is_some_and(|(own, written)| !written.eq_ignore_ascii_case(own))
    }

    /// Whether a view or program is another database's, where its text as written would make it.
    fn is_elsewhere(&self, cursor: &Cursor<'_, 's>) -> bool {
        let mut cursor = *cursor;
        let is_known = ["VIEW", "TRIGGER", "EVENT"]
            .iter()
            .any(|word| cursor.eat(word));
        if !is_known && opaque_kind(&mut cursor).is_none() {
            return false;
        }
        cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
        self.is_foreign_name(cursor)
    }

    fn create_table(&mut self, cursor: Cursor<'_, 's>) -> Result<Outcome, Fault> {
        let opaques = &self.schema.opaques;
        let is_sequence = |name: &str| {
            let mut sequences = opaques
                .iter()
                .filter(|opaque| opaque.kind == ObjectKind::Sequence);
            sequences.any(|sequence| sequence.name == name)
        };
        let tokens = expr::with_own_sequences(cursor.rest(), self.database, is_sequence);
        let mut cursor = Cursor::new(&tokens, self.statement.span().1);
        let table = match parser::table(&mut cursor, &self.statement.renames)? {
            Created::Table(table) => *table,
            Created::Like(name, model) => {
                let Some(model) = self.schema.table(&model.text) else {
                    return Err(cursor.fault(format!("there is no table {} before", model.text)));
                };
                Table {
                    name,
                    renamed_from: None,
                    foreign_keys: Vec::new(),
                    is_moved: true,
                    ..model.clone()
                }
            }
            Created::Query => return Ok(Outcome::Noted(NoteKind::Opaque)),
        };
        let is_known = self.schema.table(&table.name.text).is_some();
        let is_kept = is_known
            && self
                .statement
                .tokens
                .iter()
                .take(6)
                .any(|token| token.is("EXISTS"));
        if !is_kept {
            let mut table = table;
            table.source = vec![self.written()];
            normal::settle(&mut table, self.server);
            self.schema.add_table(table);
        }
        Ok(Outcome::Done)
    }

    fn create_index(&mut self, mut cursor: Cursor<'_, 's>) -> Result<Outcome, Fault> {
        let (table, mut index) = parser::created_index(&mut cursor)?;
        index.statement = Some(self.written());
        index.renamed_from = self
            .statement
            .renames
            .first()
            .map(|(_, renamed)| renamed.from.clone());
        let text = self.written();
        let Some(table) = self.schema.table_mut(&table.text) else {
            return Ok(Outcome::Noted(NoteKind::Opaque));
        };
        table.indexes.push(index);
        table.source.push(text);
        normal::settle(table, self.server);
        Ok(Outcome::Done)
    }

    fn alter(&mut self, mut cursor: Cursor<'_, 's>) -> Result<Outcome, Fault> {
        let start = cursor.offset();
        let (name, actions) = parser::alter::actions(&mut cursor)?;
        let text = self.written();
        let is_single = actions.len() == 1;
        let Some(mut table) = self.schema.take_table(&name.text) else {
            return Ok(Outcome::Noted(NoteKind::Opaque));
        };
        for action in actions {
            alter::fold(&mut table.1, action).map_err(|message| Fault::new(start, message))?;
        }
        if is_single {
            self.remember_statement(&mut table.1, &text);
        }
        table.1.source.push(text);
        normal::settle(&mut table.1, self.server);
        self.schema.put_table(table.0, table.1);
        Ok(Outcome::Done)
    }

    /// Records the statement of a separately added index or foreign key, for the drop-in printer.
    fn remember_statement(&self, table: &mut Table, text: &str) {
        let is_added = self
            .statement
            .tokens
            .iter()
            .take(7)
            .any(|token| token.is("ADD"));
        let is = |word: &str| {
            self.statement
                .tokens
                .iter()
                .take(12)
                .any(|token| token.is(word))
        };
        if !is_added {
            return;
        }
        if is("FOREIGN") {
            if let Some(key) = table.foreign_keys.last_mut() {
                key.statement = Some(text.to_owned());
            }
        } else if let Some(index) = table
            .indexes
            .last_mut()
            .filter(|_| is("INDEX") || is("KEY"))
        {
            let is_new = index.statement.is_none() && !index.is_inline;
            if is_new {
                index.statement = Some(text.to_owned());
            }
        }
    }

    fn drop(&mut self, mut cursor: Cursor<'_, 's>) -> Result<Outcome, Fault> {
        cursor.eat("TEMPORARY");
        if cursor.eat("INDEX") {
            cursor.eat_seq(&["IF", "EXISTS"]);
            let name = cursor.name()?;
            cursor.expect("ON")?;
            let (_, owner) = cursor.qualified()?;
            let text = self.written();
            if let Some(table) = self.schema.table_mut(&owner.text) {
                table.indexes.retain(|index| !index.name.is(&name));
                table.source.push(text);
            }
            return Ok(Outcome::Done);
        }
        let kind = dropped_kind(cursor.any()?);
        cursor.eat_seq(&["IF", "EXISTS"]);
        loop {
            let (_, name) = cursor.qualified()?;
            if let Some(kind) = kind {
                self.schema.remove(kind, &name.text);
            }
            if !cursor.eat_op(",") {
                return Ok(Outcome::Done);
            }
        }
    }

    fn rename(&mut self, mut cursor: Cursor<'_, 's>) -> Result<Outcome, Fault> {
        loop {
            let (_, old) = cursor.qualified()?;
            cursor.expect("TO")?;
            let (_, new) = cursor.qualified()?;
            let Some((at, mut table)) = self.schema.take_table(&old.text) else {
                return Ok(Outcome::Noted(NoteKind::Opaque));
            };
            table.name = new;
            table.is_moved = true;
            self.schema.put_table(at, table);
            if !cursor.eat_op(",") {
                return Ok(Outcome::Done);
            }
        }
    }
}

fn written(source: &str, tokens: &[Token<'_>], database: Option<&str>) -> String {
    let start = tokens.first().map_or(0, |token| token.at);
    let slice = &source[start..tokens.last().map_or(start, Token::end)];
    let mentions =
        |name: &str| slice.contains(&format!("{name}.")) || slice.contains(&format!("{name}`."));
    let is_balanced = slice.matches("/*").count() == slice.matches("*/").count();
    let is_whole = is_balanced
        && slice
            .find("*/")
            .is_none_or(|end| slice[..end].contains("/*"));
    if is_whole && !database.is_some_and(mentions) {
        return slice.to_owned();
    }
    // Line ends are kept, so that what is repeated is still readable.
    expr::without_database(source, tokens, database)
}
