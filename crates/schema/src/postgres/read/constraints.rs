//! Constraints, and the names that the server gives those that have none.

use squawk_parser::SyntaxKind as K;

use super::indexes::index_item;
use super::parts::{columns, options, parts, sql, word};
use super::{Reader, Trouble};
use crate::postgres::model::{Constraint, ConstraintKind, Exclude, Foreign, Keys, Sql, Table};
use crate::postgres::name::{Name, made};
use crate::postgres::split;
use crate::postgres::tree::Node;

impl Reader<'_> {
    /// Reads a constraint of a table, or of a column that is named.
    pub(super) fn constraint(
        &self,
        node: Node<'_>,
        column: Option<&str>,
    ) -> Result<Constraint, Trouble> {
        let kind = match node.kind() {
            K::PRIMARY_KEY_CONSTRAINT => ConstraintKind::Primary(keys(node, column)),
            K::UNIQUE_CONSTRAINT => ConstraintKind::Unique(keys(node, column)),
            K::CHECK_CONSTRAINT => ConstraintKind::Check(check(node).ok_or(Trouble::Opaque)?),
            K::FOREIGN_KEY_CONSTRAINT | K::REFERENCES_CONSTRAINT => {
                ConstraintKind::Foreign(self.foreign(node, column).ok_or(Trouble::Opaque)?)
            }
            K::EXCLUDE_CONSTRAINT => ConstraintKind::Exclude(exclude(node)),
            _ => return Err(Trouble::Opaque),
        };
        let mut constraint = Constraint::new(kind);
        if let Some(clause) = node.child(K::CONSTRAINT_NAME_CLAUSE) {
            constraint.name = clause
                .child(K::CONSTRAINT_NAME)
                .map(word)
                .unwrap_or_default();
            constraint.is_named = true;
        }
        constraint.column = column.map(str::to_owned);
        for option in node.children() {
            match option.kind() {
                K::DEFERRABLE_CONSTRAINT_OPTION => constraint.deferrable = true,
                K::INITIALLY_DEFERRED_CONSTRAINT_OPTION => {
                    (constraint.deferrable, constraint.deferred) = (true, true);
                }
                K::INITIALLY_IMMEDIATE_CONSTRAINT_OPTION => constraint.deferral_said = true,
                K::NOT_VALID => constraint.not_valid = true,
                K::NOT_ENFORCED => constraint.not_enforced = true,
                K::NO_INHERIT => constraint.no_inherit = true,
                _ => {}
            }
        }
        Ok(constraint)
    }

    fn foreign(&self, node: Node<'_>, column: Option<&str>) -> Option<Foreign> {
        let table = node
            .child(K::TABLE_NAME_REF)
            .or_else(|| node.find(K::TABLE_NAME_REF))?;
        let mut lists = node.all(K::FOREIGN_KEY_COLUMN_LIST);
        let (own, other) = match column {
            Some(column) => {
                let other = node
                    .child(K::COLUMN_NAME_REF)
                    .map(|column| vec![word(column)])
                    .or_else(|| node.child(K::COLUMN_REF_LIST).map(columns))
                    .or_else(|| lists.next().map(columns));
                (vec![column.to_owned()], other.unwrap_or_default())
            }
            None => (
                columns(lists.next()?),
                lists.next().map(columns).unwrap_or_default(),
            ),
        };
        Some(Foreign {
            columns: own,
            table: self.name(table),
            table_columns: other,
            period: node.find(K::PERIOD_COLUMN).is_some(),
            match_full: node.has(K::MATCH_FULL),
            on_delete: node.child(K::ON_DELETE_ACTION).and_then(action),
            on_update: node.child(K::ON_UPDATE_ACTION).and_then(action),
        })
    }

    /// Names what has no name, as the server does when the statement is executed: checks first,
    /// then keys, foreign keys last.
    pub(super) fn name_constraints(&self, table: &mut Table) {
        let rank = |constraint: &Constraint| match constraint.kind {
            ConstraintKind::Check(_) => 0,
            ConstraintKind::Foreign(_) => 2,
            _ => 1,
        };
        let mut waiting: Vec<(usize, String)> = table
            .constraints
            .iter()
            .filter(|(key, _)| key.starts_with('\0'))
            .map(|(key, constraint)| (rank(constraint), key.clone()))
            .collect();
        waiting.sort_by_key(|(rank, _)| *rank);
        for (_, key) in waiting {
            let Some(constraint) = table.constraints.get(&key) else {
                continue;
            };
            let name = self.made_name(table, constraint);
            if let Some(constraint) = table.constraints.rename(&key, name.clone()) {
                constraint.name = name;
            }
        }
    }

    fn made_name(&self, table: &Table, constraint: &Constraint) -> String {
        let relation = &table.name.name;
        let is_relation = |name: &str| {
            let name = Name::new(table.name.schema.clone(), name);
            self.schema.tables.contains(&name)
                || self.index_tables.contains_key(&name)
                || self.schema.sequences.contains(&name)
        };
        let taken = |name: &str| {
            table.constraints.contains(name) || (constraint.keys().is_some() && is_relation(name))
        };
        let (second, label) = match &constraint.kind {
            ConstraintKind::Primary(_) => (None, "pkey"),
            ConstraintKind::Unique(keys) => (Some(joined(&keys.columns)), "key"),
            ConstraintKind::Foreign(foreign) => (Some(joined(&foreign.columns)), "fkey"),
            ConstraintKind::Exclude(exclude) => (
                Some(joined(
                    exclude
                        .items
                        .iter()
                        .map(|(item, _)| item.column.as_deref().unwrap_or("expr")),
                )),
                "excl",
            ),
            ConstraintKind::Check(check) => (only_column(table, check), "check"),
        };
        made(relation, second.as_deref(), label, taken)
    }
}

/// Puts a constraint into its table; one without a name waits under a number until all are known.
pub(super) fn add_constraint(table: &mut Table, constraint: Constraint) {
    if let ConstraintKind::Primary(keys) = &constraint.kind {
        for column in &keys.columns {
            if let Some(column) = table.columns.get_mut(column) {
                column.not_null = true;
            }
        }
    }
    let key = if constraint.is_named {
        constraint.name.clone()
    } else {
        format!("\0{}", table.constraints.len())
    };
    table.constraints.insert(key, constraint);
}

fn joined<T: AsRef<str>>(columns: impl IntoIterator<Item = T>) -> String {
    let mut joined = String::new();
    for column in columns {
        if !joined.is_empty() {
            joined.push('_');
        }
        joined.push_str(column.as_ref());
        // The server stops collecting once the name is long enough to be cut.
        if joined.len() >= 64 {
            break;
        }
    }
    joined
}

/// The column of a check that speaks of one only.
fn only_column(table: &Table, check: &Sql) -> Option<String> {
    let mut found: Option<String> = None;
    for name in split::names(&check.0) {
        if table.columns.contains(&name) && found.as_ref() != Some(&name) {
            if found.is_some() {
                return None;
            }
            found = Some(name);
        }
    }
    found
}

fn keys(node: Node<'_>, column: Option<&str>) -> Keys {
    let parameters = node.child(K::INDEX_PARAMETERS).unwrap_or(node);
    let list = parameters.child(K::CONSTRAINT_COLUMN_REF_LIST);
    Keys {
        columns: match (list, column) {
            (Some(list), _) => columns(list),
            (None, Some(column)) => vec![column.to_owned()],
            (None, None) => Vec::new(),
        },
        include: parameters
            .child(K::CONSTRAINT_INCLUDE_CLAUSE)
            .map(columns)
            .unwrap_or_default(),
        options: parameters
            .child(K::WITH_PARAMS)
            .map(options)
            .unwrap_or_default(),
        nulls_not_distinct: node.find(K::NULLS_NOT_DISTINCT).is_some(),
        without_overlaps: node.find(K::WITHOUT_OVERLAPS).is_some(),
    }
}

/// What stands between the parentheses of `CHECK (…)`.
pub(super) fn check(node: Node<'_>) -> Option<Sql> {
    node.children()
        .skip_while(|child| child.kind() != K::CHECK_KW)
        .skip_while(|child| child.kind() != K::L_PAREN)
        .nth(1)
        .map(sql)
}

fn action(node: Node<'_>) -> Option<String> {
    let words: Vec<Node<'_>> = node.children().skip(2).collect();
    let first = words.first()?;
    let text = first.words();
    let (verb, rest) = match text.split_once('(') {
        Some((verb, rest)) => (verb.trim(), Some(rest)),
        None => (text.as_str(), None),
    };
    let verb = verb.to_uppercase();
    if verb == "NO ACTION" {
        return None;
    }
    Some(match rest {
        Some(rest) => format!("{verb} ({rest}"),
        None => verb,
    })
}

fn exclude(node: Node<'_>) -> Exclude {
    let method = node
        .child(K::CONSTRAINT_INDEX_METHOD)
        .map_or_else(|| "btree".to_owned(), word);
    let items = node
        .inside()
        .filter(|item| item.kind() == K::CONSTRAINT_EXCLUSION)
        .map(|item| {
            let operator = item
                .child(K::OP)
                .map(|operator| operator.words())
                .unwrap_or_default();
            (index_item(item), operator)
        })
        .collect();
    Exclude {
        method,
        items,
        include: node
            .find(K::CONSTRAINT_INCLUDE_CLAUSE)
            .map(columns)
            .unwrap_or_default(),
        predicate: node
            .child(K::WHERE_CONDITION_CLAUSE)
            .and_then(|clause| {
                clause
                    .children()
                    .skip_while(|child| child.kind() != K::L_PAREN)
                    .nth(1)
            })
            .map(sql),
    }
}

/// The index that `ADD … USING INDEX` names.
pub(super) fn using_index(node: Node<'_>) -> Option<String> {
    node.child(K::USING_INDEX_NAME)
        .and_then(|clause| clause.child(K::INDEX_REF))
        .map(|index| parts(index).pop().unwrap_or_default())
}
