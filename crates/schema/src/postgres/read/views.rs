//! Views.

use squawk_parser::SyntaxKind as K;

use super::parts::{columns, options};
use super::spaces::space;
use super::{Read, Reader, Statement, Trouble};
use crate::postgres::model::{Sql, View};

impl Reader<'_> {
    pub(super) fn create_view(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        if node.has(K::TEMP) {
            return Err(Trouble::Opaque);
        }
        let name = node.child(K::VIEW).ok_or(Trouble::Opaque)?;
        let query = node
            .children()
            .skip_while(|child| child.kind() != K::AS_KW)
            .nth(1)
            .ok_or(Trouble::Opaque)?;
        let mut view = View {
            name: self.name(name),
            materialized: node.kind() == K::CREATE_MATERIALIZED_VIEW,
            recursive: node.has(K::RECURSIVE_KW),
            columns: node.child(K::COLUMN_LIST).map(columns).unwrap_or_default(),
            options: node.child(K::WITH_PARAMS).map(options).unwrap_or_default(),
            query: Sql(query.text().to_owned()),
            no_data: node.has(K::WITH_NO_DATA),
            meta: self.meta(statement),
            ..View::default()
        };
        if let Some(check) = node.child(K::WITH_CHECK_OPTION) {
            let local = check.has(K::LOCAL_CHECK_OPTION);
            let scope = if local { "local" } else { "cascaded" };
            view.options
                .insert("check_option".to_owned(), scope.to_owned());
        }
        view.meta.renamed_from = self.former(statement, name.end(), query.start());
        if let Some(old) = self.schema.views.get(&view.name) {
            view.meta.comment = old.meta.comment.clone();
            view.triggers = old.triggers.clone();
        }
        if view.materialized {
            self.place("MATERIALIZED VIEW", &view.name, space(node));
        }
        self.schema.views.insert(view.name.clone(), view);
        Ok(())
    }
}
