//! Tables of composite types.

use super::{Builder, Part};
use crate::plan::Steps;
use crate::postgres::kept;
use crate::postgres::model::{Kept, Table};
use crate::{ObjectKind, PlanError, Statement, Verb};

impl Builder<'_> {
    /// Refuses a table with columns in another order than the attributes of the type: the server
    /// moves no column, and binds no such pair.
    pub(super) fn check_typed(&self) -> Result<(), PlanError> {
        let (from, to) = (self.from, self.to);
        for kept in to.kept.values().filter(|kept| kept.is_binding()) {
            let Some(on) = &kept.on else { continue };
            let of = (ObjectKind::CompositeType, type_of(kept).to_owned());
            let attributes = to.kept.get(&of).and_then(kept::attributes_of);
            let tables = from.tables.get(on).zip(to.tables.get(on));
            let (Some((before, after)), Some(attributes)) = (tables, attributes) else {
                continue;
            };
            let stays = |name: &&String| after.columns.contains(*name);
            let new = |name: &&String| !before.columns.contains(*name);
            let columns = before.columns.keys().filter(stays);
            let columns: Vec<&String> = columns.chain(after.columns.keys().filter(new)).collect();
            let wanted: Vec<&String> = attributes.iter().map(|(name, _)| name).collect();
            if columns != wanted && !self.sides.is_remade(before, after) {
                return Err(PlanError {
                    message: misplaced(&self.shown(on), type_of(kept), &columns, &wanted),
                });
            }
        }
        Ok(())
    }

    /// Frees typed tables before the table or the type changes. The server changes neither of a
    /// bound pair; [`Builder::bind_typed`] binds both when both are as wanted.
    pub(super) fn clear_typed(&mut self) {
        let (from, to) = (self.from, self.to);
        for (key, kept) in from
            .kept
            .iter()
            .filter(|(key, _)| key.0 == ObjectKind::TypedTable)
        {
            let Some(on) = &kept.on else { continue };
            let tables = from.tables.get(on).zip(to.tables.get(on));
            let Some((before, after)) = tables else {
                continue;
            };
            let of = (ObjectKind::CompositeType, type_of(kept).to_owned());
            let is_other_type = match to.kept.get(&of) {
                Some(wanted) => self.sides.kept_differs(&of, wanted),
                None => true,
            };
            let wanted = to.kept.get(key);
            let is_bound = wanted.is_some_and(|wanted| !self.sides.kept_differs(key, wanted));
            if is_bound && !is_other_type && !self.has_other_columns(before, after) {
                continue;
            }
            let shown = self.shown_kept(kept);
            let sql = kept.undo.clone().unwrap_or_default();
            let verb = match wanted {
                Some(_) => Verb::Aside,
                None => Verb::Alter,
            };
            self.push(sql, verb, kept.kind.kind, shown);
            self.gone.insert(Part::Kept(key.clone()));
        }
    }

    /// Binds tables to types when both are as wanted: all or nothing.
    pub(super) fn bind_typed(&mut self) {
        let to = self.to;
        let prefix = format!("{}.", to.default_schema);
        for (key, kept) in to.kept.iter().filter(|(_, kept)| kept.is_binding()) {
            if !self.goes_with_another(key, kept) && !self.sides.kept_differs(key, kept) {
                continue;
            }
            let of = type_of(kept);
            let of = of.strip_prefix(&prefix).unwrap_or(of);
            let table = self.shown_kept(kept);
            let is_part = |statement: &Statement| {
                let (kind, name) = (statement.object.kind, statement.object.name.as_str());
                let owner = name.rsplit_once('.').map_or("", |(owner, _)| owner);
                kind == ObjectKind::Column && owner == table
                    || kind == ObjectKind::Attribute && owner == of
            };
            let statements = self.statements.iter().enumerate();
            let parts = statements.filter(|(_, each)| is_part(each));
            let parts: Vec<usize> = parts.map(|(at, _)| at).collect();
            let is_freed =
                |each: &Statement| each.object.kind == kept.kind.kind && each.object.name == table;
            let freed = self.statements.iter().position(is_freed);
            self.keep(key, kept);
            let bound = self.statements.len() - 1;
            if let Some(freed) = freed {
                for part in &parts {
                    self.statements[*part].needs.push(freed);
                }
                self.statements[freed].needs.push(bound);
            }
            self.statements[bound].needs.extend(parts);
        }
    }

    fn has_other_columns(&self, before: &Table, after: &Table) -> bool {
        !before.columns.keys().eq(after.columns.keys())
            || after.columns.values().any(|column| {
                let had = before.columns.get(&column.name);
                had.is_some_and(|had| self.sides.is_retyped(had, column))
            })
    }
}

fn misplaced(table: &str, of: &str, columns: &[&String], wanted: &[&String]) -> String {
    let listed = |names: &[&String]| {
        let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        names.join(", ")
    };
    format!(
        "cannot bind table '{table}' to type {of} - the columns would have the order ({}), the attributes have ({}), \
         and no column can be moved; keep the order and put new attributes last, or make another type and table",
        listed(columns),
        listed(wanted)
    )
}

/// The type named by a bond.
fn type_of(bond: &Kept) -> &str {
    bond.sql.rsplit_once(" OF ").map_or("", |(_, of)| of)
}

#[cfg(test)]
mod tests {
    use crate::PlanOptions;
    use crate::postgres::tests::read;

    fn refused(from: &str, to: &str) -> Option<String> {
        let plan = crate::postgres::plan(&read(from), &read(to), &PlanOptions::default());
        plan.err().map(|error| error.message)
    }

    #[test]
    fn a_typed_table_with_columns_in_another_order_is_refused() {
        let typed = |attributes: &str| {
            format!("CREATE TYPE addr AS ({attributes}); CREATE TABLE t OF addr;")
        };
        let message = refused(&typed("a int, b text"), &typed("b text, a int")).unwrap();
        assert_eq!(
            message,
            "cannot bind table 't' to type public.addr - the columns would have the order (a, b), the attributes have (b, a), \
             and no column can be moved; keep the order and put new attributes last, or make another type and table"
        );
        assert!(refused(&typed("a int, b text"), &typed("c int, a int, b text")).is_some());
        for allowed in [
            "a int, b text, c int",
            "b text",
            "a bigint, b text",
            "b text, c int",
        ] {
            assert_eq!(
                refused(&typed("a int, b text"), &typed(allowed)),
                None,
                "{allowed}"
            );
        }
        let free = "CREATE TYPE addr AS (a int, b text); CREATE TABLE t (b text, a int);";
        assert!(refused(free, &typed("a int, b text")).is_some());
        assert_eq!(refused(&typed("a int, b text"), free), None);
        assert_eq!(refused("", &typed("b text, a int")), None);
    }
}
