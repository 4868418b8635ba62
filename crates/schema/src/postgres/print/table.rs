//! Tables and columns.

use super::{Printer, with_options};
use crate::postgres::model::{Column, Constraint, Table};

impl Printer<'_> {
    /// Spells a column as in `CREATE TABLE` and `ADD COLUMN`, as a `serial` where applicable.
    pub(crate) fn column(&self, column: &Column) -> String {
        let data_type = match &column.serial {
            Some(_) => serial_name(&column.data_type.name).to_owned(),
            None => self.data_type(&column.data_type),
        };
        let mut text = format!("{} {data_type}", self.ident(&column.name));
        if let Some(collation) = &column.collation {
            text.push_str(&format!(" COLLATE {collation}"));
        }
        if column.not_null && column.identity.is_none() {
            text.push_str(" NOT NULL");
        }
        if let Some(default) = &column.default {
            text.push_str(&format!(" DEFAULT {}", self.default(default)));
        }
        if let Some(generated) = &column.generated {
            let how = if generated.stored {
                "STORED"
            } else {
                "VIRTUAL"
            };
            text.push_str(&format!(
                " GENERATED ALWAYS AS ({}) {how}",
                self.expression(&generated.expression)
            ));
        }
        if let Some(identity) = &column.identity {
            text.push_str(&format!(" {}", self.identity(identity)));
        }
        text
    }

    /// Spells the whole statement from the model, with the constraints selected by `takes`.
    pub(crate) fn table(&self, table: &Table, takes: &dyn Fn(&Constraint) -> bool) -> String {
        let unlogged = if table.unlogged { "UNLOGGED " } else { "" };
        let constraints = table.constraints.values().filter(|each| takes(each));
        let constraints = constraints.map(|constraint| self.constraint(constraint, false));
        let mut text = format!("CREATE {unlogged}TABLE {}", self.name(&table.name));
        if let Some((parent, _)) = &table.partition_of {
            text.push_str(&format!(" PARTITION OF {}", self.name(parent)));
        }
        let of_type = table.likes.iter().find(|(_, clause)| is_of_type(clause));
        if let Some((_, clause)) = of_type {
            text.push_str(&format!(" {clause}"));
        }
        let columns = table.columns.values().map(|column| {
            if table.partition_of.is_some() {
                // A part repeats no types.
                let plain = self.column(column);
                let head = format!(
                    "{} {}",
                    self.ident(&column.name),
                    self.data_type(&column.data_type)
                );
                plain.replacen(&head, &self.ident(&column.name), 1)
            } else {
                self.column(column)
            }
        });
        let likes = table.likes.iter().filter(|(_, clause)| !is_of_type(clause));
        let lines: Vec<String> = columns
            .chain(likes.map(|(_, clause)| clause.clone()))
            .chain(constraints)
            .map(|line| format!("    {line}"))
            .collect();
        if !lines.is_empty() {
            text.push_str(&format!(" (\n{}\n)", lines.join(",\n")));
        } else if table.partition_of.is_none() && of_type.is_none() {
            text.push_str(" ()");
        }
        if let Some((_, bound)) = &table.partition_of {
            text.push_str(&format!(" {}", bound.0));
        }
        text + &self.table_tail(table)
    }

    fn table_tail(&self, table: &Table) -> String {
        let mut text = String::new();
        if !table.inherits.is_empty() {
            let parents: Vec<String> = table.inherits.iter().map(|name| self.name(name)).collect();
            text.push_str(&format!(" INHERITS ({})", parents.join(", ")));
        }
        if let Some(by) = &table.partition_by {
            text.push_str(&format!(" PARTITION BY {}", by.0));
        }
        if let Some(method) = &table.access_method {
            text.push_str(&format!(" USING {method}"));
        }
        text + &with_options(&table.options)
    }
}

fn is_of_type(clause: &str) -> bool {
    clause
        .get(..3)
        .is_some_and(|start| start.eq_ignore_ascii_case("of "))
}

/// Keyword of an integer with an owned sequence.
fn serial_name(integer: &str) -> &'static str {
    match integer {
        "bigint" => "bigserial",
        "smallint" => "smallserial",
        _ => "serial",
    }
}
