//! Locks, rewrites, losses and failures of statements, as documented by PostgreSQL for `ALTER
//! TABLE`.

use super::model::{Column, Constraint, ConstraintKind, Function, Sql, Type};
use super::name::{Name, quote};
use crate::Hazard;

pub(crate) use super::locks::{
    ACCESS_EXCLUSIVE, SHARE, SHARE_ROW_EXCLUSIVE, SHARE_UPDATE_EXCLUSIVE,
};

/// Whole numbers and fractions, narrowest first.
const NUMBERS: [&str; 6] = [
    "smallint",
    "integer",
    "bigint",
    "numeric",
    "real",
    "double precision",
];

/// How values get from one type to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cast {
    /// Without touching rows.
    Free,
    /// Every value stays the same, in rewritten rows.
    Rewrite,
    /// The server casts by itself, but values may be cut, rounded or refused.
    Lossy,
    /// Has to be written, and values may be refused.
    Explicit,
}

/// Whether every number of one type is one of the other, which is further back in [`NUMBERS`]:
/// `real` has 24 binary digits, `double precision` 53.
fn is_exact(from: &str, to: &str) -> bool {
    match to {
        "real" => from == "smallint",
        "double precision" => matches!(from, "smallint" | "integer" | "real"),
        _ => true,
    }
}

/// Whether one is a boolean and the other a number.
pub(crate) fn is_truth_and_number(one: &Type, other: &Type) -> bool {
    let is_truth = |data_type: &Type| data_type.schema.is_none() && data_type.name == "boolean";
    let is_number =
        |data_type: &Type| data_type.schema.is_none() && NUMBERS.contains(&data_type.name.as_str());
    let pair = |one, other| is_truth(one) && is_number(other);
    let is_array = one.is_array || other.is_array;
    !is_array && (pair(one, other) || pair(other, one))
}

/// What changing a column's type means.
pub(crate) fn cast(from: &Type, to: &Type) -> Cast {
    if from.is_array != to.is_array {
        return Cast::Explicit;
    }
    let is_builtin = from.schema.is_none() && to.schema.is_none();
    if from.is_text() && to.is_text() {
        return text_cast(from, to);
    }
    if from.name == to.name && is_builtin {
        return length_cast(from, to);
    }
    let place = |data_type: &Type| {
        NUMBERS
            .iter()
            .position(|name| data_type.schema.is_none() && *name == data_type.name)
    };
    if let (Some(one), Some(other)) = (place(from), place(to)) {
        let is_wider = one < other && is_exact(&from.name, &to.name) && to.args.is_empty();
        return if is_wider { Cast::Rewrite } else { Cast::Lossy };
    }
    if to.is_text() && !to.is_array {
        return if to.args.is_empty() && to.name != "name" {
            Cast::Rewrite
        } else {
            Cast::Lossy
        };
    }
    let times =
        |data_type: &Type| data_type.name.starts_with("timestamp") || data_type.name == "date";
    if is_builtin && times(from) && times(to) {
        // What a value without a zone means, and which it becomes, depends on the session's
        // TimeZone: in the hour that a change of clocks repeats, two instants become one.
        let is_zoned = |data_type: &Type| data_type.name.contains("with time zone");
        return if to.name == "date" || is_zoned(from) != is_zoned(to) {
            Cast::Lossy
        } else {
            Cast::Rewrite
        };
    }
    match (from.name.as_str(), to.name.as_str()) {
        // Of equal keys only the last is kept, and their order is not.
        ("json", "jsonb") => return Cast::Lossy,
        ("jsonb", "json") => return Cast::Rewrite,
        _ => {}
    }
    Cast::Explicit
}

fn text_cast(from: &Type, to: &Type) -> Cast {
    let limit = |data_type: &Type| data_type.args.parse::<u64>().ok();
    let is_one = |name: &str| from.name == name || to.name == name;
    match (limit(from), limit(to)) {
        // The server cuts at 63 bytes, without an error.
        _ if to.name == "name" && from.name != "name" => Cast::Lossy,
        _ if ["character", "citext", "name"].into_iter().any(is_one) => {
            if to.args.is_empty() {
                Cast::Rewrite
            } else {
                Cast::Lossy
            }
        }
        (_, None) => Cast::Free,
        (Some(from), Some(to)) if from <= to => Cast::Free,
        _ => Cast::Lossy,
    }
}

fn length_cast(from: &Type, to: &Type) -> Cast {
    let parts = |data_type: &Type| -> Vec<i64> {
        data_type
            .args
            .split(',')
            .filter_map(|part| part.trim().parse().ok())
            .collect()
    };
    let (old, new) = (parts(from), parts(to));
    match (old.as_slice(), new.as_slice()) {
        (_, []) => Cast::Free,
        ([from_digits, rest @ ..], [to_digits, to_rest @ ..]) => {
            let scale = |rest: &[i64]| rest.first().copied().unwrap_or(0);
            let grows = to_digits - scale(to_rest) >= from_digits - scale(rest);
            if scale(rest) == scale(to_rest) && grows {
                Cast::Free
            } else if scale(to_rest) >= scale(rest) && grows {
                Cast::Rewrite
            } else {
                Cast::Lossy
            }
        }
        _ => Cast::Lossy,
    }
}

/// Dangers of a new type for a column with rows.
pub(crate) fn of_type(table: &Name, column: &Column, to: &Type) -> Vec<Hazard> {
    let name = format!("{}.{}", table.name, column.name);
    let mut hazards = vec![ACCESS_EXCLUSIVE];
    let kind = cast(&column.data_type, to);
    if kind != Cast::Free {
        hazards.push(Hazard::Rewrite(format!(
            "table {} is written anew",
            table.name
        )));
    }
    let sentence = format!(
        "values of {name} become {} from {}",
        to.sql(),
        column.data_type.sql()
    );
    match kind {
        Cast::Free | Cast::Rewrite => {}
        Cast::Lossy => hazards.push(Hazard::LossyCast(sentence)),
        Cast::Explicit => {
            hazards.push(Hazard::LossyCast(sentence));
            hazards.push(Hazard::MayFail {
                reason: format!("every value of {name} must be a {}", to.sql()),
                query: Some(format!(
                    "SELECT DISTINCT {} FROM {}",
                    quote(&column.name),
                    table.quoted()
                )),
            });
        }
    }
    hazards
}

/// Volatile functions of the server and of common extensions, by `pg_proc`: a default calling one
/// gives each existing row a different value.
const VOLATILE: [&str; 12] = [
    "clock_timestamp",
    "currval",
    "gen_random_uuid",
    "lastval",
    "nextval",
    "random",
    "setval",
    "timeofday",
    "uuid_generate_v1",
    "uuid_generate_v4",
    "uuidv4",
    "uuidv7",
];

/// Whether a default calls one of [`VOLATILE`], or a volatile one of `functions`.
pub(crate) fn is_volatile<'f>(
    default: &Sql,
    functions: impl Iterator<Item = &'f Function>,
) -> bool {
    if !default.0.contains('(') {
        return false;
    }
    let names = super::split::names(&default.0);
    let mut volatile = functions.filter(|function| function.volatility == "VOLATILE");
    names.iter().any(|name| VOLATILE.contains(&name.as_str()))
        || volatile.any(|function| names.contains(&function.name.name))
}

/// Hazards of adding a column. `is_volatile`: the default differs by row.
pub(crate) fn of_added(table: &Name, column: &Column, is_volatile: bool) -> Vec<Hazard> {
    let mut hazards = vec![ACCESS_EXCLUSIVE];
    let has_value = column.default.is_some()
        || column.generated.is_some()
        || column.identity.is_some()
        || column.serial.is_some();
    if column.not_null && !has_value {
        hazards.push(Hazard::MayFail {
            reason: format!(
                "{} must have no rows, since {} is NOT NULL and has no default",
                table.name, column.name
            ),
            query: Some(format!("SELECT * FROM {} LIMIT 1", table.quoted())),
        });
    }
    let is_computed = column
        .generated
        .as_ref()
        .is_some_and(|generated| generated.stored)
        || column.identity.is_some()
        || column.serial.is_some();
    if is_computed || is_volatile {
        hazards.push(Hazard::Rewrite(format!(
            "table {} is written anew",
            table.name
        )));
    }
    hazards
}

/// Hazards of setting a column `NOT NULL`.
pub(crate) fn of_not_null(table: &Name, column: &str) -> Vec<Hazard> {
    vec![
        ACCESS_EXCLUSIVE,
        Hazard::MayFail {
            reason: format!("{}.{column} must not be NULL", table.name),
            query: Some(format!(
                "SELECT * FROM {} WHERE {} IS NULL",
                table.quoted(),
                quote(column)
            )),
        },
    ]
}

/// Dangers of a constraint on a table with rows.
pub(crate) fn of_constraint(table: &Name, constraint: &Constraint) -> Vec<Hazard> {
    let lock = if constraint.is_foreign() {
        SHARE_ROW_EXCLUSIVE
    } else {
        ACCESS_EXCLUSIVE
    };
    let mut hazards = vec![lock];
    if constraint.not_valid {
        return hazards;
    }
    let columns = |names: &[String]| {
        names
            .iter()
            .map(|name| quote(name))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (reason, query) = match &constraint.kind {
        ConstraintKind::Primary(keys) | ConstraintKind::Unique(keys) => {
            let columns = columns(&keys.columns);
            let reason = format!("{columns} of {} must be unique", table.name);
            (reason, Some(duplicates(table, &columns, None)))
        }
        ConstraintKind::Check(check) => {
            let check = super::print::trimmed(&check.0);
            let reason = format!("rows of {} must satisfy CHECK ({check})", table.name);
            (
                reason,
                Some(format!(
                    "SELECT * FROM {} WHERE NOT ({check})",
                    table.quoted()
                )),
            )
        }
        ConstraintKind::Foreign(foreign) => {
            let own = columns(&foreign.columns);
            let not_null = foreign
                .columns
                .iter()
                .map(|name| format!("{} IS NOT NULL", quote(name)));
            let query = (!foreign.table_columns.is_empty()).then(|| {
                format!(
                    "SELECT * FROM {} WHERE {} AND ({own}) NOT IN (SELECT {} FROM {})",
                    table.quoted(),
                    not_null.collect::<Vec<_>>().join(" AND "),
                    columns(&foreign.table_columns),
                    foreign.table.quoted()
                )
            });
            (
                format!(
                    "{own} of {} must exist in {}",
                    table.name, foreign.table.name
                ),
                query,
            )
        }
        ConstraintKind::Exclude(_) => (
            format!("rows of {} must not exclude each other", table.name),
            None,
        ),
    };
    hazards.push(Hazard::MayFail { reason, query });
    hazards
}

/// Query for the rows refused by a unique index.
pub(crate) fn duplicates(table: &Name, columns: &str, condition: Option<&str>) -> String {
    let condition = condition.map(|condition| format!(" WHERE {condition}"));
    format!(
        "SELECT {columns}, count(*) FROM {}{} GROUP BY {columns} HAVING count(*) > 1",
        table.quoted(),
        condition.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: &str, to: &str, expected: Cast) {
        assert_eq!(
            cast(&Type::parse(from), &Type::parse(to)),
            expected,
            "{from} to {to}"
        );
    }

    #[test]
    fn casts_are_told_apart() {
        check("varchar(10)", "varchar(20)", Cast::Free);
        check("varchar(10)", "text", Cast::Free);
        check("varchar(20)", "varchar(10)", Cast::Lossy);
        check("text", "varchar(10)", Cast::Lossy);
        check("int", "bigint", Cast::Rewrite);
        check("bigint", "int", Cast::Lossy);
        check("numeric(10,2)", "numeric(12,2)", Cast::Free);
        check("numeric(10,2)", "numeric(10,4)", Cast::Lossy);
        check("numeric(10,2)", "numeric(12,4)", Cast::Rewrite);
        check("text", "integer", Cast::Explicit);
        check("smallint", "real", Cast::Rewrite);
        check("integer", "real", Cast::Lossy);
        check("integer", "double precision", Cast::Rewrite);
        check("bigint", "double precision", Cast::Lossy);
        check("timestamp", "timestamptz", Cast::Lossy);
        check("timestamptz(3)", "timestamp", Cast::Lossy);
        check("date", "timestamp", Cast::Rewrite);
        check("json", "jsonb", Cast::Lossy);
        check("jsonb", "json", Cast::Rewrite);
        check("integer", "text", Cast::Rewrite);
        check("text", "name", Cast::Lossy);
        check("varchar(10)", "name", Cast::Lossy);
        check("json", "name", Cast::Lossy);
        check("name", "name", Cast::Rewrite);
        check("name", "text", Cast::Rewrite);
        check("name", "varchar(10)", Cast::Lossy);
        check("citext", "text", Cast::Rewrite);
        check("char(10)", "text", Cast::Rewrite);
        check("timestamp", "date", Cast::Lossy);
        check("text", "public.status", Cast::Explicit);
        check("integer", "integer[]", Cast::Explicit);
    }

    #[test]
    fn a_default_of_its_own_for_each_row_is_told() {
        let function = Function {
            name: Name::new("public", "token"),
            volatility: "VOLATILE",
            ..Function::default()
        };
        for (default, expected) in [
            ("gen_random_uuid()", true),
            ("(random() * 9)::int", true),
            ("token()", true),
            ("now()", false),
            ("'random()'", false),
            ("7", false),
        ] {
            let default = Sql(default.to_owned());
            let functions = std::iter::once(&function);
            assert_eq!(is_volatile(&default, functions), expected, "{default:?}");
        }
    }
}
