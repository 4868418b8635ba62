//! `CREATE TABLE`.

use squawk_parser::SyntaxKind as K;

use super::constraints::add_constraint;
use super::parts::{options, parts, word};
use super::spaces::space;
use super::typed::put_column;
use super::{Read, Reader, Statement, Trouble};
use crate::postgres::model::{Sql, Table};
use crate::postgres::name::Name;
use crate::postgres::parser::Node;

impl Reader<'_> {
    pub(super) fn create_table(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        if node.has(K::TEMP) {
            return Err(Trouble::Opaque);
        }
        let name = node.child(K::TABLE_NAME).ok_or(Trouble::Opaque)?;
        let mut table = Table {
            name: self.name(name),
            unlogged: node.has(K::UNLOGGED),
            meta: self.meta(statement),
            ..Table::default()
        };
        if node.has(K::IF_NOT_EXISTS) && self.schema.tables.contains(&table.name) {
            return Ok(());
        }
        let columns = node.child(K::TABLE_ARG_LIST);
        let first = columns.and_then(|list| list.children().nth(1));
        let head_end = first.map_or(statement.text.len(), Node::start);
        table.meta.renamed_from = self.former(statement, name.end(), head_end);
        for child in node.children() {
            self.table_clause(&mut table, child);
        }
        if let Some(list) = columns {
            self.table_items(statement, &mut table, list)?;
        }
        let name = table.name.clone();
        self.put_table(table);
        if let Some(space) = space(node) {
            self.place("TABLE", &name, Some(space));
        }
        self.bind_typed();
        Ok(())
    }

    /// Takes in a table whose items are all there.
    pub(super) fn put_table(&mut self, mut table: Table) {
        self.name_constraints(&mut table);
        if table.access_method.is_none() && table.partition_by.is_none() {
            table.access_method.clone_from(&self.access_method);
        }
        let name = table.name.clone();
        self.schema.tables.insert(name.clone(), table);
        self.require_key_columns(&name);
        self.place("TABLE", &name, None);
        self.place_keys(&name);
    }

    fn table_clause(&mut self, table: &mut Table, clause: Node<'_>) {
        match clause.kind() {
            K::INHERITS => {
                table.inherits = clause
                    .all(K::TABLE_NAME_REF)
                    .map(|parent| self.name(parent))
                    .collect();
            }
            K::PARTITION_OF => {
                let parent = clause
                    .child(K::TABLE_NAME_REF)
                    .map(|parent| self.name(parent));
                table.partition_of = parent.map(|parent| (parent, Sql::default()));
            }
            K::PARTITION_FOR_VALUES_FROM
            | K::PARTITION_FOR_VALUES_IN
            | K::PARTITION_FOR_VALUES_WITH
            | K::PARTITION_DEFAULT => {
                if let Some((_, bound)) = &mut table.partition_of {
                    bound.0 = clause.words();
                }
            }
            K::PARTITION_BY => {
                let words = clause.text();
                let by = words.to_lowercase().find("by").map_or(0, |at| at + 2);
                table.partition_by = Some(Sql(words[by..].trim().to_owned()));
            }
            K::WITH_PARAMS => table.options = options(clause),
            K::USING_METHOD => {
                table.access_method = Some(word(clause)).filter(|method| method != "heap")
            }
            K::OF_TYPE if self.take_type(table, clause).is_some() => {}
            K::OF_TYPE => {
                let of = clause.children().nth(1).map(parts).unwrap_or_default();
                table
                    .likes
                    .push((self.resolve(&of), clause.text().to_owned()));
            }
            _ => {}
        }
    }

    pub(super) fn table_items(
        &mut self,
        statement: Statement<'_>,
        table: &mut Table,
        list: Node<'_>,
    ) -> Read {
        let items: Vec<Node<'_>> = list
            .children()
            .filter(|item| !matches!(item.kind(), K::L_PAREN | K::R_PAREN | K::COMMA))
            .collect();
        for (at, item) in items.iter().enumerate() {
            let end = items.get(at + 1).map_or(list.end(), |next| next.start());
            match item.kind() {
                K::COLUMN => {
                    let column = self.column(statement, table, *item, end)?;
                    put_column(table, column);
                }
                K::LIKE_CLAUSE => {
                    let source = item.child(K::RELATION_NAME_REF).ok_or(Trouble::Opaque)?;
                    self.like(table, self.name(source), *item);
                }
                _ => {
                    let mut constraint = self.constraint(*item, None)?;
                    constraint.meta.renamed_from = self.former(statement, item.start(), end);
                    add_constraint(table, constraint);
                }
            }
        }
        Ok(())
    }

    /// Copies the columns of a known table (`LIKE`); otherwise stores the clause as written.
    fn like(&mut self, table: &mut Table, from: Name, clause: Node<'_>) {
        let Some(source) = self.schema.tables.get(&from) else {
            table.likes.push((from, clause.text().to_owned()));
            return;
        };
        let has = |what: &str| {
            clause
                .text()
                .to_lowercase()
                .contains(&format!("including {what}"))
        };
        let all = has("all");
        for column in source.columns.values() {
            let mut copy = column.clone();
            copy.meta = Default::default();
            if !(all || has("defaults")) {
                copy.default = None;
            }
            if !(all || has("identity")) {
                copy.identity = None;
            }
            if !(all || has("generated")) {
                copy.generated = None;
            }
            table.columns.insert(copy.name.clone(), copy);
        }
    }
}
