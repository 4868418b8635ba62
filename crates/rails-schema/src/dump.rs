//! A schema as `schema.rb`, which ActiveRecord loads and [`crate::convert`] reads.
//!
//! Everything that ActiveRecord has a word for is written in its words; other types are written as
//! `t.column` with the type in SQL, other defaults as lambdas that return SQL. What no file of this
//! kind can hold is listed.

mod column;
mod literal;
mod types;

use schema::outline::{Check, Deferral, Exclusion, ForeignKey, Index, Outline, Table, Unique};
use schema::{Object, Server};

use crate::names;
use crate::sql::Spelling;
use literal::{list, quoted, text};

/// The version whose words are written.
const RELEASE: &str = "7.2";

/// A schema file, and objects not representable in one.
#[derive(Clone, Debug, Default)]
pub struct Dumped {
    /// The Ruby.
    pub text: String,
    /// Objects, or parts of tables, not representable in the file.
    pub lost: Vec<Lost>,
}

/// What a schema file cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// An object's kind, or words for a part of an object.
    pub kind: &'static str,
    /// Name of the object, or the name and the part.
    pub name: String,
}

impl Lost {
    fn of(object: &Object) -> Lost {
        Lost {
            kind: object.kind.word(),
            name: object.name.clone(),
        }
    }
}

/// Writes an outline as `schema.rb`, without ActiveRecord's own tables, like ActiveRecord's dumper.
pub fn dump(outline: &Outline, server: &Server) -> Dumped {
    let mut dumper = Dumper {
        spelling: Spelling::of(server),
        outline,
        lines: Vec::new(),
        lost: outline.others.iter().map(Lost::of).collect(),
    };
    dumper.line(&format!("ActiveRecord::Schema[{RELEASE}].define do"));
    dumper.head();
    let mut tables: Vec<&Table> = outline
        .tables
        .iter()
        .filter(|table| !crate::INTERNAL_TABLES.contains(&table.name.as_str()))
        .collect();
    tables.sort_by_key(|table| &table.name);
    for table in &tables {
        dumper.table(table);
    }
    for table in &tables {
        for key in &table.foreign_keys {
            dumper.foreign_key(table, key);
        }
    }
    dumper.line("end");
    Dumped {
        text: dumper.lines.join("\n") + "\n",
        lost: dumper.lost,
    }
}

/// A file being written.
struct Dumper<'a> {
    spelling: Spelling,
    outline: &'a Outline,
    lines: Vec<String>,
    lost: Vec<Lost>,
}

impl Dumper<'_> {
    fn line(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn lose(&mut self, kind: &'static str, name: String) {
        self.lost.push(Lost { kind, name });
    }

    /// What has to be there before tables.
    fn head(&mut self) {
        let outline = self.outline;
        for name in &outline.schemas {
            self.line(&format!("  create_schema {}", quoted(name)));
        }
        for name in &outline.extensions {
            self.line(&format!("  enable_extension {}", quoted(name)));
        }
        for (name, labels) in &outline.enums {
            self.line(&format!("  create_enum {}, {}", quoted(name), list(labels)));
        }
    }

    fn table(&mut self, table: &Table) {
        for other in &table.others {
            self.lose("part of a table", format!("{}: {other}", table.name));
        }
        let mut head = format!("  create_table {}", quoted(&table.name));
        let key = self.primary_key(table);
        head.push_str(&key.options);
        for (name, value) in [
            ("charset", &table.charset),
            ("collation", &table.collation),
            ("comment", &table.comment),
        ] {
            head.extend(
                value
                    .as_ref()
                    .map(|value| format!(", {name}: {}", quoted(value))),
            );
        }
        self.line(&format!("{head}, force: :cascade do |t|"));
        for column in &table.columns {
            if Some(&column.name) != key.column.as_ref() {
                let line = self.column(table, column);
                self.line(&format!("    {line}"));
            }
        }
        for index in &table.indexes {
            let line = self.index(index);
            self.line(&format!("    {line}"));
        }
        for check in &table.checks {
            let line = check_line(table, check);
            self.line(&format!("    {line}"));
        }
        for exclusion in &table.exclusions {
            self.line(&format!("    {}", exclusion_line(exclusion)));
        }
        for unique in &table.uniques {
            self.unique(table, unique);
        }
        self.line("  end\n");
    }

    fn index(&self, index: &Index) -> String {
        let is_plain = index.items.iter().all(|item| item.column.is_some());
        let columns: Vec<String> = index
            .items
            .iter()
            .filter_map(|item| item.column.clone())
            .collect();
        let mut line = match is_plain {
            true => format!("t.index {}", list(&columns)),
            false => {
                let items: Vec<&str> = index.items.iter().map(|item| item.sql.as_str()).collect();
                format!("t.index {}", quoted(&items.join(", ")))
            }
        };
        line.push_str(&format!(", name: {}", quoted(&index.name)));
        if index.is_unique {
            line.push_str(", unique: true");
        }
        if is_plain {
            let of = |item: &dyn Fn(&schema::outline::IndexItem) -> Option<String>| {
                let pairs = index.items.iter().zip(&columns);
                let pairs: Vec<String> = pairs
                    .filter_map(|(each, column)| {
                        Some(format!("{}: {}", quoted(column), item(each)?))
                    })
                    .collect();
                (!pairs.is_empty()).then(|| format!("{{ {} }}", pairs.join(", ")))
            };
            let order = of(&|item| match (item.is_descending, item.nulls) {
                (false, None) => None,
                (true, None) => Some(":desc".to_owned()),
                (true, Some(nulls)) => Some(quoted(&format!("DESC {nulls}"))),
                (false, Some(nulls)) => Some(quoted(&format!("ASC {nulls}"))),
            });
            line.extend(of(&|item| item.length.clone()).map(|part| format!(", length: {part}")));
            line.extend(order.map(|part| format!(", order: {part}")));
            let class = of(&|item| item.class.as_ref().map(|class| quoted(class)));
            line.extend(class.map(|part| format!(", opclass: {part}")));
        }
        line.extend(
            index
                .predicate
                .as_ref()
                .map(|sql| format!(", where: {}", quoted(sql))),
        );
        let is_type = matches!(index.method.as_str(), "fulltext" | "spatial" | "vector");
        let word = if is_type { "type" } else { "using" };
        if !index.method.is_empty() {
            line.push_str(&format!(", {word}: {}", literal::symbol(&index.method)));
        }
        if !index.include.is_empty() {
            line.push_str(&format!(", include: {}", list(&index.include)));
        }
        if index.is_null_equal {
            line.push_str(", nulls_not_distinct: true");
        }
        if index.is_invisible {
            line.push_str(", enabled: false");
        }
        line.extend(
            index
                .comment
                .as_ref()
                .map(|text| format!(", comment: {}", quoted(text))),
        );
        line
    }

    /// Only PostgreSQL's have a word; elsewhere a unique index does the same.
    fn unique(&mut self, table: &Table, unique: &Unique) {
        let columns = list(&unique.columns);
        if !self.spelling.is_postgres() {
            self.lose("constraint", format!("{}: UNIQUE {columns}", table.name));
            return;
        }
        let made = names::constraint("uniq", &table.name, &unique.columns.join("_and_"), "unique");
        let mut line = format!("t.unique_constraint {columns}");
        line.push_str(deferral(unique.deferral));
        if unique.is_null_equal {
            line.push_str(", nulls_not_distinct: true");
        }
        line.push_str(&name_unless(&unique.name, &made));
        self.line(&format!("    {line}"));
    }

    fn foreign_key(&mut self, table: &Table, key: &ForeignKey) {
        let made = names::constraint("fk", &table.name, &key.columns.join("_and_"), "fk");
        let mut line = format!(
            "  add_foreign_key {}, {}",
            quoted(&table.name),
            quoted(&key.table)
        );
        line.push_str(&format!(", column: {}", one_or_list(&key.columns)));
        if !key.references.is_empty() && key.references != ["id"] {
            line.push_str(&format!(", primary_key: {}", one_or_list(&key.references)));
        }
        line.push_str(&name_unless(&key.name, &made));
        for (option, action) in [("on_update", &key.on_update), ("on_delete", &key.on_delete)] {
            match action.as_deref() {
                None | Some("NO ACTION") => {}
                Some("CASCADE") => line.push_str(&format!(", {option}: :cascade")),
                Some("SET NULL") => line.push_str(&format!(", {option}: :nullify")),
                Some("RESTRICT") => line.push_str(&format!(", {option}: :restrict")),
                Some(other) => {
                    let name = format!("{}: {} {other}", table.name, option.replace('_', " "));
                    self.lose("part of a foreign key", name);
                }
            }
        }
        line.push_str(deferral(key.deferral));
        if key.is_not_valid {
            line.push_str(", validate: false");
        }
        self.line(&line);
    }
}

fn check_line(table: &Table, check: &Check) -> String {
    let made = names::constraint("chk", &table.name, &check.expression, "chk");
    let mut line = format!("t.check_constraint {}", text(&check.expression));
    line.push_str(&name_unless(&check.name, &made));
    if check.is_not_valid {
        line.push_str(", validate: false");
    }
    line
}

fn exclusion_line(exclusion: &Exclusion) -> String {
    let mut line = format!("t.exclusion_constraint {}", text(&exclusion.expression));
    line.extend(
        exclusion
            .predicate
            .as_ref()
            .map(|sql| format!(", where: {}", text(sql))),
    );
    line.push_str(&format!(", using: {}", literal::symbol(&exclusion.method)));
    line.push_str(deferral(exclusion.deferral));
    line.push_str(&format!(", name: {}", quoted(&exclusion.name)));
    line
}

fn deferral(deferral: Deferral) -> &'static str {
    match deferral {
        Deferral::Never => "",
        Deferral::Immediate => ", deferrable: :immediate",
        Deferral::Deferred => ", deferrable: :deferred",
    }
}

/// The `name:` option, or nothing for ActiveRecord's generated name.
fn name_unless(name: &str, made: &str) -> String {
    match name.is_empty() || name == made {
        true => String::new(),
        false => format!(", name: {}", quoted(name)),
    }
}

fn one_or_list(names: &[String]) -> String {
    match names {
        [only] => quoted(only),
        several => list(several),
    }
}
