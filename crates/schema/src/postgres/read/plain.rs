//! The short way from plain `CREATE TABLE`, `CREATE INDEX` and `ALTER TABLE … ADD CONSTRAINT`
//! statements to the model, without a syntax tree.
//!
//! Nearly all of a large schema is written in few forms, and the grammar of everything that SQL can
//! say is most of what reading costs. Whatever is not surely one of these forms gives `None` here
//! and goes the long way: comments, keywords in places where names can be, unusual operators,
//! everything that may be wrong. What is understood is what the long way makes of the same text;
//! the tests compare the two over the corpus and over broken variants of it.

mod tokens;
mod values;
mod words;

#[cfg(test)]
mod tests;

use super::columns::default_of;
use super::constraints::add_constraint;
use super::{Read, Reader};
use crate::postgres::model::{
    Column, Constraint, ConstraintKind, Foreign, Identity, Index, IndexItem, Keys, Sql, Table,
};
use crate::postgres::name::{Name, fold};
use tokens::{Kind, Tokens};

/// What a plain statement makes. Parts of names are as they are written: what a name without a
/// schema means follows from the statements before.
pub(super) enum Plain {
    Table(Vec<String>, Box<Table>),
    /// An index, with the table's name.
    Index(Vec<String>, Box<Index>),
    /// A constraint added to the table of the name.
    Constraint(Vec<String>, Box<Constraint>),
}

/// Reads a statement; `tail` is the text behind on the last line.
pub(super) fn read(text: &str, tail: &str) -> Option<Plain> {
    // The old name of what ends there.
    if tail.contains("@rename") {
        return None;
    }
    let mut tokens = Tokens::new(text);
    let plain = if tokens.eat("alter") {
        added(&mut tokens)?
    } else {
        tokens.need("create")?;
        match tokens.eat("table") {
            true => table(&mut tokens)?,
            false => index(&mut tokens)?,
        }
    };
    (tokens.kind() == Kind::End).then_some(plain)
}

impl Reader<'_> {
    pub(super) fn read_plain(&mut self, plain: Plain, text: &str) -> Read {
        let source = Some(text.to_owned());
        match plain {
            Plain::Table(name, mut table) => {
                table.name = self.resolve(&name);
                table.meta.source = source;
                let constraints = table.constraints.values_mut();
                constraints.for_each(|constraint| self.resolve_key(constraint));
                self.put_table(*table);
                Ok(())
            }
            Plain::Index(table, mut index) => {
                index.meta.source = source;
                self.put_index(self.resolve(&table), *index)
            }
            Plain::Constraint(table, mut constraint) => {
                constraint.meta.source = source;
                self.resolve_key(&mut constraint);
                self.put_constraint(&self.resolve(&table), *constraint)
            }
        }
    }

    /// Says which table a foreign key without a schema references.
    fn resolve_key(&self, constraint: &mut Constraint) {
        if let ConstraintKind::Foreign(foreign) = &mut constraint.kind
            && foreign.table.schema.is_empty()
        {
            foreign.table = self.resolve(&[std::mem::take(&mut foreign.table.name)]);
        }
    }
}

/// Reads an `ALTER TABLE` with one added constraint.
fn added(tokens: &mut Tokens<'_>) -> Option<Plain> {
    tokens.need("table")?;
    tokens.eat("only");
    let table = tokens.path()?;
    tokens.need("add")?;
    tokens.need("constraint")?;
    let name = tokens.name()?;
    let mut constraint = Constraint::new(constraint_kind(tokens, None)?);
    (constraint.name, constraint.is_named) = (name, true);
    Some(Plain::Constraint(table, Box::new(constraint)))
}

fn table(tokens: &mut Tokens<'_>) -> Option<Plain> {
    let name = tokens.path()?;
    let mut table = Table::default();
    tokens.list(|tokens| table_item(tokens, &mut table))?;
    Some(Plain::Table(name, Box::new(table)))
}

fn table_item(tokens: &mut Tokens<'_>, table: &mut Table) -> Option<()> {
    let name = if tokens.eat("constraint") {
        Some(tokens.name()?)
    } else {
        None
    };
    let is_constraint = ["primary", "unique", "check", "foreign"]
        .iter()
        .any(|word| tokens.is(word));
    if name.is_none() && !is_constraint {
        return column(tokens, table);
    }
    let mut constraint = Constraint::new(constraint_kind(tokens, None)?);
    constraint.is_named = name.is_some();
    constraint.name = name.unwrap_or_default();
    add_constraint(table, constraint);
    Some(())
}

/// Reads the condition of a constraint of a table, or of the named column.
fn constraint_kind(tokens: &mut Tokens<'_>, column: Option<&str>) -> Option<ConstraintKind> {
    if tokens.eat("check") {
        tokens.need_sign("(")?;
        let start = tokens.start();
        tokens.expression(0)?;
        let check = Sql(tokens.since(start).to_owned());
        tokens.need_sign(")")?;
        return Some(ConstraintKind::Check(check));
    }
    if tokens.is("foreign") || tokens.is("references") {
        return foreign(tokens, column).map(ConstraintKind::Foreign);
    }
    let is_primary = tokens.eat("primary");
    tokens.need(if is_primary { "key" } else { "unique" })?;
    let mut keys = Keys::default();
    match column {
        Some(column) => keys.columns.push(column.to_owned()),
        None => keys.columns = columns(tokens)?,
    }
    Some(if is_primary {
        ConstraintKind::Primary(keys)
    } else {
        ConstraintKind::Unique(keys)
    })
}

/// Reads a foreign key of a table, or of the named column. The schema of the other table is empty
/// where none is written.
fn foreign(tokens: &mut Tokens<'_>, column: Option<&str>) -> Option<Foreign> {
    let own = match column {
        Some(column) => vec![column.to_owned()],
        None => {
            tokens.need("foreign")?;
            tokens.need("key")?;
            columns(tokens)?
        }
    };
    tokens.need("references")?;
    let mut path = tokens.path()?;
    let name = path.pop()?;
    let mut foreign = Foreign {
        columns: own,
        table: Name::new(path.pop().unwrap_or_default(), name),
        table_columns: Vec::new(),
        period: false,
        match_full: false,
        on_delete: None,
        on_update: None,
    };
    if tokens.is_sign("(") {
        foreign.table_columns = columns(tokens)?;
    }
    let mut said = [false; 2];
    while tokens.eat("on") {
        let is_delete = tokens.eat("delete");
        if !is_delete {
            tokens.need("update")?;
        }
        if std::mem::replace(&mut said[usize::from(is_delete)], true) {
            return None;
        }
        let action = action(tokens)?.map(str::to_owned);
        match is_delete {
            true => foreign.on_delete = action,
            false => foreign.on_update = action,
        }
    }
    Some(foreign)
}

/// What a foreign key does with rows; `None` within for the default action.
fn action<'a>(tokens: &mut Tokens<'_>) -> Option<Option<&'a str>> {
    if tokens.eat("no") {
        tokens.need("action")?;
        return Some(None);
    }
    if tokens.eat("set") {
        let is_null = tokens.eat("null");
        if !is_null {
            tokens.need("default")?;
        }
        return Some(Some(if is_null { "SET NULL" } else { "SET DEFAULT" }));
    }
    if tokens.eat("cascade") {
        return Some(Some("CASCADE"));
    }
    tokens.need("restrict")?;
    Some(Some("RESTRICT"))
}

fn columns(tokens: &mut Tokens<'_>) -> Option<Vec<String>> {
    let mut columns = Vec::new();
    tokens.list(|tokens| {
        columns.push(tokens.column_name()?);
        Some(())
    })?;
    Some(columns)
}

fn column(tokens: &mut Tokens<'_>, table: &mut Table) -> Option<()> {
    let mut column = Column {
        name: tokens.column_name()?,
        data_type: tokens.data_type()?,
        ..Column::default()
    };
    column.not_null = column.data_type.is_serial;
    while !tokens.is_sign(",") && !tokens.is_sign(")") {
        if tokens.eat("not") {
            tokens.need("null")?;
            (column.not_null, column.not_null_said) = (true, true);
        } else if tokens.eat("null") {
            // As every column is that is not told otherwise.
        } else if tokens.eat("default") {
            let start = tokens.start();
            tokens.expression(0)?;
            column.default = default_of(tokens.since(start));
        } else if tokens.eat("generated") {
            column.identity = Some(Box::new(identity(tokens)?));
            column.not_null = true;
        } else {
            let mut constraint = Constraint::new(constraint_kind(tokens, Some(&column.name))?);
            column.not_null |= matches!(constraint.kind, ConstraintKind::Primary(_));
            constraint.column = Some(column.name.clone());
            add_constraint(table, constraint);
        }
    }
    table.columns.insert(column.name.clone(), column);
    Some(())
}

/// Reads the part behind `GENERATED` of an identity column, without options.
fn identity(tokens: &mut Tokens<'_>) -> Option<Identity> {
    let always = tokens.eat("always");
    if !always {
        tokens.need("by")?;
        tokens.need("default")?;
    }
    tokens.need("as")?;
    tokens.need("identity")?;
    Some(Identity {
        always,
        options: Default::default(),
        written: String::new(),
    })
}

fn index(tokens: &mut Tokens<'_>) -> Option<Plain> {
    let unique = tokens.eat("unique");
    tokens.need("index")?;
    let name = tokens.name()?;
    tokens.need("on")?;
    let table = tokens.path()?;
    let method = if tokens.eat("using") {
        Some(tokens.name()?)
    } else {
        None
    };
    let mut index = Index {
        name,
        is_named: true,
        unique,
        method_said: method.is_some(),
        method: method.unwrap_or_else(|| "btree".to_owned()),
        ..Index::default()
    };
    tokens.list(|tokens| {
        index.items.push(index_item(tokens)?);
        Some(())
    })?;
    Some(Plain::Index(table, Box::new(index)))
}

fn index_item(tokens: &mut Tokens<'_>) -> Option<IndexItem> {
    let written = tokens.current();
    tokens.column_name()?;
    let descending = tokens.eat("desc");
    if !descending {
        tokens.eat("asc");
    }
    Some(IndexItem {
        column: Some(fold(written)),
        expression: Sql(written.to_owned()),
        descending,
        nulls_first: descending,
        ..IndexItem::default()
    })
}
