//! Execution order of a table's triggers for one event: creation order, unless changed by `FOLLOWS`
//! or `PRECEDES`.

use super::model::Trigger;

/// Names of existing triggers to recreate, so all run in the wanted order.
pub(crate) fn misplaced<'a>(from: &[Trigger], to: &'a [Trigger]) -> Vec<&'a str> {
    let mut misplaced = Vec::new();
    for (at, first) in to.iter().enumerate() {
        let is_first = !to[..at].iter().any(|other| runs_with(other, first));
        if is_first {
            let wanted: Vec<&Trigger> = to.iter().filter(|other| runs_with(other, first)).collect();
            misplaced.extend(misplaced_in(from, &wanted));
        }
    }
    misplaced
}

fn runs_with(one: &Trigger, other: &Trigger) -> bool {
    one.event == other.event && one.table.is(&other.table)
}

/// Names of the triggers to recreate among ones running together. A new trigger runs last, so
/// existing ones wanted before the first new one may stay, in their old order.
fn misplaced_in<'a>(from: &[Trigger], wanted: &[&'a Trigger]) -> Vec<&'a str> {
    let order = ordered(wanted);
    let before: Vec<&Trigger> = from
        .iter()
        .filter(|trigger| {
            wanted
                .iter()
                .any(|other| other.name.text == trigger.name.text)
        })
        .collect();
    let before = ordered(&before);
    let is_kept = |at: usize| {
        let there = before
            .get(at)
            .is_some_and(|there| there.name.text == order[at].name.text);
        there && before[at].is_same(order[at])
    };
    let kept = (0..order.len()).take_while(|at| is_kept(*at)).count();
    // A place that is told by another trigger can be in the midst of those that stay.
    let is_told = order[kept..]
        .iter()
        .any(|trigger| !trigger.order.is_empty());
    let kept = if is_told { 0 } else { kept };
    order[kept..]
        .iter()
        .map(|trigger| trigger.name.text.as_str())
        .collect()
}

/// Converts creation order into execution order.
fn ordered<'a>(made: &[&'a Trigger]) -> Vec<&'a Trigger> {
    let mut order: Vec<&Trigger> = Vec::new();
    for trigger in made {
        let (word, other) = trigger.order.split_once(' ').unwrap_or_default();
        let other = order.iter().position(|each| each.name.text == other);
        let at = match (word, other) {
            ("FOLLOWS", Some(other)) => other + 1,
            ("PRECEDES", Some(other)) => other,
            _ => order.len(),
        };
        order.insert(at, trigger);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Product, Server, Source};

    fn triggers(names: &str) -> Vec<Trigger> {
        let one = |text: &str| {
            let (name, order) = text.split_once(' ').unwrap_or((text, ""));
            format!("CREATE TRIGGER {name} BEFORE INSERT ON t FOR EACH ROW {order} SET @a = 1;\n")
        };
        let source = Source {
            name: "triggers.sql".to_owned(),
            text: names.split(", ").map(one).collect(),
        };
        let read = crate::mysql::read(&[source], &Server::unknown(Product::Mysql));
        read.unwrap().0.triggers
    }

    #[test]
    fn triggers_are_made_again_from_the_first_that_is_out_of_place() {
        let check = |from: &str, to: &str, expected: &[&str]| {
            let (from, to) = (triggers(from), triggers(to));
            assert_eq!(misplaced(&from, &to), expected, "{to:?}");
        };
        check("a, b, c", "a, b, c", &[]);
        check("a, c, b", "a, b, c", &["b", "c"]);
        check("a, b", "a, b, c", &["c"]);
        check("a, gone, b", "a, b", &[]);
        check("b, a", "a, b PRECEDES a", &[]);
        check("a, b", "a, b PRECEDES a", &["b", "a"]);
        check("a, c, b", "a, b, c FOLLOWS a", &[]);
    }
}
