//! Typed tables: `CREATE TABLE … OF` a composite type.

use squawk_parser::SyntaxKind as K;

use super::parts::parts;
use super::{Reader, Statement};
use crate::ObjectKind;
use crate::postgres::kept;
use crate::postgres::listed::Listed;
use crate::postgres::model::{Column, Table};
use crate::postgres::name::{Name, quote};
use crate::postgres::parser::{Node, Tree};

impl Reader<'_> {
    /// Gives a table the columns of the composite type in the clause. `None` for a type
    /// that is not known.
    pub(super) fn take_type(&mut self, table: &mut Table, clause: Node<'_>) -> Option<()> {
        let of = clause.children().nth(1).map(parts)?;
        let of = self.resolve(&of);
        table.columns = self.attributes(&of)?;
        // The table stands by itself, and is bound to its type by a statement of its own.
        table.reshaped = true;
        self.typed.push((table.name.clone(), of));
        Some(())
    }

    /// Binds the typed tables read last to the types.
    pub(super) fn bind_typed(&mut self) {
        for (table, of) in std::mem::take(&mut self.typed) {
            self.read_kept(&format!(
                "ALTER TABLE {} OF {}",
                table.quoted(),
                of.quoted()
            ));
        }
    }

    /// The attributes of a composite type as columns.
    fn attributes(&mut self, of: &Name) -> Option<Listed<String, Column>> {
        let found = self
            .schema
            .kept
            .get(&(ObjectKind::CompositeType, of.quoted()))?;
        let attributes = kept::attributes_of(found)?.into_iter();
        let columns = attributes.map(|(name, data_type)| format!("{} {data_type}", quote(&name)));
        let columns: Vec<String> = columns.collect();
        let text = format!("CREATE TABLE t ({})", columns.join(", "));
        let tree = Tree::parse(&text);
        let node = tree.root().children().next()?;
        let list = node.child(K::TABLE_ARG_LIST)?;
        let statement = Statement {
            node,
            text: &text,
            tree: &tree,
            tail: "",
        };
        let mut table = Table::default();
        self.table_items(statement, &mut table, list).ok()?;
        Some(table.columns)
    }
}

/// Puts a column into a table. Options of a column of the type complete the latter.
pub(super) fn put_column(table: &mut Table, column: Column) {
    match table.columns.get_mut(&column.name) {
        Some(known) if column.data_type.name.is_empty() => {
            *known = Column {
                data_type: known.data_type.clone(),
                collation: known.collation.clone(),
                ..column
            };
        }
        _ => table.columns.insert(column.name.clone(), column),
    }
}
