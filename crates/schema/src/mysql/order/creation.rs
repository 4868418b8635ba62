//! Creation orders of interdependent objects.

use std::collections::HashMap;

use crate::mysql::model::{Table, View};
use crate::sorted::sorted;

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
        parents
            .filter(|parent| *parent != at)
            .collect::<Vec<usize>>()
    };
    sorted(tables.len(), needs)
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
        read.filter(|other| *other != at).collect::<Vec<usize>>()
    };
    sorted(views.len(), needs)
        .into_iter()
        .map(|at| views[at])
        .collect()
}
