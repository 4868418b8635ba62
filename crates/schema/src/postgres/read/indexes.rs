//! Indexes.

use squawk_parser::SyntaxKind as K;

use super::parts::{collation, options, parts, sql, word};
use super::spaces::space;
use super::{Read, Reader, Statement, Trouble};
use crate::postgres::listed::Listed;
use crate::postgres::model::{Index, IndexItem, Sql};
use crate::postgres::name::{Name, fold, made};
use crate::postgres::parser::Node;

impl Reader<'_> {
    pub(super) fn create_index(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let relation = node.child(K::TABLE_RELATION_NAME).ok_or(Trouble::Opaque)?;
        let table = self.name(relation);
        let given = node
            .child(K::INDEX)
            .map(word)
            .filter(|name| !name.is_empty());
        let method = node
            .child(K::USING_METHOD)
            .and_then(|using| using.tokens().last());
        let mut index = Index {
            is_named: given.is_some(),
            name: given.unwrap_or_default(),
            unique: node.has(K::UNIQUE_KW),
            method: method.map_or_else(|| "btree".to_owned(), |method| fold(method.text())),
            method_said: method.is_some(),
            only: relation.has(K::ONLY_KW),
            nulls_not_distinct: node.has(K::NULLS_NOT_DISTINCT),
            predicate: node
                .child(K::WHERE_CLAUSE)
                .and_then(|clause| clause.children().nth(1))
                .map(sql),
            options: node.child(K::WITH_PARAMS).map(options).unwrap_or_default(),
            meta: self.meta(statement),
            ..Index::default()
        };
        let items = node.child(K::PARTITION_ITEM_LIST);
        if let Some(list) = items {
            index.items = list.all(K::PARTITION_ITEM).map(index_item).collect();
        }
        if let Some(include) = node.child(K::INDEX_INCLUDE_CLAUSE) {
            let items = include
                .inside()
                .filter(|item| item.kind() == K::PARTITION_ITEM);
            index.include = items.map(word).collect();
        }
        index.meta.renamed_from = self.former(statement, 0, statement.text.len());
        if !index.is_named {
            index.name = self.made_index_name(&table, &index);
        }
        let name = Name::new(table.schema.clone(), index.name.clone());
        if node.has(K::IF_NOT_EXISTS) && self.index_tables.contains_key(&name) {
            return Ok(());
        }
        self.put_index(table, index)?;
        if let Some(space) = space(node) {
            self.place("INDEX", &name, Some(space));
        }
        Ok(())
    }

    /// Adds a named index.
    pub(super) fn put_index(&mut self, table: Name, index: Index) -> Read {
        let name = Name::new(table.schema.clone(), index.name.clone());
        let indexes = self.indexes_of(&table).ok_or(Trouble::Opaque)?;
        indexes.insert(index.name.clone(), index);
        self.place("INDEX", &name, None);
        self.index_tables.insert(name, table);
        Ok(())
    }

    fn indexes_of(&mut self, relation: &Name) -> Option<&mut Listed<String, Index>> {
        if self.schema.tables.contains(relation) {
            return self
                .schema
                .tables
                .get_mut(relation)
                .map(|table| &mut table.indexes);
        }
        self.schema
            .views
            .get_mut(relation)
            .map(|view| &mut view.indexes)
    }

    fn made_index_name(&self, table: &Name, index: &Index) -> String {
        let mut columns: Vec<String> = Vec::new();
        for item in &index.items {
            let base = match &item.column {
                Some(column) => column.clone(),
                None => expression_name(&item.expression),
            };
            let mut name = base.clone();
            for number in 1_usize.. {
                if !columns.contains(&name) {
                    break;
                }
                name = format!("{base}{number}");
            }
            columns.push(name);
        }
        let is_taken = |name: &str| {
            let name = Name::new(table.schema.clone(), name);
            self.index_tables.contains_key(&name)
                || self.schema.tables.contains(&name)
                || self
                    .schema
                    .tables
                    .get(table)
                    .is_some_and(|table| table.constraints.contains(&name.name))
        };
        made(&table.name, Some(&columns.join("_")), "idx", is_taken)
    }

    /// `ALTER INDEX … ATTACH PARTITION`, renames, and options.
    pub(super) fn alter_index(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let name = node
            .child(K::INDEX_REF)
            .map(|index| self.name(index))
            .ok_or(Trouble::Opaque)?;
        if let Some(attach) = node.child(K::ATTACH_INDEX_PARTITION) {
            let part = attach
                .child(K::INDEX_REF)
                .map(|index| self.name(index))
                .ok_or(Trouble::Opaque)?;
            // The parts of constraints' indexes come with the constraints.
            match self.index_mut(&part) {
                Some(index) => index.parent = Some(name),
                None => drop(self.attached.insert(part)),
            }
            return Ok(());
        }
        if let Some(rename) = node.child(K::INDEX_RENAME_TO) {
            let to = rename.child(K::INDEX).map(word).ok_or(Trouble::Opaque)?;
            let table = self.index_tables.remove(&name).ok_or(Trouble::Opaque)?;
            self.index_tables
                .insert(Name::new(name.schema.clone(), to.clone()), table.clone());
            let indexes = self.indexes_of(&table).ok_or(Trouble::Opaque)?;
            let index = indexes
                .rename(&name.name, to.clone())
                .ok_or(Trouble::Opaque)?;
            index.name = to;
            return Ok(());
        }
        if let Some(set) = node.child(K::SET_OPTIONS) {
            let index = self.index_mut(&name).ok_or(Trouble::Opaque)?;
            index.options.extend(options(set));
            return Ok(());
        }
        Err(Trouble::Opaque)
    }

    pub(super) fn index_mut(&mut self, name: &Name) -> Option<&mut Index> {
        let table = self.index_tables.get(name)?.clone();
        self.indexes_of(&table)?.get_mut(&name.name)
    }

    pub(super) fn drop_index(&mut self, name: &Name) {
        if let Some(table) = self.index_tables.remove(name)
            && let Some(indexes) = self.indexes_of(&table)
        {
            indexes.remove(&name.name);
        }
    }
}

/// What the server names an expression by: a function's name, else `expr`.
fn expression_name(expression: &Sql) -> String {
    let text = expression.0.trim_start_matches('(');
    let end = text.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    match end {
        Some(end) if end > 0 && text[end..].starts_with('(') => fold(&text[..end]),
        _ => "expr".to_owned(),
    }
}

/// Reads a column or expression of an index, with collation, class and order.
pub(super) fn index_item(node: Node<'_>) -> IndexItem {
    let mut item = IndexItem::default();
    let Some(mut expression) = node.children().next() else {
        return item;
    };
    if expression.kind() == K::COLLATE {
        item.collation = collation(expression);
        expression = expression.children().next().unwrap_or(expression);
    }
    if matches!(expression.kind(), K::NAME_REF | K::COLUMN_NAME_REF) {
        item.column = Some(word(expression));
    }
    item.expression = sql(expression);
    if let Some(class) = node.child(K::OP_CLASS_REF) {
        let mut class_name = parts(class);
        if class_name.len() > 1 {
            class_name.remove(0);
        }
        let options = node
            .child(K::ATTRIBUTE_LIST)
            .map(|list| format!(" {}", list.words()));
        item.class = Some(format!(
            "{}{}",
            class_name.join("."),
            options.unwrap_or_default()
        ));
    }
    item.descending = node.has(K::SORT_DESC);
    item.nulls_first = node.has(K::NULLS_FIRST) || (item.descending && !node.has(K::NULLS_LAST));
    item
}
