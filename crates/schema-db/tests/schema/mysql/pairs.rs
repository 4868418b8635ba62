//! Random schemas of MySQL and MariaDB, with few names and so much in common within a pair.

mod kinds;
mod programs;

use fastrand::Rng;

use crate::pairs::{Filled, Form, Pair};

/// Names of tables. The first is in every schema, since others refer to it.
const TABLES: [&str; 4] = ["alpha", "beta", "gamma", "the delta"];
const COLUMNS: [&str; 6] = ["a", "b", "c", "d", "the e", "select"];

struct Schema {
    before: Vec<String>,
    tables: Vec<Table>,
    after: Vec<String>,
    forms: Vec<&'static Form>,
}

struct Table {
    name: &'static str,
    /// Data type of all ids in the schema.
    id: &'static str,
    columns: Vec<Column>,
    /// Keys and checks.
    items: Vec<String>,
    options: String,
    around: Vec<String>,
}

struct Column {
    name: &'static str,
    definition: String,
    is_text: bool,
    is_generated: bool,
}

/// The pair of a seed, for one of the two products.
pub(super) fn pair(seed: u64, is_mariadb: bool) -> Pair {
    let mut random = Rng::with_seed(seed);
    let from = schema(&mut random, is_mariadb);
    let to = schema(&mut random, is_mariadb);
    // Numbers may be stored as text afterwards; what they say must stay.
    Pair::new(
        (text(&from), text(&to)),
        (&filled(&from), &filled(&to)),
        // As text, since a JSON column takes no bare number.
        |row| format!("'{row}'"),
        |column| format!("{column} + 0e0"),
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
    format!("`{name}`")
}

fn schema(random: &mut Rng, is_mariadb: bool) -> Schema {
    let id = ["int", "bigint", "int unsigned", "mediumint"][random.usize(..4)];
    let names = TABLES
        .into_iter()
        .filter(|name| *name == TABLES[0] || random.u8(..4) > 0);
    let names: Vec<&'static str> = names.collect();
    let tables = names.into_iter().map(|name| {
        let mut table = table(random, name, id);
        programs::of_product(random, &mut table, is_mariadb);
        table
    });
    let tables = tables.collect();
    let has_sequence = is_mariadb && random.bool();
    let sequence = "CREATE SEQUENCE numbers START WITH 5".to_owned();
    let mut forms = Form::some(random, &kinds::OF_BOTH);
    forms.extend(match is_mariadb {
        true => Form::some(random, &kinds::OF_MARIADB),
        false => Form::some(random, &kinds::OF_MYSQL),
    });
    Schema {
        forms,
        before: has_sequence.then_some(sequence).into_iter().collect(),
        tables,
        after: programs::programs(random),
    }
}

fn table(random: &mut Rng, name: &'static str, id: &'static str) -> Table {
    let mut names = COLUMNS.to_vec();
    random.shuffle(&mut names);
    names.truncate(random.usize(1..=COLUMNS.len()));
    let mut table = Table {
        name,
        id,
        columns: names.into_iter().map(|name| column(random, name)).collect(),
        items: Vec::new(),
        options: options(random),
        around: Vec::new(),
    };
    if name != TABLES[0] && random.u8(..4) == 0 {
        table.options.push_str(&partitions(random));
    } else if name != TABLES[0] {
        refer(random, &mut table);
    }
    let plain = table
        .columns
        .iter()
        .find(|column| !column.is_generated && column.name != "ref");
    if let Some((column, is_text)) = plain.map(|column| (column.name, column.is_text)) {
        furnish(random, &mut table, column, is_text);
    }
    table
}

fn column(random: &mut Rng, name: &'static str) -> Column {
    if random.u8(..6) == 0 {
        let how = ["STORED", "VIRTUAL"][random.usize(..2)];
        let factor = random.u8(1..3);
        return Column {
            name,
            definition: format!("bigint GENERATED ALWAYS AS (`id` * {factor} + 1) {how}"),
            is_text: false,
            is_generated: true,
        };
    }
    let (data_type, is_text) = [
        ("int", false),
        ("bigint unsigned", false),
        ("decimal(10)", false),
        ("double", false),
        ("varchar(20)", false),
        ("varchar(40) CHARACTER SET latin1", false),
        ("varchar(20) COLLATE utf8mb4_bin", false),
        ("text", true),
        ("enum('1','2','3')", false),
        ("enum('1','2','3','none')", false),
    ][random.usize(..10)];
    let rest = match is_text {
        true => ["", " NOT NULL", " COMMENT 'it''s long'"][random.usize(..3)],
        false => [
            "",
            " DEFAULT 2",
            " NOT NULL DEFAULT '3'",
            " COMMENT 'a;b'",
            " NULL DEFAULT NULL",
            " NOT NULL",
            " DEFAULT 2 INVISIBLE",
        ][random.usize(..7)],
    };
    Column {
        name,
        definition: format!("{data_type}{rest}"),
        is_text,
        is_generated: false,
    }
}

fn options(random: &mut Rng) -> String {
    [
        "",
        "",
        " COMMENT='one of them'",
        " DEFAULT CHARSET=latin1",
        " DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
        " ROW_FORMAT=COMPACT",
    ][random.usize(..6)]
    .to_owned()
}

/// There is one for each row in every list.
fn partitions(random: &mut Rng) -> String {
    [
        " PARTITION BY HASH (id) PARTITIONS 3",
        " PARTITION BY KEY (id)",
        " PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION pm VALUES LESS THAN MAXVALUE)",
        " PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20), \
         PARTITION pm VALUES LESS THAN MAXVALUE)",
        " PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (30))",
        " PARTITION BY LIST (id) (PARTITION p0 VALUES IN (1, 2, 3), PARTITION p1 VALUES IN (4))",
        " PARTITION BY LIST (id) (PARTITION p0 VALUES IN (1), PARTITION p1 VALUES IN (4, 3), PARTITION p2 VALUES IN (2))",
        " PARTITION BY LIST (id) (PARTITION q VALUES IN (4, 5), PARTITION p0 VALUES IN (3, 2, 1))",
    ][random.usize(..8)]
    .to_owned()
}

/// Adds a column referencing the first table, with a foreign key.
fn refer(random: &mut Rng, table: &mut Table) {
    if random.bool() {
        return;
    }
    table.columns.push(Column {
        name: "ref",
        definition: table.id.to_owned(),
        is_text: false,
        is_generated: false,
    });
    let name = table.name.replace(' ', "_");
    let action = [
        "",
        " ON DELETE CASCADE",
        " ON DELETE SET NULL ON UPDATE CASCADE",
    ][random.usize(..3)];
    if random.bool() {
        table.items.push(format!("KEY {name}_own (`ref`, `id`)"));
    }
    let constraint = [String::new(), format!("CONSTRAINT {name}_key ")][random.usize(..2)].clone();
    table.items.push(format!(
        "{constraint}FOREIGN KEY (`ref`) REFERENCES {} (`id`){action}",
        TABLES[0]
    ));
}

/// Indexes, checks, views and triggers on a column.
fn furnish(random: &mut Rng, table: &mut Table, column: &str, is_text: bool) {
    let (name, plain, column) = (
        quoted(table.name),
        table.name.replace(' ', "_"),
        quoted(column),
    );
    let prefix = if is_text { "(10)" } else { "" };
    for (item, chance) in [
        (format!("KEY plain ({column}{prefix})"), 3),
        (format!("KEY plain (id, {column}{prefix})"), 6),
        (format!("UNIQUE KEY once ({column}{prefix}, id)"), 4),
        (format!("KEY ({column}{prefix}, id) COMMENT 'found'"), 5),
        (
            format!("CONSTRAINT {plain}_positive CHECK (char_length({column}) < 100)"),
            4,
        ),
        (format!("CHECK ({column} IS NULL OR id > 0)"), 5),
    ] {
        let has_plain = item.starts_with("KEY plain")
            && table
                .items
                .iter()
                .any(|known| known.starts_with("KEY plain"));
        if random.u8(..chance) == 0 && !has_plain {
            table.items.push(item);
        }
    }
    for around in [
        format!(
            "CREATE VIEW {plain}_view AS SELECT {column} AS shown, id FROM {name} WHERE id > 0"
        ),
        format!(
            "CREATE TRIGGER {plain}_trigger AFTER DELETE ON {name} FOR EACH ROW BEGIN SET @gone = OLD.{column}; END"
        ),
        format!("ALTER TABLE {name} ADD INDEX {plain}_late (id, {column}{prefix})"),
    ] {
        if random.u8(..3) == 0 {
            table.around.push(around);
        }
    }
}

fn text(schema: &Schema) -> String {
    let one = |table: &Table| {
        let columns = table
            .columns
            .iter()
            .map(|column| format!("{} {}", quoted(column.name), column.definition));
        let items: Vec<String> = std::iter::once(format!("id {} NOT NULL PRIMARY KEY", table.id))
            .chain(columns)
            .chain(table.items.iter().cloned())
            .collect();
        let around: String = table.around.iter().map(|sql| format!("{sql};\n")).collect();
        format!(
            "CREATE TABLE {} (\n  {}\n){};\n{around}",
            quoted(table.name),
            items.join(",\n  "),
            table.options
        )
    };
    let ended = |sql: &String| format!("{sql};\n");
    let before = schema.before.iter().map(ended);
    let tables = schema.tables.iter().map(one);
    let after = schema.after.iter().map(ended);
    let all: String = before.chain(tables).chain(after).collect();
    all + &Form::text(&schema.forms)
}
