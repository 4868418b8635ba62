//! Plans in the making: how statements are appended, in whichever dialect.

use super::{Hazard, Statement, Verb};
use crate::{Object, ObjectKind};

/// A plan in the making.
pub(crate) trait Steps {
    /// Hazards of every statement on the server, behind a statement's own.
    const ALWAYS: &'static [Hazard] = &[];

    /// The statements so far.
    fn statements(&mut self) -> &mut Vec<Statement>;

    /// Appends a statement without own hazards and returns the index.
    fn push(&mut self, sql: String, verb: Verb, kind: ObjectKind, name: String) -> usize {
        self.push_with(sql, verb, kind, name, Vec::new())
    }

    /// Appends a statement with own hazards and returns the index.
    fn push_with(
        &mut self,
        sql: String,
        verb: Verb,
        kind: ObjectKind,
        name: String,
        mut hazards: Vec<Hazard>,
    ) -> usize {
        hazards.extend_from_slice(Self::ALWAYS);
        let statement = Statement::plain(sql, verb, Object { kind, name }, hazards);
        let statements = self.statements();
        statements.push(statement);
        statements.len() - 1
    }

    /// Appends a drop, held back unless allowed, and returns the index.
    fn push_drop(
        &mut self,
        sql: String,
        kind: ObjectKind,
        name: String,
        hazards: Vec<Hazard>,
    ) -> usize {
        self.push_with(sql, Verb::Drop, kind, name, hazards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan for a server without transactions around changes of schemas.
    struct Uncommitted(Vec<Statement>);

    impl Steps for Uncommitted {
        const ALWAYS: &'static [Hazard] = &[Hazard::NotTransactional];

        fn statements(&mut self) -> &mut Vec<Statement> {
            &mut self.0
        }
    }

    #[test]
    fn a_statements_own_hazards_stand_before_the_servers() {
        let mut plan = Uncommitted(Vec::new());
        let name = || "t".to_owned();
        let first = plan.push(String::new(), Verb::Create, ObjectKind::Table, name());
        let lost = Hazard::DataLoss(name());
        let second = plan.push_drop(String::new(), ObjectKind::Table, name(), vec![lost.clone()]);
        assert_eq!((first, second), (0, 1));
        assert_eq!(plan.0[0].hazards, [Hazard::NotTransactional]);
        assert_eq!(plan.0[1].hazards, [lost, Hazard::NotTransactional]);
        assert_eq!(plan.0[1].verb, Verb::Drop);
    }
}
