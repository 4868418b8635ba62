//! Creation orders of interdependent objects.

use std::collections::HashMap;

use crate::mysql::model::{Table, View};

/// Sorts prerequisites first; circles stay in the original order.
///
/// `needs` gives indices into the same list.
pub(in crate::mysql) fn sorted(count: usize, needs: &dyn Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut order = Vec::with_capacity(count);
    let mut state = vec![State::New; count];
    for start in 0..count {
        // A list instead of recursion: a chain may be as long as the schema.
        let mut path = vec![(start, Vec::new(), false)];
        while let Some((at, waiting, is_open)) = path.last_mut() {
            if !*is_open {
                if state[*at] != State::New {
                    path.pop();
                    continue;
                }
                state[*at] = State::Open;
                *is_open = true;
                *waiting = needs(*at);
                waiting.reverse();
            }
            match waiting.pop() {
                Some(next) => path.push((next, Vec::new(), false)),
                None => {
                    state[*at] = State::Done;
                    order.push(*at);
                    path.pop();
                }
            }
        }
    }
    order
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

/// Tables, each behind the ones referenced by foreign keys.
pub(in crate::mysql) fn tables<'a>(tables: &[&'a Table]) -> Vec<&'a Table> {
    let places: HashMap<&str, usize> = tables
        .iter()
        .enumerate()
        .map(|(place, table)| (table.name.text.as_str(), place))
        .collect();
    let needs = |at: usize| {
        let keys = tables[at].foreign_keys.iter();
        let parents = keys.filter_map(|key| places.get(key.table.text.as_str()).copied());
        parents.filter(|parent| *parent != at).collect()
    };
    sorted(tables.len(), &needs)
        .into_iter()
        .map(|at| tables[at])
        .collect()
}

/// Views, each behind the views read.
pub(in crate::mysql) fn views<'a>(views: &[&'a View]) -> Vec<&'a View> {
    let places: HashMap<String, usize> = views
        .iter()
        .enumerate()
        .map(|(place, view)| (view.name.text.to_lowercase(), place))
        .collect();
    let needs = |at: usize| {
        let read = views[at]
            .tables
            .iter()
            .filter_map(|name| places.get(name).copied());
        read.filter(|other| *other != at).collect()
    };
    sorted(views.len(), &needs)
        .into_iter()
        .map(|at| views[at])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first() {
        let needs = |at: usize| match at {
            0 => vec![2],
            2 => vec![1],
            3 => vec![4],
            4 => vec![3],
            _ => Vec::new(),
        };
        assert_eq!(sorted(5, &needs), [1, 2, 0, 4, 3]);
    }
}
