//! `ALTER TABLE`, folded into the table.

use squawk_parser::SyntaxKind as K;

use super::columns::{default_in, identity_in};
use super::constraints::{add_constraint, using_index};
use super::parts::{collation, number_in, options, type_in, word, word_in};
use super::{Read, Reader, Statement, Trouble};
use crate::ObjectKind;
use crate::postgres::listed::Listed;
use crate::postgres::model::{Constraint, ConstraintKind, Keys, Sql, Table, Trigger};
use crate::postgres::name::Name;
use crate::postgres::parser::Node;

impl Reader<'_> {
    pub(super) fn alter_table(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let relation = node.child(K::TABLE_RELATION_NAME).ok_or(Trouble::Opaque)?;
        let name = self.name(relation);
        if self
            .schema
            .kept
            .contains(&(ObjectKind::ForeignTable, name.quoted()))
        {
            return self.alter_foreign_table(statement);
        }
        let actions = actions(node);
        if actions.iter().any(|action| action.kind() == K::OWNER_TO) {
            return self.change_owner(statement);
        }
        if let Some(rename) = actions
            .iter()
            .find(|action| action.kind() == K::TABLE_RENAME_TO)
        {
            let to = rename
                .child(K::TABLE_NAME)
                .map(word)
                .ok_or(Trouble::Opaque)?;
            return self.rename_table(&name, to);
        }
        // Taken out while it changes, so that the reader can be asked for names meanwhile.
        let Some(mut table) = self.schema.tables.get_mut(&name).map(std::mem::take) else {
            return Err(Trouble::Opaque);
        };
        let mut outcome = Ok(());
        for action in &actions {
            table.reshaped |= !leaves_statement(action.kind());
            outcome =
                outcome.and(self.alter_action(statement, &mut table, *action, actions.len() == 1));
        }
        self.name_constraints(&mut table);
        if let Some(slot) = self.schema.tables.get_mut(&name) {
            *slot = table;
        }
        self.require_key_columns(&name);
        self.place_keys(&name);
        outcome
    }

    /// Reads which triggers of a foreign table are disabled; the table itself is compared by words.
    pub(super) fn alter_foreign_table(&mut self, statement: Statement<'_>) -> Read {
        let relation = statement.node.child(K::TABLE_RELATION_NAME);
        let name = self.name(relation.ok_or(Trouble::Opaque)?);
        let actions = actions(statement.node);
        let is_about_triggers = !actions.is_empty() && actions.iter().all(sets_trigger);
        let triggers = self.schema.triggers_of_mut(&name);
        let triggers = triggers.filter(|_| is_about_triggers);
        let triggers = triggers.ok_or(Trouble::Opaque)?;
        let actions = actions.into_iter();
        actions.for_each(|action| set_trigger(triggers, action));
        Ok(())
    }

    fn rename_table(&mut self, name: &Name, to: String) -> Read {
        let to = Name::new(name.schema.clone(), to);
        let table = self
            .schema
            .tables
            .rename(name, to.clone())
            .ok_or(Trouble::Opaque)?;
        table.name = to;
        Ok(())
    }

    fn alter_action(
        &mut self,
        statement: Statement<'_>,
        table: &mut Table,
        action: Node<'_>,
        alone: bool,
    ) -> Read {
        let source = || statement.text.to_owned();
        match action.kind() {
            K::ADD_CONSTRAINT => return self.alter_add_constraint(statement, table, action, alone),
            K::ADD_COLUMN => {
                let column = self.column(statement, table, action, statement.text.len())?;
                if !(action.has(K::IF_NOT_EXISTS) && table.columns.contains(&column.name)) {
                    table.columns.insert(column.name.clone(), column);
                }
            }
            K::ALTER_COLUMN => return self.alter_column(table, action),
            K::DROP_COLUMN => {
                let column = word_in(action, K::COLUMN_NAME_REF);
                table.columns.remove(&column);
            }
            K::RENAME_COLUMN => return rename_column(table, action),
            K::DROP_CONSTRAINT => {
                let name = word_in(action, K::CONSTRAINT_NAME_REF);
                table.constraints.remove(&name);
            }
            K::VALIDATE_CONSTRAINT => validate_constraint(table, action),
            K::SET_OPTIONS => table.options.extend(options(action)),
            K::RESET_OPTIONS => {
                for name in options(action).keys() {
                    table.options.remove(name);
                }
            }
            K::ENABLE_RLS => table.rls = Some(source()),
            K::DISABLE_RLS => table.rls = None,
            K::FORCE_RLS => table.force_rls = Some(source()),
            K::NO_FORCE_RLS => table.force_rls = None,
            K::REPLICA_IDENTITY => table.replica_identity = replica_identity(action),
            K::SET_UNLOGGED => table.unlogged = true,
            K::SET_LOGGED => table.unlogged = false,
            K::INHERIT_TABLE => {
                let parent = action
                    .child(K::TABLE_NAME_REF)
                    .map(|parent| self.name(parent));
                table.inherits.extend(parent);
            }
            K::ATTACH_PARTITION => return self.attach(table, action),
            K::ENABLE_TRIGGER
            | K::DISABLE_TRIGGER
            | K::ENABLE_ALWAYS_TRIGGER
            | K::ENABLE_REPLICA_TRIGGER => set_trigger(&mut table.triggers, action),
            K::CLUSTER_ON
            | K::SET_TABLESPACE
            | K::SET_WITHOUT_CLUSTER
            | K::ENABLE_RULE
            | K::DISABLE_RULE
            | K::ENABLE_REPLICA_RULE
            | K::ENABLE_ALWAYS_RULE => return self.set(table, action),
            K::SET_WITHOUT_OIDS => {}
            _ => return Err(Trouble::Opaque),
        }
        Ok(())
    }

    /// Reads an action without a place in the model of tables.
    fn set(&mut self, table: &Table, action: Node<'_>) -> Read {
        let text = format!("ALTER TABLE ONLY {} {}", table.name.quoted(), action.text());
        match self.read_kept(&text) {
            true => Ok(()),
            false => Err(Trouble::Opaque),
        }
    }

    fn alter_column(&mut self, table: &mut Table, action: Node<'_>) -> Read {
        let column = word_in(action, K::COLUMN_NAME_REF);
        let change = action.children().last().ok_or(Trouble::Opaque)?;
        let is_own = table.columns.contains(&column);
        match change.kind() {
            K::SET_OPTIONS => self.set(table, action),
            K::SET_DEFAULT | K::SET_STATISTICS if !is_own => self.set(table, action),
            K::SET_STORAGE | K::SET_COMPRESSION if !is_own && !table.inherits.is_empty() => {
                self.set(table, action)
            }
            _ => alter_column(table, action),
        }
    }

    fn alter_add_constraint(
        &mut self,
        statement: Statement<'_>,
        table: &mut Table,
        action: Node<'_>,
        alone: bool,
    ) -> Read {
        let node = action
            .children()
            .find(|child| !child.is_leaf())
            .ok_or(Trouble::Opaque)?;
        let mut constraint = self.constraint(node, None)?;
        constraint.meta.renamed_from = self.former(statement, action.start(), statement.text.len());
        constraint.meta.source = alone.then(|| statement.text.to_owned());
        if let Some(index) = using_index(node) {
            // The index stays where it is.
            constraint.is_placed = true;
            let name = Name::new(table.name.schema.clone(), index.clone());
            self.index_tables.remove(&name);
            let index = table.indexes.remove(&index).ok_or(Trouble::Opaque)?;
            let keys = Keys {
                columns: index
                    .items
                    .into_iter()
                    .filter_map(|item| item.column)
                    .collect(),
                include: index.include,
                options: index.options,
                nulls_not_distinct: index.nulls_not_distinct,
                without_overlaps: false,
            };
            constraint.kind = match constraint.kind {
                ConstraintKind::Primary(_) => ConstraintKind::Primary(keys),
                _ => ConstraintKind::Unique(keys),
            };
            if !constraint.is_named {
                (constraint.name, constraint.is_named) = (name.name, true);
            }
        }
        add_constraint(table, constraint);
        Ok(())
    }

    /// Adds a constraint to a table made before.
    pub(super) fn put_constraint(&mut self, name: &Name, constraint: Constraint) -> Read {
        let Some(mut table) = self.schema.tables.get_mut(name).map(std::mem::take) else {
            return Err(Trouble::Opaque);
        };
        add_constraint(&mut table, constraint);
        self.name_constraints(&mut table);
        if let Some(slot) = self.schema.tables.get_mut(name) {
            *slot = table;
        }
        self.require_key_columns(name);
        self.place_keys(name);
        Ok(())
    }

    fn attach(&mut self, table: &Table, action: Node<'_>) -> Read {
        let part = action
            .child(K::TABLE_NAME_REF)
            .map(|part| self.name(part))
            .ok_or(Trouble::Opaque)?;
        let bound = action
            .children()
            .last()
            .map(|bound| bound.words())
            .unwrap_or_default();
        let part = self.schema.tables.get_mut(&part).ok_or(Trouble::Opaque)?;
        part.partition_of = Some((table.name.clone(), Sql(bound)));
        Ok(())
    }
}

/// Whether the table's original statement stays accurate after the change.
fn leaves_statement(kind: K) -> bool {
    matches!(
        kind,
        K::ADD_CONSTRAINT
            | K::ENABLE_RLS
            | K::DISABLE_RLS
            | K::FORCE_RLS
            | K::NO_FORCE_RLS
            | K::REPLICA_IDENTITY
            | K::ATTACH_PARTITION
            | K::ENABLE_TRIGGER
            | K::DISABLE_TRIGGER
            | K::ENABLE_ALWAYS_TRIGGER
            | K::ENABLE_REPLICA_TRIGGER
            | K::VALIDATE_CONSTRAINT
            | K::CLUSTER_ON
    )
}

fn replica_identity(action: Node<'_>) -> Option<String> {
    match () {
        () if action.has(K::REPLICA_IDENTITY_DEFAULT) => None,
        () if action.has(K::REPLICA_IDENTITY_FULL) => Some("FULL".to_owned()),
        () if action.has(K::REPLICA_IDENTITY_NOTHING) => Some("NOTHING".to_owned()),
        () => using_index(action)
            .map(|index| format!("USING INDEX {}", crate::postgres::name::quote(&index))),
    }
}

fn actions(node: Node<'_>) -> Vec<Node<'_>> {
    let is_action = |child: &Node<'_>| {
        !child.is_leaf() && !matches!(child.kind(), K::TABLE_RELATION_NAME | K::IF_EXISTS)
    };
    node.children().filter(is_action).collect()
}

fn sets_trigger(action: &Node<'_>) -> bool {
    matches!(
        action.kind(),
        K::ENABLE_TRIGGER
            | K::DISABLE_TRIGGER
            | K::ENABLE_ALWAYS_TRIGGER
            | K::ENABLE_REPLICA_TRIGGER
    )
}

fn set_trigger(triggers: &mut Listed<String, Trigger>, action: Node<'_>) {
    let state = match action.kind() {
        K::DISABLE_TRIGGER => 'D',
        K::ENABLE_ALWAYS_TRIGGER => 'A',
        K::ENABLE_REPLICA_TRIGGER => 'R',
        _ => 'O',
    };
    let named = action.child(K::TRIGGER_REF).map(word);
    for trigger in triggers.values_mut() {
        if named.as_ref().is_none_or(|name| *name == trigger.name) {
            trigger.state = state;
        }
    }
}

fn alter_column(table: &mut Table, action: Node<'_>) -> Read {
    let name = action
        .child(K::COLUMN_NAME_REF)
        .map(word)
        .ok_or(Trouble::Opaque)?;
    let Some(column) = table.columns.get_mut(&name) else {
        // A column of a partition that says nothing of its own, or of a table whose columns come
        // from elsewhere.
        return if table.partition_of.is_some()
            || !table.likes.is_empty()
            || !table.inherits.is_empty()
        {
            Ok(())
        } else {
            Err(Trouble::Opaque)
        };
    };
    let change = action.children().last().ok_or(Trouble::Opaque)?;
    match change.kind() {
        K::SET_DEFAULT => column.default = default_in(change),
        K::DROP_DEFAULT => column.default = None,
        K::SET_NOT_NULL => (column.not_null, column.not_null_said) = (true, true),
        K::DROP_NOT_NULL => (column.not_null, column.not_null_said) = (false, false),
        K::SET_TYPE => {
            column.data_type = type_in(change).unwrap_or_default();
            column.collation = change.child(K::COLLATE).and_then(collation);
        }
        K::SET_STATISTICS => column.statistics = number_in(change).filter(|target| *target >= 0),
        K::SET_STORAGE => {
            column.storage = change
                .tokens()
                .last()
                .map(|mode| mode.text().to_uppercase())
        }
        K::SET_COMPRESSION => {
            column.compression = change
                .tokens()
                .last()
                .map(|name| name.text().to_lowercase())
        }
        K::ADD_GENERATED => {
            column.identity = Some(Box::new(identity_in(change)));
            column.not_null = true;
        }
        K::DROP_IDENTITY => column.identity = None,
        K::DROP_EXPRESSION => column.generated = None,
        _ => return Err(Trouble::Opaque),
    }
    Ok(())
}

fn rename_column(table: &mut Table, action: Node<'_>) -> Read {
    let from = word_in(action, K::COLUMN_NAME_REF);
    let to = word_in(action, K::COLUMN_NAME);
    let column = table
        .columns
        .rename(&from, to.clone())
        .ok_or(Trouble::Opaque)?;
    column.name = to;
    Ok(())
}

fn validate_constraint(table: &mut Table, action: Node<'_>) {
    let name = word_in(action, K::CONSTRAINT_NAME_REF);
    if let Some(constraint) = table.constraints.get_mut(&name) {
        constraint.not_valid = false;
    }
}
