//! Types replaced by new ones while in use by columns.

use super::Builder;
use crate::plan::Steps;
use crate::postgres::hazards::{self, Cast};
use crate::postgres::model::{Column, Table, TypeKind, UserType};
use crate::postgres::name::{Name, quote};
use crate::postgres::split;
use crate::{Hazard, ObjectKind, Verb};

impl<'a> Builder<'a> {
    /// Renames the old type, creates the new one, and changes the columns to the new one. `word` is
    /// the old type's keyword. Returns the index of the first statement, the one to hold back.
    pub(super) fn replace_type(&mut self, to: &UserType, word: &str) -> usize {
        let shown = self.shown(&to.name);
        let old = Name::new(to.name.schema.clone(), format!("{}__old", to.name.name));
        let sql = format!(
            "ALTER {word} {} RENAME TO {}",
            self.printer.name(&to.name),
            self.printer.ident(&old.name)
        );
        let lock = vec![hazards::ACCESS_EXCLUSIVE];
        let first = self.push_with(sql, Verb::Replace, ObjectKind::Type, shown.clone(), lock);
        let sql = self.printer.user_type(to);
        let kind = match to.kind {
            TypeKind::Enum(_) => ObjectKind::Type,
            TypeKind::Domain(_) => ObjectKind::Domain,
        };
        let mut last = self.push(sql, Verb::Create, kind, shown.clone());
        self.statements[last].needs.push(first);
        self.drop_copied_default(to, last);
        for (table, column) in self.columns_of_type(&to.name) {
            last = self.retype(table, column, &to.name, last);
        }
        let sql = format!("DROP {word} {}", self.printer.name(&old));
        let at = self.push(sql, Verb::Replace, ObjectKind::Type, shown);
        self.statements[at].needs.push(last);
        // All of it or nothing.
        self.statements[first].needs.push(at);
        first
    }

    /// Drops the default copied by the server from the domain below a new domain.
    pub(super) fn drop_copied_default(&mut self, made: &UserType, at: usize) {
        let TypeKind::Domain(domain) = &made.kind else {
            return;
        };
        let below = &domain.base;
        let name = Name::new(below.schema.clone().unwrap_or_default(), below.name.clone());
        let below = self.to.types.get(&name).filter(|_| !below.is_array);
        let has_default = |found: &UserType| matches!(&found.kind, TypeKind::Domain(domain) if domain.default.is_some());
        if domain.default.is_none() && below.is_some_and(has_default) {
            let sql = format!(
                "ALTER DOMAIN {} DROP DEFAULT",
                self.printer.name(&made.name)
            );
            let dropped = self.push(sql, Verb::Alter, ObjectKind::Domain, self.shown(&made.name));
            self.statements[dropped].needs.push(at);
        }
    }

    /// Replaces a domain over another type, or a type of another kind with the same name.
    pub(super) fn replace_domain(&mut self, before: &TypeKind, to: &UserType) {
        let cast = match (before, &to.kind) {
            (TypeKind::Domain(one), TypeKind::Domain(other)) => {
                hazards::cast(&one.base, &other.base)
            }
            _ => Cast::Explicit,
        };
        let first = self.replace_type(to, type_word(before));
        let statement = &mut self.statements[first];
        (statement.verb, statement.object.kind) = (Verb::Alter, ObjectKind::Domain);
        if matches!(cast, Cast::Lossy | Cast::Explicit) {
            let sentence = format!("values of type {} become others", to.name.name);
            statement.hazards.push(Hazard::LossyCast(sentence));
        }
    }

    fn retype(&mut self, table: &'a Table, column: &'a Column, name: &Name, needs: usize) -> usize {
        let mut last = needs;
        let mentions = |text: &str| split::names(text).contains(&column.name);
        self.clear_hooks(table, &mentions);
        self.clear_expressions(table, &mentions);
        let ident = self.printer.ident(&column.name);
        let array = if column.data_type.is_array { "[]" } else { "" };
        let data_type = format!("{}{array}", self.printer.name(name));
        let mut actions = Vec::new();
        if column.default.is_some() {
            actions.push(format!("ALTER COLUMN {ident} DROP DEFAULT"));
        }
        actions.push(format!(
            "ALTER COLUMN {ident} TYPE {data_type} USING {ident}::text{array}::{data_type}"
        ));
        if let Some(default) = &column.default
            && self.keeps_default(table, column)
        {
            // The wanted spelling of the value: over another type the server reads it otherwise. A
            // column that gets another type besides has a default that this one may not take.
            let wanted = self.to.tables.get(&table.name);
            let wanted = wanted.and_then(|wanted| wanted.columns.get(&column.name));
            let wanted = wanted.filter(|wanted| wanted.data_type == column.data_type);
            let wanted = wanted.and_then(|wanted| wanted.default.as_ref());
            let default = self.printer.default(wanted.unwrap_or(default));
            let plain = without_casts(&default);
            actions.push(format!("ALTER COLUMN {ident} SET DEFAULT {plain}"));
        }
        for action in actions {
            let sql = self.alter(&table.name, &action);
            let shown = self.shown_part(&table.name, &column.name);
            let rewrite = Hazard::Rewrite(format!("table {} is written anew", table.name.name));
            let hazards = vec![hazards::ACCESS_EXCLUSIVE, rewrite];
            let at = self.push_with(sql, Verb::Alter, ObjectKind::Column, shown, hazards);
            self.statements[at].needs.push(last);
            last = at;
        }
        last
    }

    /// Whether a column's default stays the same. A changed one is set with the column and may be
    /// valid only for the new type.
    fn keeps_default(&self, table: &Table, column: &Column) -> bool {
        let wanted = self.to.tables.get(&table.name);
        let wanted = wanted.and_then(|wanted| wanted.columns.get(&column.name));
        wanted.is_none_or(|wanted| self.sides.same.default(column, wanted))
    }

    /// Existing columns of the given type.
    pub(super) fn columns_of_type(&self, name: &Name) -> Vec<(&'a Table, &'a Column)> {
        let mut found = Vec::new();
        for table in self.from.tables.values() {
            for column in table.columns.values() {
                let data_type = &column.data_type;
                let schema = data_type.schema.as_ref();
                if data_type.name == name.name && schema.is_none_or(|schema| *schema == name.schema)
                {
                    found.push((table, column));
                }
            }
        }
        found
    }

    /// Query for values of a type meeting a condition on the column; `None` without columns of the
    /// type.
    pub(super) fn values_of_type(
        &self,
        name: &Name,
        condition: &dyn Fn(&str) -> String,
    ) -> Option<String> {
        let columns = self.columns_of_type(name).into_iter();
        let queries = columns
            .filter(|(_, column)| !column.data_type.is_array)
            .map(|(table, column)| {
                let column = quote(&column.name);
                let (table, condition) = (table.name.quoted(), condition(&column));
                format!("SELECT {column}::text FROM {table} WHERE {condition}")
            });
        let queries: Vec<String> = queries.collect();
        (!queries.is_empty()).then(|| queries.join(" UNION ALL "))
    }
}

/// What `ALTER` and `DROP` call a type.
pub(super) fn type_word(kind: &TypeKind) -> &'static str {
    match kind {
        TypeKind::Enum(_) => "TYPE",
        TypeKind::Domain(_) => "DOMAIN",
    }
}

/// Strips casts from a value.
fn without_casts(mut default: &str) -> &str {
    while let Some((value, data_type)) = default.rsplit_once("::")
        && !data_type.contains(['\'', '(', ')'])
    {
        default = value;
    }
    default
}
