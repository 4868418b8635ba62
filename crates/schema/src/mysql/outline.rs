//! The schema of MySQL or MariaDB as an outline.

use super::Schema;
use super::expr::is_enclosed;
use super::model::{Column, ForeignKey, Index, IndexKind, Key, Name, Part, Table, Value};
use crate::outline::{self, Outline};
use crate::{Object, ObjectKind};

impl Schema {
    /// See [`crate::Schema::outline`].
    pub(crate) fn outline(&self) -> Outline {
        let object = |kind: ObjectKind, name: &str| Object {
            kind,
            name: name.to_owned(),
        };
        let views = self
            .views
            .iter()
            .map(|view| object(ObjectKind::View, &view.name.text));
        let triggers = self.triggers.iter();
        let triggers = triggers.map(|trigger| object(ObjectKind::Trigger, &trigger.name.text));
        let events = self
            .events
            .iter()
            .map(|event| object(ObjectKind::Event, &event.name.text));
        let opaques = self
            .opaques
            .iter()
            .map(|opaque| object(opaque.kind, &opaque.name));
        Outline {
            tables: self.tables.iter().map(table).collect(),
            others: views.chain(triggers).chain(events).chain(opaques).collect(),
            ..Outline::default()
        }
    }
}

fn texts(names: &[Name]) -> Vec<String> {
    names.iter().map(|name| name.text.clone()).collect()
}

fn table(table: &Table) -> outline::Table {
    let primary = table.indexes.iter().find(|index| index.is_primary());
    let primary = primary.iter().flat_map(|index| &index.parts);
    let indexes = table
        .indexes
        .iter()
        .filter(|index| !index.is_primary() && !index.is_implied);
    let mut others: Vec<String> = table.periods.clone();
    others.extend(
        table
            .partitioning
            .is_some()
            .then(|| "partitioning".to_owned()),
    );
    let options = table.options.others.iter();
    others.extend(options.map(|(name, value)| format!("{name}={value}")));
    let engine = table
        .options
        .engine
        .as_deref()
        .filter(|engine| *engine != "innodb");
    others.extend(engine.map(|engine| format!("ENGINE={engine}")));
    outline::Table {
        name: table.name.text.clone(),
        columns: table.columns.iter().map(column).collect(),
        primary_key: primary
            .filter_map(|part| part.column())
            .map(|name| name.text.clone())
            .collect(),
        indexes: indexes.map(index).collect(),
        foreign_keys: table.foreign_keys.iter().map(foreign_key).collect(),
        checks: checks(table),
        comment: table
            .options
            .comment
            .clone()
            .filter(|text| !text.is_empty()),
        charset: table.options.charset.clone(),
        collation: table.options.collation.clone(),
        others,
        ..outline::Table::default()
    }
}

fn checks(table: &Table) -> Vec<outline::Check> {
    let inline = table.columns.iter().flat_map(|column| &column.checks);
    let checks = table.checks.iter().chain(inline);
    checks
        .map(|check| outline::Check {
            name: check
                .name
                .as_ref()
                .map_or(String::new(), |name| name.text.clone()),
            expression: bare(&check.expr.text).to_owned(),
            is_not_valid: !check.is_enforced,
        })
        .collect()
}

/// Strips parentheses around the whole expression.
fn bare(text: &str) -> &str {
    let mut text = text.trim();
    while is_enclosed(text) {
        text = text[1..text.len() - 1].trim();
    }
    text
}

fn column(column: &Column) -> outline::Column {
    let data_type = &column.data_type;
    let arguments = match data_type.arguments.is_empty() {
        true => String::new(),
        false => format!("({})", data_type.arguments.join(",")),
    };
    let default = column.default.as_ref().map(|default| match default {
        Value::Literal(expr) => expr.text.clone(),
        Value::Expression(expr) => format!("({})", bare(&expr.text)),
    });
    outline::Column {
        name: column.name.text.clone(),
        data_type: format!("{}{arguments}", data_type.name),
        is_unsigned: data_type.is_unsigned,
        is_not_null: column.nullable == Some(false),
        default: default.filter(|text| !text.eq_ignore_ascii_case("null")),
        on_update: column.on_update.as_ref().map(|expr| expr.text.clone()),
        is_counted: column.is_auto_increment,
        generated: column
            .generated
            .as_ref()
            .map(|generated| (bare(&generated.expr.text).to_owned(), generated.is_stored)),
        collation: data_type.collation.clone(),
        charset: data_type.charset.clone(),
        comment: column.comment.clone().filter(|text| !text.is_empty()),
        ..outline::Column::default()
    }
}

fn index(index: &Index) -> outline::Index {
    let using = index.using.as_deref().map(str::to_lowercase);
    outline::Index {
        name: index.name.text.clone(),
        is_unique: index.kind == IndexKind::Unique,
        method: match index.kind {
            IndexKind::Fulltext => "fulltext".to_owned(),
            IndexKind::Spatial => "spatial".to_owned(),
            IndexKind::Vector => "vector".to_owned(),
            _ => using.filter(|using| using != "btree").unwrap_or_default(),
        },
        items: index.parts.iter().map(item).collect(),
        comment: index.comment.clone(),
        is_invisible: index.is_invisible,
        ..outline::Index::default()
    }
}

fn item(part: &Part) -> outline::IndexItem {
    let (column, sql) = match &part.key {
        Key::Column(name) => (Some(name.text.clone()), format!("`{}`", name.text)),
        Key::Expr(expr) => (None, format!("({})", bare(&expr.text))),
    };
    outline::IndexItem {
        column,
        sql,
        length: part.length.clone(),
        is_descending: part.is_descending,
        ..outline::IndexItem::default()
    }
}

fn foreign_key(key: &ForeignKey) -> outline::ForeignKey {
    let database = key.database.as_ref().map(|name| format!("{name}."));
    outline::ForeignKey {
        name: key
            .name
            .as_ref()
            .map_or(String::new(), |name| name.text.clone()),
        columns: texts(&key.columns),
        table: format!("{}{}", database.unwrap_or_default(), key.table.text),
        references: texts(&key.references),
        on_delete: key.on_delete.clone(),
        on_update: key.on_update.clone(),
        ..outline::ForeignKey::default()
    }
}
