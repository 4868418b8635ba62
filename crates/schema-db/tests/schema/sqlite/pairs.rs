//! Random schemas of SQLite, with few names and so much in common within a pair.

mod kinds;

use fastrand::Rng;

use crate::pairs::{Filled, Form, Pair};

const TABLES: [&str; 4] = ["alpha", "beta", "gamma", "the delta"];
const COLUMNS: [&str; 6] = ["a", "b", "c", "d", "the e", "select"];

#[derive(Clone)]
struct Schema {
    tables: Vec<Table>,
    forms: Vec<&'static Form>,
}

#[derive(Clone)]
struct Table {
    name: &'static str,
    columns: Vec<Column>,
    constraints: Vec<String>,
    options: &'static str,
    around: Vec<String>,
}

#[derive(Clone)]
struct Column {
    name: &'static str,
    definition: String,
    is_generated: bool,
}

/// The pair of a seed.
pub(super) fn pair(seed: u64) -> Pair {
    let mut random = Rng::with_seed(seed);
    let (from, to) = (schema(&mut random), schema(&mut random));
    // A virtual table in another form is another table, which takes a yes.
    let is_another = |form: &&'static Form| {
        let is_known = from.forms.iter().any(|known| known.sql == form.sql);
        form.sql[0].starts_with("CREATE VIRTUAL") && !is_known
    };
    let mut kept = to.clone();
    kept.forms.retain(|form| !is_another(form));
    // Numbers may be stored as text afterwards; what they say must stay.
    Pair::new(
        (text(&from), text(&to)),
        (&filled(&from), &filled(&kept)),
        |row| row.to_string(),
        |column| format!("CAST({column} AS TEXT)"),
    )
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
    let names = TABLES
        .into_iter()
        .filter(|_| random.u8(..4) > 0)
        .collect::<Vec<_>>();
    Schema {
        tables: names.into_iter().map(|name| table(random, name)).collect(),
        forms: Form::some(random, &kinds::KINDS),
    }
}

fn table(random: &mut Rng, name: &'static str) -> Table {
    let options = [
        "",
        "",
        " STRICT",
        " WITHOUT ROWID",
        " STRICT, WITHOUT ROWID",
    ][random.usize(..5)];
    let mut names = COLUMNS.to_vec();
    random.shuffle(&mut names);
    names.truncate(random.usize(1..=COLUMNS.len()));
    let mut columns = Vec::new();
    for name in names {
        let first_plain = columns.iter().find(|column: &&Column| !column.is_generated);
        let base = first_plain.map(|column| column.name);
        columns.push(column(random, name, base));
    }
    let plain: Vec<&'static str> = columns
        .iter()
        .filter(|column| !column.is_generated)
        .map(|column| column.name)
        .collect();
    let mut table = Table {
        name,
        columns,
        constraints: Vec::new(),
        options,
        around: Vec::new(),
    };
    if let Some(first) = plain.first().map(|name| quoted(name)) {
        furnish(random, &mut table, &first);
    }
    table
}

/// Constraints, indexes, views and triggers on a column.
fn furnish(random: &mut Rng, table: &mut Table, column: &str) {
    let (name, plain) = (quoted(table.name), table.name.replace(' ', "_"));
    for (constraint, chance) in [
        (format!("UNIQUE ({column}, id)"), 4),
        (format!("CONSTRAINT positive CHECK ({column} > 0)"), 4),
        (format!("CHECK (length({column}) < 100)"), 5),
        (
            format!("FOREIGN KEY ({column}) REFERENCES {name} (id) ON DELETE CASCADE"),
            5,
        ),
    ] {
        if random.u8(..chance) == 0 {
            table.constraints.push(constraint);
        }
    }
    for around in [
        format!("CREATE INDEX {plain}_plain ON {name} ({column} DESC)"),
        format!("CREATE UNIQUE INDEX {plain}_unique ON {name} ({column}, id)"),
        format!("CREATE INDEX {plain}_part ON {name} (abs({column})) WHERE {column} > 1"),
        format!("CREATE VIEW {plain}_view AS SELECT {column} AS shown FROM {name}"),
        format!(
            "CREATE TRIGGER {plain}_trigger AFTER DELETE ON {name} BEGIN SELECT OLD.{column}; END"
        ),
    ] {
        if random.u8(..3) == 0 {
            table.around.push(around);
        }
    }
}

fn column(random: &mut Rng, name: &'static str, base: Option<&str>) -> Column {
    let data_type = ["INTEGER", "TEXT", "INT"][random.usize(..3)];
    if let Some(base) = base.filter(|_| random.u8(..5) == 0) {
        let how = ["STORED", "VIRTUAL"][random.usize(..2)];
        return Column {
            name,
            definition: format!(
                "{data_type} GENERATED ALWAYS AS ({} || '') {how}",
                quoted(base)
            ),
            is_generated: true,
        };
    }
    let rest = [
        "",
        " DEFAULT 2",
        " NOT NULL DEFAULT 2",
        " NOT NULL DEFAULT (2)",
        " DEFAULT 2 CHECK (1 < 2)",
        " COLLATE NOCASE",
    ][random.usize(..6)];
    Column {
        name,
        definition: format!("{data_type}{rest}"),
        is_generated: false,
    }
}

fn text(schema: &Schema) -> String {
    let one = |table: &Table| {
        let columns = table
            .columns
            .iter()
            .map(|column| format!("{} {}", quoted(column.name), column.definition));
        let items = std::iter::once("id INTEGER PRIMARY KEY".to_owned())
            .chain(columns)
            .chain(table.constraints.iter().cloned());
        let body = items.collect::<Vec<_>>().join(", ");
        let around: String = table.around.iter().map(|sql| format!("{sql};\n")).collect();
        format!(
            "CREATE TABLE {} ({body}){};\n{around}",
            quoted(table.name),
            table.options
        )
    };
    let all: String = schema.tables.iter().map(one).collect();
    all + &Form::text(&schema.forms)
}
