//! Enums and domains.

use super::Sides;
use crate::postgres::model::{Constraint, Domain, EnumValue, TypeKind, UserType};
use crate::postgres::name::Name;

impl<'a> Sides<'a> {
    pub(in crate::postgres) fn type_differs(&self, to: &UserType) -> bool {
        match (
            self.from.types.get(&to.name).map(|found| &found.kind),
            &to.kind,
        ) {
            (Some(TypeKind::Enum(one)), TypeKind::Enum(other)) => labels(one) != labels(other),
            (Some(TypeKind::Domain(one)), TypeKind::Domain(other)) => {
                !one.base.is_same(&other.base)
                    || !self
                        .same
                        .collation(one.collation.as_deref(), other.collation.as_deref())
                    || one.not_null != other.not_null
                    || !self.same_domain_default(&to.name, one, other)
                    || self.domain_checks_differ(&to.name, one, other)
            }
            _ => true,
        }
    }

    pub(in crate::postgres) fn stored_domain(&self, name: &Name) -> Option<&'a Domain> {
        match self.stored?.types.get(name).map(|found| &found.kind) {
            Some(TypeKind::Domain(domain)) => Some(domain),
            _ => None,
        }
    }

    pub(in crate::postgres) fn same_domain_default(
        &self,
        name: &Name,
        one: &Domain,
        other: &Domain,
    ) -> bool {
        self.same.domain_default(one, other)
            || self
                .stored_domain(name)
                .is_some_and(|stored| self.same.domain_default(one, stored))
    }

    /// Checks present only on one side.
    pub(in crate::postgres) fn domain_checks(
        &self,
        name: &Name,
        one: &'a Domain,
        other: &'a Domain,
    ) -> (Vec<String>, Vec<&'a Constraint>) {
        let stored = self.stored_domain(name);
        let is_in = |check: &Constraint, wanted: &Constraint| {
            let stored = stored
                .and_then(|stored| stored.checks.iter().find(|each| each.name == wanted.name));
            (check.name == wanted.name || !wanted.is_named)
                && (self.same.domain_check(check, wanted)
                    || stored.is_some_and(|stored| self.same.domain_check(check, stored)))
        };
        let goes = one
            .checks
            .iter()
            .filter(|check| !other.checks.iter().any(|wanted| is_in(check, wanted)));
        let comes = other
            .checks
            .iter()
            .filter(|wanted| !one.checks.iter().any(|check| is_in(check, wanted)));
        (
            goes.map(|check| check.name.clone()).collect(),
            comes.collect(),
        )
    }

    pub(in crate::postgres) fn domain_checks_differ(
        &self,
        name: &Name,
        one: &Domain,
        other: &Domain,
    ) -> bool {
        let is_like = |check: &Constraint| {
            let wanted = other.checks.iter().find(|wanted| wanted.name == check.name);
            let stored = self.stored_domain(name);
            let stored =
                stored.and_then(|stored| stored.checks.iter().find(|each| each.name == check.name));
            wanted.is_some_and(|wanted| self.same.domain_check(check, wanted))
                || stored.is_some_and(|stored| self.same.domain_check(check, stored))
        };
        one.checks.len() != other.checks.len() || !one.checks.iter().all(is_like)
    }

    /// Whether a type is recreated in the other's place.
    pub(in crate::postgres) fn is_replaced_type(&self, name: &Name) -> bool {
        let kind = |found: &'a UserType| &found.kind;
        match (
            self.from.types.get(name).map(kind),
            self.to.types.get(name).map(kind),
        ) {
            (Some(TypeKind::Enum(one)), Some(TypeKind::Enum(other))) => {
                let (old, new) = (labels(one), labels(other));
                let kept: Vec<&str> = new
                    .iter()
                    .copied()
                    .filter(|label| old.contains(label))
                    .collect();
                kept != old
            }
            (Some(TypeKind::Domain(one)), Some(TypeKind::Domain(other))) => {
                let (had, wanted) = (one.collation.as_deref(), other.collation.as_deref());
                !one.base.is_same(&other.base) || !self.same.collation(had, wanted)
            }
            (Some(_), Some(_)) => true,
            _ => false,
        }
    }
}

pub(in crate::postgres) fn labels(values: &[EnumValue]) -> Vec<&str> {
    values.iter().map(|value| value.label.as_str()).collect()
}
