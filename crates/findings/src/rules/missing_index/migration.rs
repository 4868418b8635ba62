//! An index as a line of a migration, in the words of the app's object mapper.

use crate::associations::Mapper;

/// Bytes of a name up to which each mapper takes the own one for any server.
const OWN_NAME_BYTES_MAX: usize = 62;

/// A migration with an index.
pub(super) struct Migration {
    /// The line in the migration's method or block.
    pub(super) line: String,
    /// The line beside the method or block for a migration outside of a transaction, as needed by
    /// an index built beside writes.
    pub(super) without_transaction: Option<&'static str>,
}

impl Migration {
    /// Returns the migration adding an index; `name` is for where the mapper's own one is too long.
    /// `beside_writes` is PostgreSQL's way.
    pub(super) fn of(
        mapper: Mapper,
        (table, columns): (&str, &[&str]),
        name: &str,
        beside_writes: bool,
    ) -> Migration {
        let symbols: Vec<String> = columns.iter().map(|column| symbol(column)).collect();
        let listed = match symbols.as_slice() {
            [only] => only.clone(),
            all => format!("[{}]", all.join(", ")),
        };
        let mut line = format!("add_index {}, {listed}", symbol(table));
        let own = match mapper {
            Mapper::ActiveRecord => format!("index_{table}_on_{}", columns.join("_and_")),
            Mapper::Sequel => format!("{table}_{}_index", columns.join("_")),
        };
        if own.len() > OWN_NAME_BYTES_MAX {
            line += &format!(", name: {name:?}");
        }
        let (option, without_transaction) = match mapper {
            Mapper::ActiveRecord => (", algorithm: :concurrently", "disable_ddl_transaction!"),
            Mapper::Sequel => (", concurrently: true", "no_transaction"),
        };
        if beside_writes {
            line += option;
        }
        Migration {
            line,
            without_transaction: beside_writes.then_some(without_transaction),
        }
    }
}

/// Returns a name as a symbol of Ruby.
fn symbol(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.chars().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!(":{name}"),
        false => format!(":{name:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_written_in_each_mappers_words() {
        let check = |mapper: Mapper, columns: &[&str], expected: (&str, Option<&str>)| {
            let beside_writes = expected.1.is_some();
            let migration = Migration::of(mapper, ("orders", columns), "short", beside_writes);
            let found = (migration.line.as_str(), migration.without_transaction);
            assert_eq!(found, expected);
        };
        let (rails, sequel) = (Mapper::ActiveRecord, Mapper::Sequel);
        let beside = "add_index :orders, [:shop_id, :id], algorithm: :concurrently";
        let of_two = (beside, Some("disable_ddl_transaction!"));
        check(rails, &["shop_id", "id"], of_two);
        check(rails, &["shop_id"], ("add_index :orders, :shop_id", None));
        let beside = "add_index :orders, :Shop, concurrently: true";
        check(sequel, &["Shop"], (beside, Some("no_transaction")));
        let quoted = r#"add_index :orders, :"of shop""#;
        check(sequel, &["of shop"], (quoted, None));
        let named = r#"add_index :orders, [:billing_period_adjustment_account_id, :created_at_of_shop], name: "short""#;
        let long = ["billing_period_adjustment_account_id", "created_at_of_shop"];
        check(rails, &long, (named, None));
    }
}
