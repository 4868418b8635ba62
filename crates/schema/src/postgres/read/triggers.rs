//! Triggers and policies.

use squawk_parser::SyntaxKind as K;

use super::parts::{parts, sql, word};
use super::{Read, Reader, Statement, Trouble};
use crate::postgres::model::{Policy, Trigger};
use crate::postgres::name::fold;
use crate::postgres::parser::Node;

impl Reader<'_> {
    pub(super) fn create_trigger(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let name = node.child(K::TRIGGER).map(word).ok_or(Trouble::Opaque)?;
        let on = node
            .child(K::ON_RELATION)
            .and_then(|on| on.child(K::RELATION_NAME_REF))
            .ok_or(Trouble::Opaque)?;
        let call = node.child(K::CALL_EXPR).ok_or(Trouble::Opaque)?;
        let called = call.children().next().ok_or(Trouble::Opaque)?;
        let arguments = call
            .child(K::ARG_LIST)
            .map(|list| list.words())
            .unwrap_or_default();
        let has = |kind: K| node.has(kind);
        let mut trigger = Trigger {
            name: name.clone(),
            timing: match () {
                () if has(K::TIMING_BEFORE) => "BEFORE",
                () if has(K::TIMING_INSTEAD_OF) => "INSTEAD OF",
                () => "AFTER",
            },
            row: has(K::FOR_EACH_ROW),
            is_constraint: has(K::CONSTRAINT_KW),
            deferrable: has(K::DEFERRABLE_CONSTRAINT_OPTION)
                || has(K::INITIALLY_DEFERRED_CONSTRAINT_OPTION),
            deferred: has(K::INITIALLY_DEFERRED_CONSTRAINT_OPTION),
            from: node
                .child(K::FROM_TABLE)
                .and_then(|from| from.child(K::TABLE_NAME_REF))
                .map(|from| self.name(from)),
            referencing: referencing(node),
            when: node
                .child(K::WHEN_CONDITION)
                .and_then(|when| {
                    when.children()
                        .skip_while(|child| child.kind() != K::L_PAREN)
                        .nth(1)
                })
                .map(sql),
            function: self.name(called),
            function_schema_said: parts(called).len() > 1,
            arguments,
            says_procedure: has(K::PROCEDURE_KW),
            state: 'O',
            meta: self.meta(statement),
            ..Trigger::default()
        };
        trigger.events = events(node);
        let relation = self.name(on);
        let triggers = self.schema.triggers_of_mut(&relation);
        triggers.ok_or(Trouble::Opaque)?.insert(name, trigger);
        Ok(())
    }

    pub(super) fn create_policy(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let name = node.child(K::POLICY).map(word).ok_or(Trouble::Opaque)?;
        let on = node
            .child(K::ON_TABLE)
            .and_then(|on| on.child(K::TABLE_NAME_REF))
            .ok_or(Trouble::Opaque)?;
        let clause = |kind: K| {
            let clause = node.child(kind)?;
            clause
                .children()
                .skip_while(|child| child.kind() != K::L_PAREN)
                .nth(1)
                .map(sql)
        };
        let last_word = |kind: K| {
            node.child(kind)
                .and_then(|clause| clause.tokens().last())
                .map(Node::text)
        };
        let mut roles: Vec<String> = node
            .child(K::POLICY_ROLES)
            .map(|roles| {
                roles
                    .inside()
                    .filter(|role| role.kind() == K::ROLE_REF)
                    .map(|role| fold(role.text()))
                    .collect()
            })
            .unwrap_or_default();
        roles.sort();
        if roles.iter().any(|role| role == "public") {
            roles.clear();
        }
        let policy = Policy {
            name: name.clone(),
            restrictive: last_word(K::AS_POLICY_TYPE)
                .is_some_and(|word| word.eq_ignore_ascii_case("restrictive")),
            command: last_word(K::POLICY_COMMAND)
                .map_or_else(|| "ALL".to_owned(), str::to_uppercase),
            roles,
            using: clause(K::USING_EXPR_CLAUSE),
            check: clause(K::WITH_CHECK_EXPR_CLAUSE),
            meta: self.meta(statement),
        };
        let relation = self.name(on);
        let table = self
            .schema
            .tables
            .get_mut(&relation)
            .ok_or(Trouble::Opaque)?;
        table.policies.insert(name, policy);
        Ok(())
    }
}

/// Reads events, in the server's order.
fn events(node: Node<'_>) -> Vec<(&'static str, Vec<String>)> {
    let Some(list) = node.child(K::TRIGGER_EVENT_LIST) else {
        return Vec::new();
    };
    let order = [
        (K::TRIGGER_EVENT_INSERT, "INSERT"),
        (K::TRIGGER_EVENT_DELETE, "DELETE"),
        (K::TRIGGER_EVENT_UPDATE, "UPDATE"),
        (K::TRIGGER_EVENT_TRUNCATE, "TRUNCATE"),
    ];
    order
        .into_iter()
        .filter_map(|(kind, word_of)| {
            let event = list.child(kind)?;
            Some((word_of, event.all(K::COLUMN_NAME_REF).map(word).collect()))
        })
        .collect()
}

/// `OLD TABLE AS a NEW TABLE AS b`.
fn referencing(node: Node<'_>) -> String {
    let Some(clause) = node.child(K::REFERENCING) else {
        return String::new();
    };
    let mut tables: Vec<String> = [(K::OLD_TABLE, "OLD"), (K::NEW_TABLE, "NEW")]
        .into_iter()
        .filter_map(|(kind, which)| {
            let name = clause.child(kind)?.tokens().last()?;
            Some(format!("{which} TABLE AS {}", name.text()))
        })
        .collect();
    tables.dedup();
    tables.join(" ")
}
