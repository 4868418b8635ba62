//! From texts to one schema: statements in order, changes folded in, old names found in comments.

use std::collections::HashMap;

use super::Schema;
use super::cursor::{Failure, text};
use super::expr::unquoted;
use super::lexer::{BYTES_MAX, Kind, Lexed, Token, lex};
use super::model::{Name, WholeKind};
use super::parser::{self, DropKind, Statement};
use crate::rename::renamed_from;
use crate::{Note, NoteKind, ObjectKind, Source, SyntaxError};

/// Maximum of characters of a statement in a note.
const NOTE_CHARACTERS_MAX: usize = 60;

/// Suffixes of the shadow tables of FTS, R-tree and geopoly tables.
const SHADOW_ENDINGS: [&str; 11] = [
    "content", "segments", "segdir", "docsize", "stat", "data", "idx", "config", "node", "parent",
    "rowid",
];

/// Reads all sources into one schema.
pub(super) fn read(sources: &[Source]) -> Result<(Schema, Vec<Note>), SyntaxError> {
    let (mut schema, mut notes) = (Schema::default(), Vec::new());
    for source in sources {
        read_source(&mut schema, &mut notes, source)?;
    }
    Ok((schema, notes))
}

/// Reads one text into the schema.
fn read_source(
    schema: &mut Schema,
    notes: &mut Vec<Note>,
    source: &Source,
) -> Result<(), SyntaxError> {
    if source.text.len() > BYTES_MAX {
        return Err(SyntaxError::at(
            source,
            0,
            "a text of 4 GiB and more; split it",
        ));
    }
    let lexed = lex(&source.text);
    if let Some(open) = lexed.open_quote {
        return Err(SyntaxError::at(source, open, "this quote is never closed"));
    }
    let mut reader = Reader {
        schema,
        notes,
        source,
        line: Line::default(),
        tables: HashMap::new(),
    };
    for (index, table) in reader.schema.tables.iter().enumerate() {
        reader.tables.insert(table.name.key(), index);
    }
    for range in &lexed.shell_lines {
        reader.note(range.start, NoteKind::Setting, &source.text[range.clone()]);
    }
    let statements = lexed.statements(&source.text);
    for range in &statements {
        let tokens = &lexed.tokens[range.clone()];
        reader.statement(tokens).map_err(|failure| {
            let mut error = SyntaxError::at(source, failure.at, failure.message);
            error.statement = text(&source.text, tokens).to_owned();
            error
        })?;
    }
    reader.old_names(&lexed, &statements);
    Ok(())
}

/// The `CREATE VIRTUAL TABLE` in an insertion into the catalogue, as in a `.dump`.
fn dumped(source: &str, tokens: &[Token]) -> Option<String> {
    let is = |index: usize, word: &str| {
        let token = tokens.get(index);
        token.is_some_and(|token| token.is_word(source, word))
    };
    let is_catalogue = is(2, "sqlite_schema") || is(2, "sqlite_master");
    if !(is(0, "insert") && is(1, "into") && is_catalogue) {
        return None;
    }
    let mut texts = tokens.iter().filter(|token| token.kind == Kind::Text);
    let sql = unquoted(texts.next_back()?.text(source));
    let start = "CREATE VIRTUAL TABLE";
    let is_virtual = sql
        .get(..start.len())
        .is_some_and(|words| words.eq_ignore_ascii_case(start));
    is_virtual.then_some(sql)
}

struct Reader<'a> {
    schema: &'a mut Schema,
    notes: &'a mut Vec<Note>,
    source: &'a Source,
    line: Line,
    tables: HashMap<String, usize>,
}

/// Counts lines once over, not again for every note.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    offset: usize,
    breaks: usize,
}

impl Line {
    fn number_at(&mut self, text: &str, offset: usize) -> usize {
        if offset < self.offset {
            *self = Line::default();
        }
        self.breaks += text[self.offset..offset].matches('\n').count();
        self.offset = offset;
        self.breaks + 1
    }
}

impl Reader<'_> {
    fn note(&mut self, offset: usize, kind: NoteKind, text: &str) {
        let mut shown: String = text.chars().take(NOTE_CHARACTERS_MAX).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        self.notes.push(Note {
            source: self.source.name.clone(),
            line: self.line.number_at(&self.source.text, offset),
            kind,
            text: shown,
        });
    }

    fn statement(&mut self, tokens: &[Token]) -> Result<(), Failure> {
        let source = self.source;
        let parsed = parser::statement(&source.text, tokens)?;
        let at = parser::span(tokens).start;
        let shown = text(&source.text, tokens);
        match parsed {
            Statement::Data => match dumped(&source.text, tokens) {
                Some(sql) => self.dumped(&sql, tokens)?,
                None => self.note(at, NoteKind::Data, shown),
            },
            Statement::Setting => self.note(at, NoteKind::Setting, shown),
            Statement::Opaque => self.note(at, NoteKind::Opaque, shown),
            parsed => {
                let message = self.fold(parsed, tokens);
                if let Err(message) = message {
                    return Err(Failure { at, message });
                }
            }
        }
        Ok(())
    }

    /// Takes a statement out of a row of the catalogue, written by `.dump`; `row` is the insertion.
    fn dumped(&mut self, sql: &str, row: &[Token]) -> Result<(), Failure> {
        let at = parser::span(row).start;
        let lexed = lex(sql);
        for range in lexed.statements(sql) {
            let parsed = parser::statement(sql, &lexed.tokens[range]);
            let parsed = parsed.map_err(|failure| Failure { at, ..failure })?;
            let message = self.fold(parsed, row);
            message.map_err(|message| Failure { at, message })?;
        }
        Ok(())
    }

    /// Takes a statement into the schema; the error is a sentence.
    fn fold(&mut self, statement: Statement, tokens: &[Token]) -> Result<(), String> {
        match statement {
            Statement::Table(table) => {
                let key = table.name.key();
                if self.is_of_sqlite(&key) {
                    return Ok(());
                }
                if self.is_taken(
                    ObjectKind::Table,
                    &key,
                    tokens,
                    self.tables.contains_key(&key),
                )? {
                    return Ok(());
                }
                self.tables.insert(key, self.schema.tables.len());
                self.schema.tables.push(*table);
            }
            Statement::Index(index) => {
                let key = index.name.key();
                let has = self.schema.index_keys.contains(&key);
                if !self.is_taken(ObjectKind::Index, &key, tokens, has)? {
                    self.schema.index_keys.insert(key);
                    self.schema.indexes.push(*index);
                }
            }
            Statement::Whole(whole) => {
                let key = (whole.kind, whole.name.key());
                let mut wholes = self.schema.wholes.iter();
                let has = wholes.any(|each| (each.kind, each.name.key()) == key);
                if !self.is_taken(whole.kind.object_kind(), &key.1, tokens, has)? {
                    self.schema.wholes.push(whole);
                }
            }
            Statement::Drop { kind, name } => self.drop(kind, &name),
            altered => self.alter(altered)?,
        }
        Ok(())
    }

    /// Whether the name is taken and the statement tolerates an existing object.
    fn is_taken(
        &self,
        kind: ObjectKind,
        key: &str,
        tokens: &[Token],
        has: bool,
    ) -> Result<bool, String> {
        let words = ["if", "not", "exists"];
        let is_lenient = tokens.windows(3).take(6).any(|window| {
            (0..3).all(|index| window[index].is_word(&self.source.text, words[index]))
        });
        if has && !is_lenient {
            return Err(format!("the {kind} `{key}` is defined twice"));
        }
        Ok(has)
    }

    /// Whether a table is created by SQLite itself, though included in `.schema` and `.dump`.
    fn is_of_sqlite(&self, key: &str) -> bool {
        let is_shadow = || {
            self.schema
                .wholes
                .iter()
                .filter(|whole| whole.kind == WholeKind::Virtual)
                .filter_map(|whole| key.strip_prefix(&whole.name.key())?.strip_prefix('_'))
                .any(|ending| SHADOW_ENDINGS.contains(&ending))
        };
        key.starts_with("sqlite_") || is_shadow()
    }

    fn drop(&mut self, kind: DropKind, name: &Name) {
        let key = name.key();
        let schema = &mut *self.schema;
        match kind {
            DropKind::Table => {
                schema.remove_table(&key);
                let tables = schema.tables.iter().enumerate();
                self.tables = tables.map(|(at, table)| (table.name.key(), at)).collect();
            }
            DropKind::Index => {
                schema.index_keys.remove(&key);
                schema.indexes.retain(|index| !index.name.is(&key));
            }
            DropKind::View => schema.remove_whole(WholeKind::View, &key),
            DropKind::Trigger => schema.remove_whole(WholeKind::Trigger, &key),
        }
    }

    fn alter(&mut self, statement: Statement) -> Result<(), String> {
        let table = match &statement {
            Statement::AddColumn { table, .. }
            | Statement::RenameTable { table, .. }
            | Statement::RenameColumn { table, .. }
            | Statement::DropColumn { table, .. } => table.key(),
            _ => return Ok(()),
        };
        let at = self.tables.get(&table).copied();
        let at = at.ok_or_else(|| format!("there is no table `{table}` before this statement"))?;
        self.schema.tables[at].text = None;
        match statement {
            Statement::AddColumn { column, parsed, .. } => {
                let target = &mut self.schema.tables[at];
                target.columns.push(*column);
                target.primary_key = target.primary_key.take().or(parsed.primary_key);
                target.uniques.extend(parsed.uniques);
                target.checks.extend(parsed.checks);
                target.foreign_keys.extend(parsed.foreign_keys);
            }
            Statement::RenameTable { to, .. } => {
                self.schema.rename_table(&table, &to);
                self.schema.rename_in_wholes(&table, &to);
                self.tables.remove(&table);
                self.tables.insert(to.key(), at);
            }
            Statement::RenameColumn { column, to, .. } => {
                self.schema.rename_column(&table, &column.key(), &to);
                self.schema.rename_in_wholes(&column.key(), &to);
            }
            Statement::DropColumn { column, .. } => {
                let target = &mut self.schema.tables[at];
                target.remove_column(&column.key());
            }
            _ => {}
        }
        Ok(())
    }

    /// Assigns every `@renamed` comment to the last name before, in the same statement or line.
    fn old_names(&mut self, lexed: &Lexed, statements: &[std::ops::Range<usize>]) {
        let source = self.source;
        for comment in &lexed.comments {
            let Some(renamed) = renamed_from(&source.text[comment.clone()]) else {
                continue;
            };
            let before =
                |range: &&std::ops::Range<usize>| lexed.tokens[range.start].start() < comment.start;
            let Some(range) = statements.iter().rfind(before) else {
                continue;
            };
            let tokens = &lexed.tokens[range.clone()];
            let end = parser::span(tokens).end;
            if comment.start > end && source.text[end..comment.start].contains('\n') {
                continue;
            }
            if renamed.is_deprecated {
                let sentence = "@rename is deprecated. Please use @renamed instead.";
                self.note(comment.start, NoteKind::Deprecated, sentence);
            }
            let mut named = parser::named(&source.text, tokens);
            let object = named.first().map(|(_, name)| name.clone());
            named.retain(|(at, _)| *at < comment.start);
            let (Some(object), Some((_, name))) = (object, named.last()) else {
                continue;
            };
            let item = (named.len() > 1).then_some(name.as_str());
            self.schema.set_old_name(&object, item, renamed.from);
        }
    }
}
