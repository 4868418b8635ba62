//! Large schemas: against themselves, and how time grows with the number of tables.

use std::error::Error;
use std::fmt::Write as _;

use schema::{PlanOptions, Product};

use super::{Case, fastest, read_both};

/// Tables of the small and of the large schema.
const TABLES: [usize; 2] = [2_000, 10_000];

/// Five times the tables may take so many times the time. A quadratic step takes 25 times as long.
const GROWTH_MAX: f64 = 10.0;

pub(super) const CASES: [Case; 5] = [
    Case {
        name: "PostgreSQL: 2,000 tables with keys and themselves",
        seconds_max: 0.1,
        mib_max: Some(60.0),
        work: || with_itself(Product::Postgres),
    },
    Case {
        name: "SQLite: 2,000 tables with keys and themselves",
        seconds_max: 0.1,
        mib_max: Some(60.0),
        work: || with_itself(Product::Sqlite),
    },
    Case {
        name: "MySQL: 10,000 tables, same and all changed",
        seconds_max: 3.0,
        mib_max: None,
        work: || growth(Product::Mysql),
    },
    Case {
        name: "PostgreSQL: 10,000 tables, same and all changed",
        seconds_max: 3.0,
        mib_max: None,
        work: || growth(Product::Postgres),
    },
    Case {
        name: "SQLite: 10,000 tables, same and all changed",
        seconds_max: 3.0,
        mib_max: None,
        work: || growth(Product::Sqlite),
    },
];

fn with_itself(product: Product) -> Result<f64, Box<dyn Error>> {
    let text = tables(product, TABLES[0], "");
    println!("  {} bytes", text.len());
    compared(product, &text, &text)
}

/// Seconds to read and compare two texts.
fn compared(product: Product, from: &str, to: &str) -> Result<f64, Box<dyn Error>> {
    let is_same = from == to;
    fastest(|| {
        let (from, to) = read_both(from, to, product)?;
        let plan = schema::plan(&from, &to, &PlanOptions::default())?;
        match plan.statements.is_empty() == is_same {
            true => Ok((from, to, plan)),
            false => Err(format!("{} statements", plan.statements.len()).into()),
        }
    })
}

/// Returns the seconds of the large schema; an error for too many in relation to the small one.
fn growth(product: Product) -> Result<f64, Box<dyn Error>> {
    let mut slowest: f64 = 0.0;
    for added in ["", "added integer, "] {
        let mut seconds = [0.0; 2];
        for (seconds, count) in seconds.iter_mut().zip(TABLES) {
            let (from, to) = (tables(product, count, ""), tables(product, count, added));
            *seconds = compared(product, &from, &to)?;
        }
        let [small, large] = seconds;
        println!(
            "  {:8.1} ms for {} tables, {:8.1} ms for {}: {:.1} times as long",
            small * 1e3,
            TABLES[0],
            large * 1e3,
            TABLES[1],
            large / small
        );
        if large > small * GROWTH_MAX {
            return Err(format!("more than {GROWTH_MAX} times as long").into());
        }
        slowest = slowest.max(large);
    }
    Ok(slowest)
}

/// Tables with a key, two indexes, a check and a foreign key to the one before; `added` is one more
/// column.
fn tables(product: Product, count: usize, added: &str) -> String {
    let (key, engine) = match product {
        Product::Postgres => ("bigint NOT NULL", ""),
        Product::Sqlite => ("integer NOT NULL", ""),
        Product::Mysql | Product::MariaDb => ("bigint NOT NULL", " ENGINE=InnoDB"),
    };
    let mut text = String::new();
    for number in 0..count {
        let before = number.saturating_sub(1);
        let _ = write!(
            text,
            "CREATE TABLE t{number} (id {key}, {added}owner_id {key}, name varchar(255) NOT NULL DEFAULT '', \
             state integer DEFAULT 0, amount decimal(10,2), created_at timestamp NOT NULL, PRIMARY KEY (id), \
             CONSTRAINT t{number}_check CHECK (state >= 0), \
             CONSTRAINT t{number}_fk FOREIGN KEY (owner_id) REFERENCES t{before} (id)){engine};\n\
             CREATE INDEX t{number}_owner ON t{number} (owner_id);\n\
             CREATE UNIQUE INDEX t{number}_name ON t{number} (name, state);\n"
        );
    }
    text
}
