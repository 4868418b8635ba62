//! Resolution after reading: schemas of types, keys referenced by foreign keys, sequences of
//! `serial` columns.

use std::collections::HashSet;

use super::grants::given;
use crate::ObjectKind;
use crate::postgres::model::{
    Constraint, ConstraintKind, Grant, Schema, Table, Target, Type, TypeKind,
};
use crate::postgres::name::{Name, fold, made, string};

pub(super) fn finish(schema: &mut Schema) {
    let types = OwnTypes::of(schema);
    find_types(schema, &types);
    find_types_of_kept(schema, &types);
    find_keys(schema);
    fold_serials(schema);
    leave_out_inherited_defaults(schema);
    super::inherited::settle_storage(schema);
    inherit_columns(schema);
    for sequence in schema.sequences.values_mut() {
        let data_type = sequence.options.data_type.clone().unwrap_or_default();
        sequence.options.normalize(&data_type);
    }
    let kept = &schema.kept;
    schema
        .foreign_triggers
        .retain(|on, _| kept.contains(&(ObjectKind::ForeignTable, on.quoted())));
    let has_maintain = schema.has_maintain;
    let is_usual = |target: &Target, role: &str, grant: &Grant| {
        grant.privileges == given(target, role, has_maintain)
    };
    schema
        .grants
        .retain(|(target, role), grant| !is_usual(target, role, grant));
}

/// Removes defaults of inherited columns equal to the parents'.
fn leave_out_inherited_defaults(schema: &mut Schema) {
    let tables = &schema.tables;
    schema.kept.retain(|(kind, _), kept| {
        let child = kept.on.as_ref().and_then(|on| tables.get(on));
        let parents = child.into_iter().flat_map(|child| &child.inherits);
        let mut columns = parents
            .filter_map(|parent| tables.get(parent))
            .flat_map(|parent| parent.columns.values());
        let is_same = |column: &crate::postgres::model::Column| {
            let name = crate::postgres::name::quote(&column.name);
            let default = column.default.as_ref();
            default.is_some_and(|default| {
                let end = format!(" ALTER COLUMN {name} SET DEFAULT {}", default.0);
                kept.sql.ends_with(&end)
            })
        };
        *kind != ObjectKind::ColumnDefault || !columns.any(is_same)
    });
}

/// Removes keys of partitions created with the parent's. Servers do not distinguish them either.
pub(super) fn leave_out_parts(schema: &mut Schema, attached: &HashSet<Name>) {
    if attached.is_empty() {
        return;
    }
    let is_part = |on: &Name| attached.contains(on);
    schema.kept.retain(|(kind, _), kept| {
        *kind != ObjectKind::Tablespace || !kept.on.as_ref().is_some_and(is_part)
    });
    for table in schema.tables.values_mut() {
        let namespace = table.name.schema.clone();
        let is_part =
            |name: &str| attached.contains(&Name::new(namespace.clone(), name.to_owned()));
        if table.partition_of.is_some() {
            table
                .constraints
                .retain(|_, constraint| constraint.keys().is_none() || !is_part(&constraint.name));
        }
    }
}

/// Composite types and ranges of the default schema.
fn types_by_words(schema: &Schema) -> impl Iterator<Item = String> {
    let kept = schema.kept.values();
    let types = kept.filter(|kept| kept.kind.words == "TYPE");
    let own = types.filter(|kept| kept.schema.as_ref() == Some(&schema.default_schema));
    own.map(|kept| kept.base.clone())
}

/// Types of the default schema, which a name without a schema means.
struct OwnTypes {
    schema: String,
    names: HashSet<String>,
}

impl OwnTypes {
    fn of(schema: &Schema) -> OwnTypes {
        let default = &schema.default_schema;
        let types = schema.types.values();
        let own = types.filter(|found| found.name.schema == *default);
        OwnTypes {
            names: own
                .map(|found| found.name.name.clone())
                .chain(types_by_words(schema))
                .collect(),
            schema: default.clone(),
        }
    }

    fn find(&self, data_type: &mut Type) {
        if data_type.schema.is_none() && self.names.contains(&data_type.name) {
            data_type.schema = Some(self.schema.clone());
        }
    }
}

/// Resolves types without a schema in what identifies casts, operators and aggregates: the server
/// names the schema.
fn find_types_of_kept(schema: &mut Schema, types: &OwnTypes) {
    let renamed = schema.kept.iter().filter_map(|(key, kept)| {
        let name = kept.name_with_types(|data_type| types.find(data_type))?;
        (name != kept.name).then(|| (key.clone(), name))
    });
    for (key, name) in renamed.collect::<Vec<_>>() {
        let new = (key.0, name.clone());
        if let Some(kept) = schema.kept.rename(&key, new) {
            kept.name = name;
        }
    }
}

/// Resolves types without a schema: to the default schema, when a type of the name exists there.
fn find_types(schema: &mut Schema, types: &OwnTypes) {
    let find = |data_type: &mut Type| types.find(data_type);
    for table in schema.tables.values_mut() {
        for column in table.columns.values_mut() {
            find(&mut column.data_type);
            if let Some(identity) = &mut column.identity {
                let data_type = column.data_type.name.clone();
                identity.options.normalize(&data_type);
                identity.options.data_type = None;
            }
        }
    }
    for found in schema.types.values_mut() {
        if let TypeKind::Domain(domain) = &mut found.kind {
            find(&mut domain.base);
        }
    }
    for function in schema.functions.values_mut() {
        for argument in &mut function.arguments {
            find(&mut argument.data_type);
        }
        if let Some(returns) = &mut function.returns {
            find(&mut returns.data_type);
        }
    }
}

/// A foreign key without columns means the other table's primary key.
fn find_keys(schema: &mut Schema) {
    let mut found = Vec::new();
    for (name, table) in schema.tables.iter() {
        for (key, constraint) in table.constraints.iter() {
            let ConstraintKind::Foreign(foreign) = &constraint.kind else {
                continue;
            };
            if !foreign.table_columns.is_empty() {
                continue;
            }
            let primary = schema.tables.get(&foreign.table).and_then(Table::primary);
            if let Some(keys) = primary.and_then(|primary| primary.keys()) {
                found.push((name.clone(), key.clone(), keys.columns.clone()));
            }
        }
    }
    for (table, key, columns) in found {
        let constraint = schema
            .tables
            .get_mut(&table)
            .and_then(|table| table.constraints.get_mut(&key));
        if let Some(constraint) = constraint
            && let ConstraintKind::Foreign(foreign) = &mut constraint.kind
        {
            foreign.table_columns = columns;
        }
    }
}

/// Converts an integer column with the next value of an owned sequence as default to `serial`.
fn fold_serials(schema: &mut Schema) {
    let mut gone = Vec::new();
    let default_schema = schema.default_schema.clone();
    for table in schema.tables.values_mut() {
        for column in table.columns.values_mut() {
            if column.data_type.is_serial {
                let name = made(&table.name.name, Some(&column.name), "seq", |_| false);
                column.serial = Some(Name::new(table.name.schema.clone(), name));
                continue;
            }
            let is_integer = matches!(
                column.data_type.name.as_str(),
                "integer" | "bigint" | "smallint"
            );
            let Some(name) = column
                .default
                .as_ref()
                .and_then(|default| next_value_of(&default.0, &default_schema))
            else {
                continue;
            };
            let Some(sequence) = schema.sequences.get(&name) else {
                continue;
            };
            let belongs =
                sequence.owned_by.as_ref() == Some(&(table.name.clone(), column.name.clone()));
            let mut options = sequence.options.clone();
            let data_type = options
                .data_type
                .clone()
                .unwrap_or_else(|| "bigint".to_owned());
            options.normalize(&data_type);
            let plain = options.data_type.take().unwrap_or(data_type) == column.data_type.name;
            if is_integer && belongs && plain && options == Default::default() && column.not_null {
                gone.push(name.clone());
                column.default = None;
                column.serial = Some(name);
                column.data_type.is_serial = true;
            }
        }
    }
    for name in gone {
        schema.sequences.remove(&name);
    }
}

/// The sequence in `nextval('app.users_id_seq'::regclass)`.
pub(crate) fn next_value_of(default: &str, default_schema: &str) -> Option<Name> {
    // Asked of every default, few of which call anything.
    if !default.contains('(') {
        return None;
    }
    let call = default.trim().trim_start_matches("pg_catalog.");
    let inner = call
        .get(..8)
        .filter(|start| start.eq_ignore_ascii_case("nextval("))?;
    let rest = call[inner.len()..].trim_start_matches('(');
    let end = rest[1..].find('\'')? + 2;
    let text = string(rest.get(..end)?);
    let mut parts: Vec<String> = split_name(&text);
    let name = parts.pop()?;
    Some(Name::new(
        parts.pop().unwrap_or_else(|| default_schema.to_owned()),
        name,
    ))
}

fn split_name(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for letter in text.chars() {
        match letter {
            '.' if !quoted => parts.push(String::new()),
            letter => {
                quoted ^= letter == '"';
                if let Some(last) = parts.last_mut() {
                    last.push(letter);
                }
            }
        }
    }
    parts.iter().map(|part| fold(part)).collect()
}

/// Marks columns and checks of a child as inherited when a parent has the same.
fn inherit_columns(schema: &mut Schema) {
    let (mut columns, mut checks) = (Vec::new(), Vec::new());
    for (name, table) in schema.tables.iter() {
        let partition = table.partition_of.as_ref().map(|(parent, _)| parent);
        for parent in table.inherits.iter().chain(partition) {
            let Some(parent) = schema.tables.get(parent) else {
                continue;
            };
            for column in parent.columns.values() {
                if let Some(own) = table.columns.get(&column.name)
                    && own.default == column.default
                    && own.not_null == column.not_null
                    && own.data_type.is_same(&column.data_type)
                    && own.meta.comment.is_none()
                    && own.identity.is_none()
                {
                    columns.push((name.clone(), column.name.clone()));
                }
            }
            for constraint in parent.constraints.values() {
                let own = table.constraints.get(&constraint.name);
                if own.is_some_and(|own| is_inherited(own, constraint)) {
                    checks.push((name.clone(), constraint.name.clone()));
                }
            }
        }
    }
    for (table, column) in columns {
        if let Some(table) = schema.tables.get_mut(&table) {
            table.columns.remove(&column);
        }
    }
    for (table, check) in checks {
        if let Some(table) = schema.tables.get_mut(&table) {
            table.constraints.remove(&check);
        }
    }
}

fn is_inherited(own: &Constraint, of_parent: &Constraint) -> bool {
    let is_check = match (&own.kind, &of_parent.kind) {
        (ConstraintKind::Check(one), ConstraintKind::Check(other)) => one == other,
        _ => false,
    };
    is_check && !of_parent.no_inherit && own.meta.comment.is_none()
}
