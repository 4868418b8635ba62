//! PostgreSQL's schema as an outline.

use super::Schema;
use super::model::{
    Column, Constraint, ConstraintKind, Exclude, Foreign, Index, IndexItem, Sql, Table, TypeKind,
};
use super::name::{Name, fold, quote};
use super::print::Printer;
use super::print::expression::trimmed;
use crate::outline::{self, Deferral, Outline};
use crate::{Object, ObjectKind, PlanOptions};

impl Schema {
    /// See [`crate::Schema::outline`].
    pub(crate) fn outline(&self) -> Outline {
        let shown = |name: &Name| name.shown(&self.default_schema);
        let mut outline = Outline {
            extensions: self.extensions.keys().cloned().collect(),
            ..Outline::default()
        };
        let schemas = self.schemas.keys();
        outline.schemas = schemas
            .filter(|name| **name != self.default_schema)
            .cloned()
            .collect();
        for (name, found) in self.types.iter() {
            match &found.kind {
                TypeKind::Enum(values) => {
                    let labels = values.iter().map(|value| value.label.clone());
                    outline.enums.push((shown(name), labels.collect()));
                }
                TypeKind::Domain(_) => outline.others.push(object(ObjectKind::Domain, shown(name))),
            }
        }
        let options = PlanOptions::default();
        let printer = Printer::new(&options, &self.default_schema);
        let outliner = Outliner {
            schema: self,
            printer: &printer,
        };
        outline.tables = self
            .tables
            .values()
            .map(|table| outliner.table(table))
            .collect();
        let views = self.views.values().map(|view| {
            let kind = if view.materialized {
                ObjectKind::MaterializedView
            } else {
                ObjectKind::View
            };
            object(kind, shown(&view.name))
        });
        outline.others.extend(views);
        let functions = self
            .functions
            .keys()
            .map(|(name, _)| object(ObjectKind::Function, shown(name)));
        outline.others.extend(functions);
        // What a serial column makes goes with the column.
        let own = self
            .sequences
            .values()
            .filter(|sequence| !self.is_serial(&sequence.name));
        outline
            .others
            .extend(own.map(|sequence| object(ObjectKind::Sequence, shown(&sequence.name))));
        outline
    }

    fn is_serial(&self, sequence: &Name) -> bool {
        let columns = self
            .tables
            .values()
            .flat_map(|table| table.columns.values());
        columns
            .filter_map(|column| column.serial.as_ref())
            .any(|name| name == sequence)
    }
}

fn object(kind: ObjectKind, name: String) -> Object {
    Object { kind, name }
}

struct Outliner<'a> {
    schema: &'a Schema,
    printer: &'a Printer<'a>,
}

impl Outliner<'_> {
    fn shown(&self, name: &Name) -> String {
        name.shown(&self.schema.default_schema)
    }

    fn table(&self, table: &Table) -> outline::Table {
        let mut outlined = outline::Table {
            name: self.shown(&table.name),
            columns: table
                .columns
                .values()
                .map(|column| self.column(column))
                .collect(),
            indexes: table
                .indexes
                .values()
                .map(|index| self.index(index))
                .collect(),
            comment: table.meta.comment.clone(),
            is_partition: table.partition_of.is_some(),
            others: others(table),
            ..outline::Table::default()
        };
        for constraint in table.constraints.values() {
            self.constraint(constraint, &mut outlined);
        }
        outlined
    }

    fn column(&self, column: &Column) -> outline::Column {
        let data_type = &column.data_type;
        let mut element = data_type.clone();
        element.is_array = false;
        outline::Column {
            name: column.name.clone(),
            data_type: self.printer.data_type(&element),
            is_array: data_type.is_array,
            is_not_null: column.not_null,
            default: column.default.as_ref().map(|sql| self.printer.default(sql)),
            is_counted: column.serial.is_some() || data_type.is_serial,
            is_identity: column.identity.is_some(),
            generated: column
                .generated
                .as_ref()
                .map(|generated| (self.expression(&generated.expression), generated.stored)),
            collation: column.collation.as_deref().map(bare_collation),
            comment: column.meta.comment.clone(),
            ..outline::Column::default()
        }
    }

    fn expression(&self, sql: &Sql) -> String {
        trimmed(&self.printer.expression(sql)).to_owned()
    }

    fn constraint(&self, constraint: &Constraint, table: &mut outline::Table) {
        let name = constraint.name.clone();
        let deferral = match (constraint.deferrable, constraint.deferred) {
            (_, true) => Deferral::Deferred,
            (true, false) => Deferral::Immediate,
            (false, false) => Deferral::Never,
        };
        match &constraint.kind {
            ConstraintKind::Primary(keys) => table.primary_key.clone_from(&keys.columns),
            ConstraintKind::Unique(keys) => table.uniques.push(outline::Unique {
                name,
                columns: keys.columns.clone(),
                deferral,
                is_null_equal: keys.nulls_not_distinct,
            }),
            ConstraintKind::Check(sql) => table.checks.push(outline::Check {
                name,
                expression: self.expression(sql),
                is_not_valid: constraint.not_valid,
            }),
            ConstraintKind::Foreign(foreign) => {
                let mut key = self.foreign(foreign);
                (key.name, key.deferral) = (name, deferral);
                key.is_not_valid = constraint.not_valid;
                table.foreign_keys.push(key);
            }
            ConstraintKind::Exclude(exclude) => {
                table
                    .exclusions
                    .push(self.exclusion(name, exclude, deferral));
            }
        }
    }

    fn foreign(&self, foreign: &Foreign) -> outline::ForeignKey {
        outline::ForeignKey {
            columns: foreign.columns.clone(),
            table: self.shown(&foreign.table),
            references: foreign.table_columns.clone(),
            on_delete: foreign.on_delete.clone(),
            on_update: foreign.on_update.clone(),
            ..outline::ForeignKey::default()
        }
    }

    fn exclusion(&self, name: String, exclude: &Exclude, deferral: Deferral) -> outline::Exclusion {
        let items = exclude.items.iter();
        let items: Vec<String> = items
            .map(|(item, operator)| format!("{} WITH {operator}", self.printer.index_item(item)))
            .collect();
        outline::Exclusion {
            name,
            method: exclude.method.clone(),
            expression: items.join(", "),
            predicate: exclude.predicate.as_ref().map(|sql| self.expression(sql)),
            deferral,
        }
    }

    fn index(&self, index: &Index) -> outline::Index {
        outline::Index {
            name: index.name.clone(),
            is_unique: index.unique,
            method: match index.method.as_str() {
                "btree" => String::new(),
                method => method.to_owned(),
            },
            items: index.items.iter().map(|item| self.item(item)).collect(),
            include: index.include.clone(),
            predicate: index.predicate.as_ref().map(|sql| self.expression(sql)),
            is_null_equal: index.nulls_not_distinct,
            comment: index.meta.comment.clone(),
            is_invisible: false,
        }
    }

    fn item(&self, item: &IndexItem) -> outline::IndexItem {
        let nulls = match (item.descending, item.nulls_first) {
            (true, false) => Some("NULLS LAST"),
            (false, true) => Some("NULLS FIRST"),
            _ => None,
        };
        outline::IndexItem {
            // One that has its own collation can only be told as SQL.
            column: item.column.clone().filter(|_| item.collation.is_none()),
            sql: self.printer.index_item(item),
            length: None,
            class: item.class.clone(),
            is_descending: item.descending,
            nulls,
        }
    }
}

/// `C` of `pg_catalog."C"`.
fn bare_collation(written: &str) -> String {
    let (_, name) = written.rsplit_once('.').unwrap_or(("", written));
    fold(name)
}

/// Features of a table not represented in an outline.
fn others(table: &Table) -> Vec<String> {
    let mut others = Vec::new();
    let mut note = |is_there: bool, what: &str| {
        if is_there {
            others.push(what.to_owned());
        }
    };
    note(table.unlogged, "UNLOGGED");
    note(!table.options.is_empty(), "storage parameters");
    note(!table.inherits.is_empty(), "inheritance");
    note(
        table.partition_by.is_some() || table.partition_of.is_some(),
        "partitioning",
    );
    note(
        table.rls.is_some() || table.force_rls.is_some(),
        "row security",
    );
    note(table.replica_identity.is_some(), "replica identity");
    for trigger in table.triggers.keys() {
        others.push(format!("trigger {}", quote(trigger)));
    }
    for policy in table.policies.keys() {
        others.push(format!("policy {}", quote(policy)));
    }
    let keys = table
        .constraints
        .values()
        .filter_map(|constraint| constraint.keys());
    for keys in keys.filter(|keys| !keys.include.is_empty() || keys.without_overlaps) {
        others.push(format!("options of the key on {}", keys.columns.join(", ")));
    }
    let identities = table
        .columns
        .values()
        .filter(|column| column.identity.is_some());
    others.extend(identities.map(|column| format!("identity of {}", column.name)));
    others
}
