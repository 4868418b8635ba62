//! Comments, owners, and what a file drops again.

use squawk_parser::SyntaxKind as K;

use super::functions::{argument, signature};
use super::parts::{parts, word};
use super::{Read, Reader, Statement, Trouble};
use crate::postgres::model::{ConstraintKind, Meta, Owner, TypeKind};
use crate::postgres::name::{Name, string};
use crate::postgres::parser::Node;

impl Reader<'_> {
    pub(super) fn comment_on(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let object = node.children().nth(2).ok_or(Trouble::Opaque)?;
        let last = node
            .children()
            .filter(|child| child.kind() != K::SEMICOLON)
            .last();
        let comment = last
            .filter(|last| last.kind() == K::LITERAL)
            .map(|literal| string(literal.text()));
        let comment = comment.filter(|comment| !comment.is_empty());
        if object.kind() == K::OBJECT_COLUMN {
            return self.comment_on_column(object, comment);
        }
        let meta = self.commented(object).ok_or(Trouble::Opaque)?;
        meta.comment = comment;
        Ok(())
    }

    fn comment_on_column(&mut self, object: Node<'_>, comment: Option<String>) -> Read {
        let path = object
            .child(K::QUALIFIED_COLUMN_NAME_REF)
            .ok_or(Trouble::Opaque)?;
        let mut path = parts(path);
        let column = path.pop().unwrap_or_default();
        let relation = self.resolve(&path);
        if let Some(table) = self.schema.tables.get_mut(&relation) {
            let column = table.columns.get_mut(&column).ok_or(Trouble::Opaque)?;
            column.meta.comment = comment;
        } else {
            let view = self
                .schema
                .views
                .get_mut(&relation)
                .ok_or(Trouble::Opaque)?;
            match comment {
                Some(comment) => drop(view.column_comments.insert(column, comment)),
                None => drop(view.column_comments.remove(&column)),
            }
        }
        Ok(())
    }

    fn commented(&mut self, object: Node<'_>) -> Option<&mut Meta> {
        let inner = object.children().nth(1)?;
        let name = self.name(inner);
        match object.kind() {
            K::OBJECT_TABLE => self
                .schema
                .tables
                .get_mut(&name)
                .map(|table| &mut table.meta),
            K::OBJECT_VIEW | K::OBJECT_MATERIALIZED_VIEW => {
                let view = object
                    .inside()
                    .filter(|node| node.kind() == K::VIEW_REF)
                    .last();
                let name = view.map_or(name, |view| self.name(view));
                self.schema.views.get_mut(&name).map(|view| &mut view.meta)
            }
            K::OBJECT_TYPE | K::OBJECT_DOMAIN => self
                .schema
                .types
                .get_mut(&name)
                .map(|found| &mut found.meta),
            K::OBJECT_SEQUENCE => self
                .schema
                .sequences
                .get_mut(&name)
                .map(|sequence| &mut sequence.meta),
            K::OBJECT_SCHEMA => {
                // Every database has this one, so that no statement needs to make it.
                if name.name == "public" && !self.schema.schemas.contains("public") {
                    return None;
                }
                self.schema
                    .schemas
                    .get_mut(&name.name)
                    .map(|schema| &mut schema.meta)
            }
            K::OBJECT_EXTENSION => self
                .schema
                .extensions
                .get_mut(&name.name)
                .map(|extension| &mut extension.meta),
            K::OBJECT_INDEX => self.commented_index(&name),
            K::OBJECT_FUNCTION | K::OBJECT_PROCEDURE => {
                let key = self.function_key(signature_of(object)?);
                self.schema
                    .functions
                    .get_mut(&key)
                    .map(|function| &mut function.meta)
            }
            K::OBJECT_CONSTRAINT | K::OBJECT_TRIGGER | K::OBJECT_POLICY => {
                let on = object
                    .children()
                    .skip_while(|child| child.kind() != K::ON_KW)
                    .nth(1)?;
                if let Some(domain) = object.child(K::DOMAIN_REF) {
                    return self.commented_check(&word(inner), domain);
                }
                self.commented_part(object.kind(), &word(inner), on)
            }
            _ => None,
        }
    }

    fn commented_index(&mut self, name: &Name) -> Option<&mut Meta> {
        if self.index_tables.contains_key(name) {
            return self.index_mut(name).map(|index| &mut index.meta);
        }
        // The index of a constraint: its comment is the constraint's here.
        let tables = self.schema.tables.values_mut();
        let mut same_schema = tables.filter(|table| table.name.schema == name.schema);
        same_schema.find_map(|table| {
            table
                .constraints
                .get_mut(&name.name)
                .map(|constraint| &mut constraint.meta)
        })
    }

    fn commented_check(&mut self, name: &str, domain: Node<'_>) -> Option<&mut Meta> {
        let domain = self.name(domain);
        let TypeKind::Domain(domain) = &mut self.schema.types.get_mut(&domain)?.kind else {
            return None;
        };
        let mut checks = domain.checks.iter_mut();
        let check = checks.find(|check| check.name == name)?;
        Some(&mut check.meta)
    }

    fn commented_part(&mut self, kind: K, name: &str, on: Node<'_>) -> Option<&mut Meta> {
        let relation = self.name(on);
        if kind == K::OBJECT_TRIGGER {
            let trigger = self.schema.triggers_of_mut(&relation)?.get_mut(name)?;
            return Some(&mut trigger.meta);
        }
        let table = self.schema.tables.get_mut(&relation)?;
        match kind {
            K::OBJECT_CONSTRAINT => table
                .constraints
                .get_mut(name)
                .map(|constraint| &mut constraint.meta),
            _ => table.policies.get_mut(name).map(|policy| &mut policy.meta),
        }
    }

    pub(super) fn function_key(&self, sig: Node<'_>) -> (Name, String) {
        let name = sig
            .children()
            .next()
            .map(|name| self.name(name))
            .unwrap_or_default();
        let arguments: Vec<_> = sig
            .child(K::PARAM_LIST)
            .map(|list| list.all(K::PARAM).map(argument).collect())
            .unwrap_or_default();
        (name, signature(&arguments))
    }

    /// Reads `ALTER … OWNER TO`; other changes of the kinds concerned stay opaque.
    pub(super) fn change_owner(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let owner = node.child(K::OWNER_TO).ok_or(Trouble::Opaque)?;
        let role = owner.child(K::ROLE_REF).map(word).ok_or(Trouble::Opaque)?;
        let object = node
            .children()
            .find(|child| !child.is_leaf() && child.kind() != K::IF_EXISTS)
            .ok_or(Trouble::Opaque)?;
        let name = self.name(object);
        if node.kind() == K::ALTER_SCHEMA && name.name == "public" {
            // Every database has this one; whose it is belongs to the database.
            return Ok(());
        }
        let meta = match node.kind() {
            K::ALTER_FUNCTION | K::ALTER_PROCEDURE => {
                let key = self.function_key(object);
                self.schema
                    .functions
                    .get_mut(&key)
                    .map(|function| &mut function.meta)
            }
            K::ALTER_SCHEMA => self
                .schema
                .schemas
                .get_mut(&name.name)
                .map(|schema| &mut schema.meta),
            K::ALTER_SEQUENCE => self
                .schema
                .sequences
                .get_mut(&name)
                .map(|sequence| &mut sequence.meta),
            K::ALTER_TYPE | K::ALTER_DOMAIN => self
                .schema
                .types
                .get_mut(&name)
                .map(|found| &mut found.meta),
            _ if self.schema.views.contains(&name) => {
                self.schema.views.get_mut(&name).map(|view| &mut view.meta)
            }
            // Older dumps change any relation's owner by ALTER TABLE.
            _ if self.schema.sequences.contains(&name) => self
                .schema
                .sequences
                .get_mut(&name)
                .map(|sequence| &mut sequence.meta),
            _ => self
                .schema
                .tables
                .get_mut(&name)
                .map(|table| &mut table.meta),
        };
        let meta = meta.ok_or(Trouble::Opaque)?;
        meta.owner = Some(Box::new(Owner {
            role,
            source: statement.text.to_owned(),
        }));
        Ok(())
    }

    /// Reads `DROP …`, as in concatenated migrations.
    pub(super) fn drop_objects(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let names: Vec<Node<'_>> = node
            .children()
            .filter(|child| {
                !child.is_leaf()
                    && !matches!(
                        child.kind(),
                        K::IF_EXISTS | K::CASCADE | K::RESTRICT | K::ON_TABLE | K::ON_RELATION
                    )
            })
            .collect();
        for object in names {
            let name = self.name(object);
            match node.kind() {
                K::DROP_TABLE => drop(self.schema.tables.remove(&name)),
                K::DROP_INDEX => self.drop_index(&name),
                K::DROP_VIEW | K::DROP_MATERIALIZED_VIEW => drop(self.schema.views.remove(&name)),
                K::DROP_TYPE | K::DROP_DOMAIN => drop(self.schema.types.remove(&name)),
                K::DROP_SEQUENCE => drop(self.schema.sequences.remove(&name)),
                K::DROP_EXTENSION => drop(self.schema.extensions.remove(&name.name)),
                K::DROP_SCHEMA => drop(self.schema.schemas.remove(&name.name)),
                K::DROP_FUNCTION | K::DROP_PROCEDURE => {
                    let sig = signature_of(object).unwrap_or(object);
                    let key = self.function_key(sig);
                    self.schema.functions.remove(&key);
                }
                _ => self.drop_part(node, &name.name),
            }
        }
        Ok(())
    }

    fn drop_part(&mut self, node: Node<'_>, part: &str) {
        let on = node
            .children()
            .find(|child| matches!(child.kind(), K::ON_TABLE | K::ON_RELATION));
        let Some(on) = on.and_then(|on| on.children().nth(1)) else {
            return;
        };
        let relation = self.name(on);
        if node.kind() == K::DROP_TRIGGER {
            if let Some(triggers) = self.schema.triggers_of_mut(&relation) {
                triggers.remove(part);
            }
        } else if let Some(table) = self.schema.tables.get_mut(&relation) {
            table.policies.remove(part);
        }
    }

    /// Sets columns of the primary key `NOT NULL`.
    pub(super) fn require_key_columns(&mut self, table: &Name) {
        let Some(table) = self.schema.tables.get_mut(table) else {
            return;
        };
        let keys: Vec<String> = table
            .constraints
            .values()
            .filter_map(|constraint| match &constraint.kind {
                ConstraintKind::Primary(keys) => Some(keys.columns.clone()),
                _ => None,
            })
            .flatten()
            .collect();
        for column in keys {
            if let Some(column) = table.columns.get_mut(&column) {
                column.not_null = true;
            }
        }
    }
}

/// The name and arguments of a function or procedure.
pub(super) fn signature_of(object: Node<'_>) -> Option<Node<'_>> {
    let procedure = || object.find(K::PROCEDURE_SIG);
    object.find(K::FUNCTION_SIG).or_else(procedure)
}
