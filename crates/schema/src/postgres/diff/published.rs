//! Tables and schemas of a publication. The server takes no schema beside a table with a list of
//! columns, so that what goes has to go first.

use super::{Builder, Part};
use crate::postgres::kept::Stage;

const TABLE: &str = "publication-table";
const SCHEMA: &str = "publication-schema";

/// Schemas for tables, and the other way round; `None` for other kinds.
fn other(kind: &str) -> Option<&'static str> {
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
        for (key, kept) in self.unwanted_kept(Stage::Late) {
            let Some(other) = other(key.0) else { continue };
            let mut added = to.kept.iter().filter(|(key, _)| !from.kept.contains(*key));
            if added.any(|(key, added)| key.0 == other && added.of == kept.of) {
                self.drop_unwanted(kept);
                self.gone.insert(Part::Kept(key.clone()));
            }
        }
    }

    /// Lets added schemas wait for the tables taken out of the publication, and tables for schemas.
    pub(super) fn publish_after(&mut self) {
        let head = |sql: &str, word: &str| sql.split_once(word).map(|(head, _)| head.to_owned());
        for at in 0..self.statements.len() {
            let added = &self.statements[at];
            let Some(other) = other(added.object.kind) else {
                continue;
            };
            let Some(publication) = head(&added.sql, " ADD ") else {
                continue;
            };
            let before = self.statements[..at].iter().enumerate();
            let gone = before.filter(|(_, each)| {
                each.object.kind == other
                    && head(&each.sql, " DROP ").as_ref() == Some(&publication)
            });
            let gone: Vec<usize> = gone.map(|(at, _)| at).collect();
            self.statements[at].needs.extend(gone);
        }
    }
}
