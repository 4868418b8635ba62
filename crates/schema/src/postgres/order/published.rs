//! Tables and schemas of a publication. The server takes no schema beside a table with a list of
//! columns, so that what goes has to go first.

use std::collections::{HashMap, HashSet};

use super::{Builder, Part};
use crate::postgres::kept::{Key, Stage};
use crate::{ObjectKind, Statement};

const TABLE: ObjectKind = ObjectKind::PublicationTable;
const SCHEMA: ObjectKind = ObjectKind::PublicationSchema;

/// Schemas for tables, and the other way round; `None` for other kinds.
fn other(kind: ObjectKind) -> Option<ObjectKind> {
    match kind {
        TABLE => Some(SCHEMA),
        SCHEMA => Some(TABLE),
        _ => None,
    }
}

impl Builder<'_> {
    /// Takes tables out of publications before schemas are added, and schemas before tables are.
    pub(super) fn unpublish(&mut self) {
        let (from, to) = (self.from, self.to);
        let is_new = |key: &Key| other(key.0).is_some() && !from.kept.contains(key);
        let added = to.kept.iter().filter(|(key, _)| is_new(key));
        let added: HashSet<(ObjectKind, Option<&Key>)> =
            added.map(|(key, kept)| (key.0, kept.of.as_ref())).collect();
        if added.is_empty() {
            return;
        }
        for (key, kept) in self.unwanted_kept(Stage::Late) {
            let meets = other(key.0).map(|other| (other, kept.of.as_ref()));
            if meets.is_some_and(|meets| added.contains(&meets)) {
                self.drop_unwanted(kept);
                self.gone.insert(Part::Kept(key.clone()));
            }
        }
    }

    /// Lets added schemas wait for the tables taken out of the publication, and tables for schemas.
    pub(super) fn publish_after(&mut self) {
        let mut gone: HashMap<(ObjectKind, String), Vec<usize>> = HashMap::new();
        for at in 0..self.statements.len() {
            let Statement { object, sql, .. } = &self.statements[at];
            let Some(other) = other(object.kind) else {
                continue;
            };
            if let Some((publication, _)) = sql.split_once(" DROP ") {
                let key = (object.kind, publication.to_owned());
                gone.entry(key).or_default().push(at);
            } else if let Some((publication, _)) = sql.split_once(" ADD ") {
                let needed = gone.get(&(other, publication.to_owned()));
                let needed = needed.cloned().unwrap_or_default();
                self.statements[at].needs.extend(needed);
            }
        }
    }
}
