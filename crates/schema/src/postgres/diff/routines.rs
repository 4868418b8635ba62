//! Functions, and the ones taking the place of others.

use super::{FunctionKey, Sides};
use crate::postgres::model::Function;

impl<'a> Sides<'a> {
    pub(in crate::postgres) fn function_differs(&self, key: &FunctionKey, to: &Function) -> bool {
        let Some(from) = self.from.functions.get(key) else {
            return true;
        };
        let stored = self.stored.and_then(|stored| stored.functions.get(key));
        !self.same.function(from, to)
            && !stored.is_some_and(|stored| self.same.function(from, stored))
    }

    /// The dropped function of the same name, when each side has exactly one unmatched.
    pub(in crate::postgres) fn predecessor(&self, key: &FunctionKey) -> Option<&'a Function> {
        let (from, to) = (self.from, self.to);
        if let Some(before) = from.functions.get(key) {
            return Some(before);
        }
        let mut goes = from
            .functions
            .iter()
            .filter(|(other, _)| other.0 == key.0 && !to.functions.contains(*other));
        let mut comes = to
            .functions
            .iter()
            .filter(|(other, _)| other.0 == key.0 && !from.functions.contains(*other));
        match (goes.next(), goes.next(), comes.next(), comes.next()) {
            (Some((_, before)), None, Some(_), None) => Some(before),
            _ => None,
        }
    }

    /// Whether a plan drops the function in favour of another.
    pub(in crate::postgres) fn is_succeeded(&self, key: &FunctionKey) -> bool {
        let mut comes = self
            .to
            .functions
            .keys()
            .filter(|other| other.0 == key.0 && !self.from.functions.contains(*other));
        comes.any(|other| {
            self.predecessor(other)
                .is_some_and(|before| (before.name.clone(), before.signature.clone()) == *key)
        })
    }

    /// Whether a function has to be dropped before creating the successor.
    pub(in crate::postgres) fn is_function_remade(
        &self,
        key: &FunctionKey,
        function: &Function,
    ) -> bool {
        match self.to.functions.get(key) {
            Some(wanted) => !self.same.same_call(function, wanted),
            None => self.is_succeeded(key),
        }
    }
}
