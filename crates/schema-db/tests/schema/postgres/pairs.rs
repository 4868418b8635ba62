//! Random schemas of PostgreSQL, with few names and so much in common within a pair.

mod kinds;
mod programs;

use fastrand::Rng;

use crate::pairs::{Filled, Form, Pair, ROWS};

const TABLES: [&str; 4] = ["alpha", "beta", "gamma", "the delta"];
const COLUMNS: [&str; 6] = ["a", "b", "c", "d", "the e", "select"];
/// All hold the number of a row; `kind` is an enum of such numbers, `small` a domain.
const TYPES: [&str; 8] = [
    "integer",
    "bigint",
    "text",
    "varchar(20)",
    "numeric(10)",
    "kind",
    "serial",
    "small",
];
/// What the enum has beside the numbers of rows.
const LABELS: [&str; 4] = ["none", "some", "many", "it''s"];

/// Owners (the first two) and roles with privileges.
pub(super) const MANAGED: [&str; 5] = ["user1", "user2", "user3", "readonly_user", "public"];

struct Schema {
    before: Vec<String>,
    tables: Vec<Table>,
    after: Vec<String>,
    forms: Vec<&'static Form>,
}

struct Table {
    name: &'static str,
    columns: Vec<Column>,
    constraints: Vec<String>,
    around: Vec<String>,
}

struct Column {
    name: &'static str,
    data_type: &'static str,
    definition: String,
    is_generated: bool,
}

/// The pair of a seed.
pub(super) fn pair(seed: u64) -> Pair {
    let mut random = Rng::with_seed(seed);
    let (from, mut to) = (schema(&mut random), schema(&mut random));
    // A new table has no rows that others could refer to.
    to.after.retain(|sql| {
        let parent = sql.split(" REFERENCES ").nth(1);
        let is_old = |parent: &str| {
            from.tables
                .iter()
                .any(|table| parent.starts_with(&quoted(table.name)))
        };
        parent.is_none_or(is_old)
    });
    // The type may change; what the value says must stay.
    let mut pair = Pair::new(
        (text(&from), text(&to)),
        (&filled(&from), &filled(&to)),
        |row| format!("'{row}'"),
        |column| format!("{column}::text::numeric::integer"),
    );
    // Tables refer to each other in both directions, so that no order of filling them would do.
    pair.rows
        .insert(0, "SET session_replication_role = replica".to_owned());
    pair.rows.push("RESET session_replication_role".to_owned());
    pair
}

/// What is filled with rows.
fn filled(schema: &Schema) -> Vec<Filled> {
    let one = |table: &Table| {
        let columns = table.columns.iter();
        let columns = columns.map(|column| (column.name, column.is_generated));
        Filled::new(quoted, table.name, columns)
    };
    let tables = schema.tables.iter().map(one);
    tables.chain(Form::filled(&schema.forms)).collect()
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn schema(random: &mut Rng) -> Schema {
    let mut labels: Vec<String> = (1..=ROWS).map(|row| format!("'{row}'")).collect();
    labels.extend(
        LABELS
            .iter()
            .filter(|_| random.bool())
            .map(|label| format!("'{label}'")),
    );
    if random.u8(..3) == 0 {
        random.shuffle(&mut labels);
    }
    let mut before = vec![format!("CREATE TYPE kind AS ENUM ({})", labels.join(", "))];
    let volatility = ["IMMUTABLE", "STABLE"][random.usize(..2)];
    let result = ["integer", "bigint"][random.usize(..2)];
    before.push(format!(
        "CREATE FUNCTION one() RETURNS {result} LANGUAGE sql {volatility} AS 'SELECT 1::{result}'"
    ));
    before.extend(programs::before(random));
    let names: Vec<&'static str> = TABLES.into_iter().filter(|_| random.u8(..4) > 0).collect();
    let tables: Vec<Table> = names.into_iter().map(|name| table(random, name)).collect();
    let after = links(random, &tables);
    Schema {
        before,
        tables,
        after,
        forms: Form::some(random, &kinds::KINDS),
    }
}

/// Foreign keys and views over two tables.
fn links(random: &mut Rng, tables: &[Table]) -> Vec<String> {
    let mut after = Vec::new();
    for pair in tables.windows(2) {
        let (one, other) = (quoted(pair[0].name), quoted(pair[1].name));
        let rule = ["", " ON DELETE CASCADE", " DEFERRABLE INITIALLY DEFERRED"][random.usize(..3)];
        for (from, to, constraint) in [(&one, &other, "there"), (&other, &one, "back")] {
            if random.u8(..3) == 0 {
                after.push(format!(
                    "ALTER TABLE {from} ADD CONSTRAINT {constraint} FOREIGN KEY (id) REFERENCES {to} (id){rule}"
                ));
            }
        }
        let plain = pair[0].columns.iter().find(|column| !column.is_generated);
        if let Some(column) = plain.filter(|_| random.bool()) {
            let (view, shown) = (pair[0].name.replace(' ', "_"), quoted(column.name));
            after.push(format!(
                "CREATE VIEW {view}_both AS SELECT x.id, x.{shown}, y.id AS other FROM {one} x JOIN {other} y ON x.id = y.id"
            ));
            if random.bool() {
                after.push(format!(
                    "CREATE VIEW {view}_above AS SELECT id FROM {view}_both WHERE id > 0"
                ));
            }
        }
    }
    after
}

fn table(random: &mut Rng, name: &'static str) -> Table {
    let mut names = COLUMNS.to_vec();
    random.shuffle(&mut names);
    names.truncate(random.usize(1..=COLUMNS.len()));
    let columns = names.into_iter().map(|name| column(random, name)).collect();
    let mut table = Table {
        name,
        columns,
        constraints: Vec::new(),
        around: Vec::new(),
    };
    let first = table.columns.iter().find(|column| !column.is_generated);
    let first = first.map(|first| {
        let is_text = matches!(first.data_type, "text" | "varchar(20)" | "kind");
        (quoted(first.name), !is_text)
    });
    if let Some((first, is_number)) = &first {
        furnish(random, &mut table, first, *is_number);
    }
    let column = first.map_or_else(|| "id".to_owned(), |(first, _)| first);
    let rights = programs::rights(random, &quoted(name), &column);
    table.around.extend(rights);
    table
}

/// Constraints, indexes, views and more on a column.
fn furnish(random: &mut Rng, table: &mut Table, column: &str, is_number: bool) {
    let (name, plain) = (quoted(table.name), table.name.replace(' ', "_"));
    let positive = if is_number {
        format!("{column} > -5")
    } else {
        format!("{column} IN ('1', '2', '3') OR {column} IS NULL")
    };
    for (constraint, chance) in [
        (format!("UNIQUE ({column}, id)"), 4),
        (format!("CONSTRAINT positive CHECK ({positive})"), 3),
        ("CHECK (id BETWEEN 1 AND 100)".to_owned(), 4),
        ("EXCLUDE USING btree (id WITH =)".to_owned(), 6),
    ] {
        if random.u8(..chance) == 0 {
            table.constraints.push(constraint);
        }
    }
    for (around, chance) in [
        (
            format!("CREATE INDEX {plain}_plain ON {name} ({column} DESC)"),
            3,
        ),
        (
            format!("CREATE UNIQUE INDEX {plain}_unique ON {name} (id, {column}) INCLUDE (id)"),
            3,
        ),
        (
            format!("CREATE INDEX {plain}_part ON {name} ((id + 1)) WHERE {positive}"),
            3,
        ),
        (
            format!(
                "CREATE VIEW {plain}_view AS SELECT {column} AS shown, id FROM {name} WHERE {positive}"
            ),
            3,
        ),
        (
            format!("CREATE MATERIALIZED VIEW {plain}_kept AS SELECT id, {column} FROM {name}"),
            4,
        ),
        (format!("ALTER TABLE {name} ENABLE ROW LEVEL SECURITY"), 4),
        (
            format!("CREATE POLICY mine ON {name} USING ({positive})"),
            4,
        ),
        (
            format!(
                "COMMENT ON COLUMN {name}.{column} IS 'it''s {}'",
                random.u8(..3)
            ),
            3,
        ),
    ] {
        if random.u8(..chance) == 0 {
            table.around.push(around);
        }
    }
    let around = programs::around(random, &name, &plain, column);
    table.around.extend(around);
}

fn column(random: &mut Rng, name: &'static str) -> Column {
    if random.u8(..6) == 0 {
        let same = ["id * 1", "id + 0"][random.usize(..2)];
        return Column {
            name,
            data_type: "bigint",
            definition: format!("bigint GENERATED ALWAYS AS ({same}) STORED"),
            is_generated: true,
        };
    }
    let data_type = TYPES[random.usize(..TYPES.len())];
    let number = matches!(data_type, "integer" | "bigint" | "numeric(10)");
    let choices: &[&str] = match data_type {
        "serial" => &[""],
        "integer" | "bigint" => &[
            "",
            " DEFAULT 2",
            " NOT NULL DEFAULT 2",
            " DEFAULT one()",
            " NOT NULL DEFAULT -1",
        ],
        _ if number => &["", " DEFAULT 3", " NOT NULL DEFAULT 2"],
        _ => &["", " DEFAULT '2'", " NOT NULL DEFAULT '2'"],
    };
    let rest = choices[random.usize(..choices.len())];
    Column {
        name,
        data_type,
        definition: format!("{data_type}{rest}"),
        is_generated: false,
    }
}

fn text(schema: &Schema) -> String {
    let mut text: String = schema
        .before
        .iter()
        .map(|sql| format!("{sql};\n"))
        .collect();
    for table in &schema.tables {
        let columns = table
            .columns
            .iter()
            .map(|column| format!("{} {}", quoted(column.name), column.definition));
        let items = std::iter::once("id bigint PRIMARY KEY".to_owned())
            .chain(columns)
            .chain(table.constraints.iter().cloned());
        let body = items.collect::<Vec<_>>().join(", ");
        text.push_str(&format!("CREATE TABLE {} ({body});\n", quoted(table.name)));
    }
    let around = schema.tables.iter().flat_map(|table| &table.around);
    text.extend(around.chain(&schema.after).map(|sql| format!("{sql};\n")));
    text + &Form::text(&schema.forms)
}
