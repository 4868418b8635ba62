//! Random schemas: printed as `schema.rb` and read back, all are unchanged.
use fastrand::Rng;
use rails_schema::{convert, dump};
use schema::{PlanOptions, Product, Schema, Server, Source};

/// Schemas of each server.
const CASES: u64 = 300;

const NAMES: [&str; 8] = [
    "a",
    "user",
    "order",
    "Mixed",
    "with space",
    "it's",
    "é",
    "x\"y",
];

const POSTGRES: &str = "character varying|character varying(20)|text|integer|smallint|bigint|numeric(8,3)|numeric|\
    double precision|real|boolean|timestamp without time zone|timestamp(6) without time zone|\
    timestamp(0) without time zone|timestamp with time zone|timestamp(3) with time zone|date|time without time zone|\
    bytea|jsonb|uuid|inet|bit(3)|bit varying(4)|character(4)|text[]|integer[]|interval|interval day";

const MYSQL: &str = "varchar(255)|varchar(20)|text|mediumtext|int|int unsigned|tinyint|tinyint(1)|smallint|mediumint|\
    bigint|bigint unsigned|decimal(8,3)|float|double|datetime|datetime(6)|datetime(3)|date|time|time(2)|blob|longblob|\
    varbinary(16)|binary(4)|enum('a','it''s')|set('x','y')|year";

const SQLITE: &str = "varchar|varchar(20)|text|integer|bigint|decimal(8,3)|float|boolean|datetime|datetime(6)|date|blob|\
    json|real|varying char(3)";

fn types(product: Product) -> Vec<&'static str> {
    let types = match product {
        Product::Postgres => POSTGRES,
        Product::Mysql | Product::MariaDb => MYSQL,
        Product::Sqlite => SQLITE,
    };
    types.split('|').collect()
}

struct Maker {
    random: Rng,
    product: Product,
}

impl Maker {
    fn name(&self, name: &str) -> String {
        match self.product {
            Product::Mysql | Product::MariaDb => format!("`{name}`"),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.random.usize(..count) == 0
    }

    fn column(&mut self, name: &str) -> String {
        let types = types(self.product);
        let data_type = types[self.random.usize(..types.len())];
        let mut sql = format!("{} {data_type}", self.name(name));
        let is_text = data_type.contains("char") && !data_type.contains('[');
        if is_text && self.one_in(2) {
            let defaults = ["''", "'it''s'", "'a \"b\" #{c} \n'", "'0'"];
            sql.push_str(&format!(
                " DEFAULT {}",
                defaults[self.random.usize(..defaults.len())]
            ));
        } else if data_type.contains("int")
            && !data_type.contains("interval")
            && !data_type.contains('[')
            && self.one_in(2)
        {
            sql.push_str(&format!(" DEFAULT {}", self.random.i32(-1..100)));
        }
        if self.one_in(3) {
            sql.push_str(" NOT NULL");
        }
        sql
    }

    /// A primary key: none, the usual one, one of another type, or two columns.
    fn key(&mut self) -> Vec<String> {
        let (key, text) = (self.name("id"), "NOT NULL PRIMARY KEY");
        let usual = match self.product {
            Product::Postgres => format!("{key} bigserial {text}"),
            Product::Sqlite => format!("{key} integer PRIMARY KEY AUTOINCREMENT NOT NULL"),
            _ => format!("{key} bigint {text} AUTO_INCREMENT"),
        };
        let bare = match self.product {
            Product::Sqlite => format!("{key} integer PRIMARY KEY"),
            _ => format!("{key} integer {text}"),
        };
        match self.random.usize(..5) {
            0 => Vec::new(),
            1 => vec![format!("{key} varchar(36) {text}")],
            2 => vec![bare],
            _ => vec![usual],
        }
    }

    fn table(&mut self, table: &str, others: &[String]) -> Vec<String> {
        let count = self.random.usize(1..5);
        let mut names: Vec<&str> = NAMES.to_vec();
        if matches!(self.product, Product::Mysql | Product::MariaDb) {
            names.retain(|name| !name.contains(['"', '\'']));
        }
        self.random.shuffle(&mut names);
        names.truncate(count);
        let mut items = self.key();
        items.extend(names.iter().map(|name| self.column(name)));
        if self.one_in(3) {
            let name = self.name(&format!("{table}_check"));
            items.push(format!("CONSTRAINT {name} CHECK (1 < 2)"));
        }
        if let (Some(other), true) = (others.last(), self.one_in(2)) {
            let (name, other) = (self.name(&format!("{table}_fk")), self.name(other));
            let actions = [
                "",
                " ON DELETE CASCADE",
                " ON DELETE SET NULL ON UPDATE RESTRICT",
            ];
            let action = actions[self.random.usize(..actions.len())];
            let column = self.name(names[0]);
            items.push(format!(
                "CONSTRAINT {name} FOREIGN KEY ({column}) REFERENCES {other} ({}){action}",
                self.name("id")
            ));
        }
        let mut statements = vec![format!(
            "CREATE TABLE {} ({})",
            self.name(table),
            items.join(", ")
        )];
        for (number, name) in names.iter().enumerate() {
            if self.random.bool() {
                continue;
            }
            let unique = if self.random.bool() { "UNIQUE " } else { "" };
            let order = if self.random.bool() { " DESC" } else { "" };
            let index = self.name(&format!("{table}_{number}"));
            let (table, column) = (self.name(table), self.name(name));
            statements.push(format!(
                "CREATE {unique}INDEX {index} ON {table} ({column}{order})"
            ));
        }
        statements
    }

    fn schema(&mut self) -> String {
        let mut tables: Vec<String> = Vec::new();
        let mut statements = Vec::new();
        for number in 0..self.random.usize(1..4) {
            let name = format!("table{number}");
            statements.extend(self.table(&name, &tables));
            tables.push(name);
        }
        statements.join(";\n") + ";\n"
    }
}

fn read(text: String, server: &Server) -> Schema {
    let source = Source {
        name: "text".to_owned(),
        text,
    };
    schema::read(&[source], server)
        .unwrap_or_else(|error| panic!("{error}"))
        .schema
}

#[test]
fn random_schemas_come_back_from_ruby() {
    for product in [
        Product::Postgres,
        Product::Mysql,
        Product::MariaDb,
        Product::Sqlite,
    ] {
        let server = Server::unknown(product);
        for seed in 0..CASES {
            let random = Rng::with_seed(seed);
            let sql = Maker { random, product }.schema();
            let before = read(sql.clone(), &server);
            let dumped = dump(&before.outline(), &server);
            assert!(
                dumped.lost.is_empty(),
                "{product:?} {seed}: {:?}",
                dumped.lost
            );
            let source = Source {
                name: "schema.rb".to_owned(),
                text: dumped.text.clone(),
            };
            let mut require = |_: &Source, name: &str| Err(name.to_owned());
            let converted = convert(&source, &server, &mut require);
            let converted = converted
                .unwrap_or_else(|error| panic!("{product:?} {seed}: {error}\n{}", dumped.text));
            let text: String = converted
                .sources
                .into_iter()
                .map(|source| source.text)
                .collect();
            let after = read(text.clone(), &server);
            for (from, to) in [(&before, &after), (&after, &before)] {
                let plan = schema::plan(from, to, &PlanOptions::default()).unwrap();
                let statements: Vec<&str> = plan
                    .statements
                    .iter()
                    .map(|each| each.sql.as_str())
                    .collect();
                assert!(
                    statements.is_empty(),
                    "{product:?} {seed}\n{sql}\n{}\n{text}\n{statements:#?}",
                    dumped.text
                );
            }
        }
    }
}
