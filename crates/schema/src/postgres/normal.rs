//! Whether the server would store two objects alike.
//!
//! Names are compared by whoever pairs the objects; here it is what they say. Functions take the
//! schema's context, since an unqualified name means something only there.

use super::expr::{Context, same};
use super::model::{
    Body, Column, Constraint, ConstraintKind, Domain, Exclude, Function, Index, IndexItem, Keys,
    Policy, Sql, Table, Trigger, View,
};
use super::name::{Name, quote};

/// Default operator classes of access methods and types.
const DEFAULT_CLASSES: [&str; 34] = [
    "array_ops",
    "bit_ops",
    "bool_ops",
    "bpchar_ops",
    "box_ops",
    "bytea_ops",
    "char_ops",
    "cidr_ops",
    "circle_ops",
    "date_ops",
    "enum_ops",
    "float4_ops",
    "float8_ops",
    "int2_ops",
    "int4_ops",
    "int8_ops",
    "interval_ops",
    "jsonb_ops",
    "macaddr_ops",
    "money_ops",
    "name_ops",
    "network_ops",
    "numeric_ops",
    "oid_ops",
    "point_ops",
    "poly_ops",
    "range_ops",
    "record_ops",
    "text_ops",
    "time_ops",
    "timestamp_ops",
    "timestamptz_ops",
    "tsvector_ops",
    "uuid_ops",
];

/// What comparing needs to know of the schema.
#[derive(Clone, Copy)]
pub(crate) struct Same<'a> {
    pub(crate) default_schema: &'a str,
}

impl<'a> Same<'a> {
    fn on(self, relation: &'a str) -> Context<'a> {
        Context {
            default_schema: self.default_schema,
            relation: Some(relation),
        }
    }

    fn nowhere(self) -> Context<'a> {
        Context {
            default_schema: self.default_schema,
            relation: None,
        }
    }

    pub(crate) fn default(self, one: &Column, other: &Column) -> bool {
        match (&one.default, &other.default) {
            (Some(one), Some(other)) => self.is_same_default(one, other),
            (None, None) => true,
            _ => false,
        }
    }

    fn is_same_default(self, one: &Sql, other: &Sql) -> bool {
        one.is_same(other, self.nowhere())
            || number(&one.0).is_some_and(|n| number(&other.0) == Some(n))
    }

    pub(crate) fn generated(self, one: &Column, other: &Column, table: &'a Name) -> bool {
        match (&one.generated, &other.generated) {
            (Some(one), Some(other)) => {
                one.stored == other.stored
                    && one
                        .expression
                        .is_same(&other.expression, self.on(&table.name))
            }
            (None, None) => true,
            _ => false,
        }
    }

    pub(crate) fn constraint(self, one: &Constraint, other: &Constraint, table: &'a Name) -> bool {
        let context = self.on(&table.name);
        let kinds = match (&one.kind, &other.kind) {
            (ConstraintKind::Primary(one), ConstraintKind::Primary(other))
            | (ConstraintKind::Unique(one), ConstraintKind::Unique(other)) => same_keys(one, other),
            (ConstraintKind::Check(one), ConstraintKind::Check(other)) => {
                one.is_same(other, context)
            }
            (ConstraintKind::Foreign(one), ConstraintKind::Foreign(other)) => one == other,
            (ConstraintKind::Exclude(one), ConstraintKind::Exclude(other)) => {
                same_exclude(one, other, context)
            }
            _ => false,
        };
        kinds
            && one.deferrable == other.deferrable
            && one.deferred == other.deferred
            && one.no_inherit == other.no_inherit
            && one.not_enforced == other.not_enforced
            // A constraint that holds for all rows already is more than was asked for.
            && (one.not_valid == other.not_valid || !one.not_valid)
    }

    pub(crate) fn index(self, one: &Index, other: &Index, table: &'a Name) -> bool {
        let context = self.on(&table.name);
        one.unique == other.unique
            && one.method == other.method
            && one.include == other.include
            && one.nulls_not_distinct == other.nulls_not_distinct
            && one.options == other.options
            && one.items.len() == other.items.len()
            && one
                .items
                .iter()
                .zip(&other.items)
                .all(|(one, other)| same_item(one, other, context))
            && same(one.predicate.as_ref(), other.predicate.as_ref(), context)
    }

    pub(crate) fn trigger(self, one: &Trigger, other: &Trigger) -> bool {
        one.timing == other.timing
            && one.events == other.events
            && one.row == other.row
            && one.is_constraint == other.is_constraint
            && (one.deferrable, one.deferred) == (other.deferrable, other.deferred)
            && one.from == other.from
            && one.referencing.eq_ignore_ascii_case(&other.referencing)
            && same(one.when.as_ref(), other.when.as_ref(), self.nowhere())
            && same_function_name(one, other)
            && arguments(&one.arguments) == arguments(&other.arguments)
    }

    pub(crate) fn policy_on(self, one: &Policy, other: &Policy, table: &'a Name) -> bool {
        let context = self.on(&table.name);
        one.restrictive == other.restrictive
            && one.command == other.command
            && one.roles == other.roles
            && same(one.using.as_ref(), other.using.as_ref(), context)
            && same(one.check.as_ref(), other.check.as_ref(), context)
    }

    pub(crate) fn view(self, one: &View, other: &View) -> bool {
        one.materialized == other.materialized
            && one.options == other.options
            && (one.columns == other.columns || one.columns.is_empty() || other.columns.is_empty())
            && one.query.is_same(&other.query, self.nowhere())
    }

    pub(crate) fn function(self, one: &Function, other: &Function) -> bool {
        self.same_call(one, other)
            && one.language == other.language
            && one.volatility == other.volatility
            && one.strict == other.strict
            && one.security_definer == other.security_definer
            && one.leakproof == other.leakproof
            && one.window == other.window
            && one.parallel.eq_ignore_ascii_case(&other.parallel)
            && same_cost(one, other)
            && same_rows(one, other)
            && one.support == other.support
            && one.settings == other.settings
            && same_body(&one.body, &other.body)
            && self.same_defaults(one, other)
    }

    /// Whether one can replace the other: what callers give and get is the same.
    pub(crate) fn same_call(self, one: &Function, other: &Function) -> bool {
        let returns = match (&one.returns, &other.returns) {
            (Some(one), Some(other)) => {
                one.set == other.set && one.data_type.is_same(&other.data_type)
            }
            // The type of a function with output arguments is made from them.
            _ => true,
        };
        returns
            && one.arguments.len() == other.arguments.len()
            && one
                .arguments
                .iter()
                .zip(&other.arguments)
                .all(|(one, other)| {
                    one.mode == other.mode
                        && one.name == other.name
                        && same_argument_type(one, other)
                })
    }

    fn same_defaults(self, one: &Function, other: &Function) -> bool {
        one.arguments
            .iter()
            .zip(&other.arguments)
            .all(|(one, other)| same(one.default.as_ref(), other.default.as_ref(), self.nowhere()))
    }

    pub(crate) fn domain_default(self, one: &Domain, other: &Domain) -> bool {
        match (&one.default, &other.default) {
            (Some(one), Some(other)) => self.is_same_default(one, other),
            (None, None) => true,
            _ => false,
        }
    }

    pub(crate) fn domain_check(self, one: &Constraint, other: &Constraint) -> bool {
        match (&one.kind, &other.kind) {
            (ConstraintKind::Check(one), ConstraintKind::Check(other)) => {
                one.is_same(other, self.nowhere())
            }
            _ => false,
        }
    }

    /// Whether two collations are one; the default schema's and the server's own need not be named.
    pub(crate) fn collation(self, one: Option<&str>, other: Option<&str>) -> bool {
        same_collation(one, other, self.default_schema)
    }

    /// How a table is divided.
    pub(crate) fn partitioned(self, one: &Table, other: &Table) -> bool {
        let plain = |sql: &Option<Sql>| {
            sql.as_ref().map(|sql| {
                let letters = sql
                    .0
                    .chars()
                    .filter(|letter| !letter.is_whitespace() && *letter != '"');
                letters.collect::<String>().to_lowercase()
            })
        };
        plain(&one.partition_by) == plain(&other.partition_by)
    }

    /// Compares partition bounds, without the server's casts and quotes.
    pub(crate) fn bound(self, one: &Sql, other: &Sql) -> bool {
        let plain = |sql: &Sql| {
            let letters = sql
                .0
                .chars()
                .filter(|letter| !letter.is_whitespace() && *letter != '\'');
            letters.collect::<String>().to_lowercase()
        };
        let (mut ours, mut theirs) = (plain(one), plain(other));
        for bound in [&mut ours, &mut theirs] {
            *bound = bound.replace("00:00:00+00", "").replace("00:00:00", "");
        }
        ours == theirs
    }
}

fn same_argument_type(one: &super::model::Argument, other: &super::model::Argument) -> bool {
    let (mut one, mut other) = (one.data_type.clone(), other.data_type.clone());
    // The server forgets lengths of arguments.
    one.args.clear();
    other.args.clear();
    one.is_same(&other)
}

fn same_keys(one: &Keys, other: &Keys) -> bool {
    one == other
}

fn same_exclude(one: &Exclude, other: &Exclude, context: Context<'_>) -> bool {
    one.method == other.method
        && one.include == other.include
        && one.items.len() == other.items.len()
        && one
            .items
            .iter()
            .zip(&other.items)
            .all(|((one, operator), (other, other_operator))| {
                operator == other_operator && same_item(one, other, context)
            })
        && same(one.predicate.as_ref(), other.predicate.as_ref(), context)
}

fn same_item(one: &IndexItem, other: &IndexItem, context: Context<'_>) -> bool {
    let class = |item: &IndexItem| {
        item.class
            .clone()
            .filter(|class| !DEFAULT_CLASSES.contains(&class.as_str()))
    };
    let expressions = match (&one.column, &other.column) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one.expression.is_same(&other.expression, context),
        _ => false,
    };
    expressions
        && same_collation(
            one.collation.as_deref(),
            other.collation.as_deref(),
            context.default_schema,
        )
        && class(one) == class(other)
        && one.descending == other.descending
        && one.nulls_first == other.nulls_first
}

fn same_collation(one: Option<&str>, other: Option<&str>, default_schema: &str) -> bool {
    if one == other {
        return true;
    }
    let prefix = format!("{}.", quote(default_schema));
    let bare = |name: &str| {
        let name = name.strip_prefix("pg_catalog.").unwrap_or(name);
        name.strip_prefix(&prefix).unwrap_or(name).to_owned()
    };
    one.map(bare) == other.map(bare)
}

fn same_function_name(one: &Trigger, other: &Trigger) -> bool {
    let is_said = one.function_schema_said && other.function_schema_said;
    one.function.name == other.function.name
        && (!is_said || one.function.schema == other.function.schema)
}

/// The server makes strings of all arguments.
fn arguments(text: &str) -> Vec<String> {
    text.trim()
        .trim_start_matches('(')
        .trim_end_matches(')')
        .split(',')
        .map(|argument| argument.trim().trim_matches('\'').to_owned())
        .filter(|argument| !argument.is_empty())
        .collect()
}

fn same_cost(one: &Function, other: &Function) -> bool {
    let cost = |function: &Function| {
        let assumed = if matches!(function.language.as_str(), "c" | "internal") {
            "1"
        } else {
            "100"
        };
        function.cost.clone().unwrap_or_else(|| assumed.to_owned())
    };
    cost(one) == cost(other)
}

fn same_rows(one: &Function, other: &Function) -> bool {
    let rows = |function: &Function| function.rows.clone().unwrap_or_else(|| "1000".to_owned());
    rows(one) == rows(other)
}

/// Parses a number in any spelling: `- 20`, `'-20'::integer`, `numeric '1.5'`.
fn number(text: &str) -> Option<f64> {
    let mut text = super::print::trimmed(text);
    while let Some((value, data_type)) = text.rsplit_once("::") {
        if data_type.contains(['\'', ')']) && !data_type.ends_with(')') {
            break;
        }
        text = super::print::trimmed(value);
    }
    let plain: String = text
        .chars()
        .filter(|letter| !matches!(letter, '\'' | ' ' | '(' | ')'))
        .collect();
    plain.parse().ok()
}
/// Compares bodies: SQL ones without regard to white space, since servers reformat SQL, string ones
/// exactly.
fn same_body(one: &Body, other: &Body) -> bool {
    let squeezed = |sql: &Sql| {
        let words: Vec<&str> = sql.0.split_whitespace().collect();
        words.join(" ").trim_end_matches([';', ' ']).to_owned()
    };
    match (one, other) {
        (Body::Sql(one), Body::Sql(other)) if !one.0.contains('\'') => {
            squeezed(one) == squeezed(other)
        }
        _ => one == other,
    }
}
