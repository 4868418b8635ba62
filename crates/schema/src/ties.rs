//! Statements held back together with another one, by the names in new and in existing definitions.
//!
//! A whole plan is executable. With a statement left out, its object keeps its present form, and a
//! later statement can fail for one of two reasons: it uses the object's new form, or it drops or
//! changes something the present form uses. Both are read off names, so a statement may wait
//! without need, but none is tried that cannot succeed. And what is dropped temporarily is dropped
//! only when its recreation is executed.

use std::collections::{HashMap, HashSet};

use crate::{Object, ObjectKind, PlanOptions, Statement, Verb};

/// Names in a definition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    names: HashSet<String>,
    /// Whether all columns of a named object are used (`SELECT *`).
    has_all: bool,
}

impl Words {
    pub(crate) fn new(names: impl IntoIterator<Item = String>, has_all: bool) -> Words {
        let names = names.into_iter().collect();
        Words { names, has_all }
    }

    pub(crate) fn extend(&mut self, names: impl IntoIterator<Item = String>) {
        self.names.extend(names);
    }

    /// Whether an object, or one of the given parts, is named.
    fn has(&self, whole: &str, parts: Option<&[String]>) -> bool {
        let has_one = |parts: &[String]| parts.iter().any(|part| self.names.contains(part));
        self.names.contains(whole) && parts.is_none_or(|parts| self.has_all || has_one(parts))
    }
}

/// What a statement has to do with names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stake {
    /// The table, view, type, function … concerned, without a schema.
    pub(crate) whole: String,
    /// Columns, constraints … concerned; `None` for the whole object.
    pub(crate) parts: Option<Vec<String>>,
    /// Names in the statement's text.
    pub(crate) speaks_of: Words,
    /// Names in the object's former definition.
    pub(crate) spoke_of: Words,
    /// Tables whose keys the former definition depends on.
    pub(crate) stands_on: HashSet<String>,
    /// Names occupied as long as the object exists.
    pub(crate) takes: Vec<String>,
    /// Whether users of the former definition block the statement.
    pub(crate) breaks: bool,
    /// Whether the object is a dropped key with possible dependent foreign keys.
    pub(crate) breaks_key: bool,
    /// Comments, privileges and owners: without dependents, and dependent only on the creation of
    /// an object.
    pub(crate) is_side: bool,
}

/// Whether a statement may be held back by itself. In a plan for tables in use, the answer is known
/// only for its steps.
pub(crate) fn may_wait(statement: &Statement, options: &PlanOptions) -> bool {
    options.online || statement.is_destructive()
}

/// Adds to the statements what each needs, as far as something may be held back.
pub(crate) fn tie(statements: &mut [Statement], stakes: &[Stake], options: &PlanOptions) {
    let web = Web::of(statements, stakes);
    let mut is_reached: Vec<bool> = statements
        .iter()
        .map(|statement| may_wait(statement, options))
        .collect();
    let mut waiting: Vec<usize> = (0..statements.len()).filter(|at| is_reached[*at]).collect();
    while let Some(held) = waiting.pop() {
        for at in web.taken_along(statements, held) {
            if !statements[at].needs.contains(&held) {
                statements[at].needs.push(held);
            }
            if !std::mem::replace(&mut is_reached[at], true) {
                waiting.push(at);
            }
        }
    }
    // Names are found in the order of hashes, and the first need that waits is shown as the reason.
    for statement in statements {
        statement.needs.sort_unstable();
    }
}

/// Statements indexed by names.
struct Web<'s> {
    stakes: &'s [Stake],
    speakers: HashMap<&'s str, Vec<usize>>,
    /// Statements breaking an object, by the object's name.
    breakers: HashMap<&'s str, Vec<usize>>,
    /// Statements about an object or a part of one, by name.
    abouts: HashMap<&'s str, Vec<usize>>,
    objects: HashMap<Object, Vec<usize>>,
    /// Dependents already declared, by index of the prerequisite.
    needed_by: HashMap<usize, Vec<usize>>,
}

impl<'s> Web<'s> {
    fn of(statements: &[Statement], stakes: &'s [Stake]) -> Web<'s> {
        let mut web = Web {
            stakes,
            speakers: HashMap::new(),
            breakers: HashMap::new(),
            abouts: HashMap::new(),
            objects: HashMap::new(),
            needed_by: HashMap::new(),
        };
        for (at, (stake, statement)) in stakes.iter().zip(statements).enumerate() {
            for name in &stake.speaks_of.names {
                web.speakers.entry(name).or_default().push(at);
            }
            if stake.breaks || stake.breaks_key {
                web.breakers.entry(&stake.whole).or_default().push(at);
            }
            web.abouts.entry(&stake.whole).or_default().push(at);
            let object = statement.object.clone();
            web.objects.entry(object).or_default().push(at);
            for needed in &statement.needs {
                web.needed_by.entry(*needed).or_default().push(at);
            }
        }
        web
    }

    /// Indices of the statements to hold back together with `held`.
    fn taken_along(&self, statements: &[Statement], held: usize) -> Vec<usize> {
        let mut found = self.needed_by.get(&held).cloned().unwrap_or_default();
        let stake = &self.stakes[held];
        if stake.is_side {
            return found;
        }
        let later = |at: &usize| *at > held;
        let is_made = matches!(
            statements[held].verb,
            Verb::Create | Verb::Add | Verb::Aside
        );
        let speakers = self.at(&self.speakers, &stake.whole).filter(later);
        found.extend(speakers.filter(|at| {
            let other = &self.stakes[*at];
            (is_made || !other.is_side) && other.speaks_of.has(&stake.whole, stake.parts.as_deref())
        }));
        for name in &stake.takes {
            let about = self.at(&self.abouts, name).filter(later);
            let makes = |at: &usize| matches!(statements[*at].verb, Verb::Create | Verb::Add);
            found.extend(about.filter(makes));
        }
        for name in stake.spoke_of.names.iter().chain(&stake.stands_on) {
            let breakers = self.at(&self.breakers, name).filter(later);
            found.extend(breakers.filter(|at| {
                let other = &self.stakes[*at];
                let breaks =
                    other.breaks && stake.spoke_of.has(&other.whole, other.parts.as_deref());
                breaks || (other.breaks_key && stake.stands_on.contains(&other.whole))
            }));
        }
        found.extend(self.before(statements, held));
        found.retain(|at| *at != held);
        found
    }

    fn at<'a>(
        &'a self,
        places: &'a HashMap<&'s str, Vec<usize>>,
        name: &str,
    ) -> impl Iterator<Item = usize> + 'a {
        places.get(name).into_iter().flatten().copied()
    }

    /// Indices of earlier statements pointless without `held`.
    fn before(&self, statements: &[Statement], held: usize) -> Vec<usize> {
        let (statement, stake) = (&statements[held], &self.stakes[held]);
        let earlier = |at: &usize| *at < held;
        let same = self.objects.get(&statement.object).into_iter().flatten();
        let same = same.copied().filter(earlier);
        let steps_aside = |at: &usize| matches!(statements[*at].verb, Verb::Aside | Verb::Relax);
        match statement.verb {
            // What it is made again for.
            Verb::Add | Verb::Create => same.filter(steps_aside).collect(),
            // A column's changes are of one piece.
            Verb::Alter if statement.object.kind == ObjectKind::Column => same
                .filter(|at| statements[*at].verb == Verb::Alter)
                .collect(),
            // What is on it goes with it or stays with it.
            Verb::Drop if stake.parts.is_none() => {
                let parts = self.at(&self.abouts, &stake.whole).filter(earlier);
                let is_part = |at: &usize| self.stakes[*at].parts.is_some();
                let goes = |at: &usize| {
                    matches!(statements[*at].verb, Verb::Aside | Verb::Relax | Verb::Drop)
                };
                parts.filter(is_part).filter(goes).collect()
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dropped column of a table.
    fn dropped(column: usize) -> (Statement, Stake) {
        let object = Object {
            kind: ObjectKind::Column,
            name: format!("t{column}.c"),
        };
        let statement = Statement::plain(String::new(), Verb::Drop, object, Vec::new());
        let stake = Stake {
            whole: format!("t{column}"),
            parts: Some(vec!["c".to_owned()]),
            ..Stake::default()
        };
        (statement, stake)
    }

    #[test]
    fn needs_stand_in_the_order_of_the_plan() {
        const COLUMNS: usize = 20;
        let (mut statements, mut stakes): (Vec<Statement>, Vec<Stake>) =
            (0..COLUMNS).map(dropped).unzip();
        let object = Object {
            kind: ObjectKind::View,
            name: "v".to_owned(),
        };
        let mut view = Statement::plain(String::new(), Verb::Create, object, Vec::new());
        view.needs = vec![7];
        statements.push(view);
        let names = (0..COLUMNS).map(|column| format!("t{column}"));
        stakes.push(Stake {
            whole: "v".to_owned(),
            speaks_of: Words::new(names, true),
            ..Stake::default()
        });
        tie(&mut statements, &stakes, &PlanOptions::default());
        let all: Vec<usize> = (0..COLUMNS).collect();
        assert_eq!(statements[COLUMNS].needs, all);
    }
}
