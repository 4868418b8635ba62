//! Constraints and indexes.

use super::{Printer, with_options};
use crate::postgres::model::{Constraint, ConstraintKind, Foreign, Index, IndexItem, Keys};
use crate::postgres::name::Name;

impl Printer<'_> {
    /// Spells `CONSTRAINT name PRIMARY KEY (…)`, as in `CREATE TABLE`; without the name when
    /// `unnamed`.
    pub(crate) fn constraint(&self, constraint: &Constraint, unnamed: bool) -> String {
        let name = if unnamed {
            String::new()
        } else {
            format!("CONSTRAINT {} ", self.ident(&constraint.name))
        };
        format!("{name}{}", self.constraint_body(constraint, ", "))
    }

    /// What follows the name; foreign keys put `separator` between columns.
    pub(crate) fn constraint_body(&self, constraint: &Constraint, separator: &str) -> String {
        let mut text = match &constraint.kind {
            ConstraintKind::Primary(keys) => format!("PRIMARY KEY {}", self.keys(keys)),
            ConstraintKind::Unique(keys) => {
                let nulls = if keys.nulls_not_distinct {
                    "NULLS NOT DISTINCT "
                } else {
                    ""
                };
                format!("UNIQUE {nulls}{}", self.keys(keys))
            }
            ConstraintKind::Check(check) => format!("CHECK ({})", self.expression(check)),
            ConstraintKind::Foreign(foreign) => self.foreign(foreign, separator),
            ConstraintKind::Exclude(exclude) => {
                let items = exclude
                    .items
                    .iter()
                    .map(|(item, operator)| format!("{} WITH {operator}", self.index_item(item)));
                let mut text = format!(
                    "EXCLUDE USING {} ({})",
                    exclude.method,
                    items.collect::<Vec<_>>().join(", ")
                );
                if !exclude.include.is_empty() {
                    text.push_str(&format!(" INCLUDE ({})", self.list(&exclude.include, ", ")));
                }
                if let Some(predicate) = &exclude.predicate {
                    text.push_str(&format!(" WHERE ({})", self.expression(predicate)));
                }
                text
            }
        };
        for (is_on, words) in [
            (constraint.no_inherit, " NO INHERIT"),
            (constraint.deferrable, " DEFERRABLE"),
            (constraint.deferred, " INITIALLY DEFERRED"),
            (
                self.is_sqldef() && constraint.deferrable && !constraint.deferred,
                " INITIALLY IMMEDIATE",
            ),
            (constraint.not_enforced, " NOT ENFORCED"),
            (
                constraint.not_valid && !constraint.not_enforced,
                " NOT VALID",
            ),
        ] {
            if is_on {
                text.push_str(words);
            }
        }
        text
    }

    fn keys(&self, keys: &Keys) -> String {
        let overlaps = if keys.without_overlaps {
            " WITHOUT OVERLAPS"
        } else {
            ""
        };
        let mut text = format!("({}{overlaps})", self.list(&keys.columns, ", "));
        if !keys.include.is_empty() {
            text.push_str(&format!(" INCLUDE ({})", self.list(&keys.include, ", ")));
        }
        text + &with_options(&keys.options)
    }

    fn foreign(&self, foreign: &Foreign, separator: &str) -> String {
        let columns = |columns: &[String]| {
            let last = columns.len().saturating_sub(1);
            let each = columns.iter().enumerate().map(|(at, column)| {
                let period = if foreign.period && at == last {
                    "PERIOD "
                } else {
                    ""
                };
                format!("{period}{}", self.ident(column))
            });
            each.collect::<Vec<_>>().join(separator)
        };
        let mut text = format!(
            "FOREIGN KEY ({}) REFERENCES {}",
            columns(&foreign.columns),
            self.name(&foreign.table)
        );
        if !foreign.table_columns.is_empty() {
            text.push_str(&format!(" ({})", columns(&foreign.table_columns)));
        }
        if foreign.match_full {
            text.push_str(" MATCH FULL");
        }
        for (event, action) in [
            ("DELETE", &foreign.on_delete),
            ("UPDATE", &foreign.on_update),
        ] {
            if let Some(action) = action {
                text.push_str(&format!(" ON {event} {action}"));
            }
        }
        text
    }

    /// Spells a column or expression of an index, with collation, class and order.
    pub(crate) fn index_item(&self, item: &IndexItem) -> String {
        let mut text = match &item.column {
            Some(column) => self.ident(column),
            None if self.is_sqldef() => {
                let expression = self.expression(&item.expression);
                if item.expression.0.trim_start().starts_with('(') {
                    format!("({expression})")
                } else {
                    expression
                }
            }
            None => item.expression.0.clone(),
        };
        if let Some(collation) = &item.collation {
            text.push_str(&format!(" COLLATE {collation}"));
        }
        if let Some(class) = &item.class {
            text.push_str(&format!(" {class}"));
        }
        match (item.descending, item.nulls_first) {
            (true, true) => text.push_str(" DESC"),
            (true, false) => text.push_str(" DESC NULLS LAST"),
            (false, true) => text.push_str(" NULLS FIRST"),
            (false, false) => {}
        }
        text
    }

    /// `CREATE INDEX …`.
    pub(crate) fn index(&self, index: &Index, on: &Name, concurrently: bool) -> String {
        if self.is_sqldef()
            && !self.keep_quoting
            && let Some(source) = &index.meta.source
        {
            return if concurrently {
                with_concurrently(source)
            } else {
                source.clone()
            };
        }
        let items: Vec<String> = index
            .items
            .iter()
            .map(|item| self.index_item(item))
            .collect();
        let method = if index.method_said || index.method != "btree" {
            format!("USING {} ", index.method)
        } else {
            String::new()
        };
        let mut text = format!(
            "CREATE {}INDEX {}{} ON {}{} {method}({})",
            if index.unique { "UNIQUE " } else { "" },
            if concurrently { "CONCURRENTLY " } else { "" },
            self.ident(&index.name),
            if index.only { "ONLY " } else { "" },
            self.name(on),
            items.join(", ")
        );
        if !index.include.is_empty() {
            text.push_str(&format!(" INCLUDE ({})", self.list(&index.include, ", ")));
        }
        if index.nulls_not_distinct {
            text.push_str(" NULLS NOT DISTINCT");
        }
        text.push_str(&with_options(&index.options));
        if let Some(predicate) = &index.predicate {
            text.push_str(&format!(" WHERE {}", self.expression(predicate)));
        }
        text
    }
}

/// Puts the word in behind `INDEX`.
fn with_concurrently(source: &str) -> String {
    match source.to_ascii_lowercase().find("index ") {
        Some(_) if source.to_ascii_lowercase().contains("index concurrently ") => source.to_owned(),
        Some(at) => format!("{}INDEX CONCURRENTLY {}", &source[..at], &source[at + 6..]),
        None => source.to_owned(),
    }
}
