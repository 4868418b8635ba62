//! What makes no sense without a change of type that may be held back: defaults, checks, indexes, views and the like that
//! speak of the column, and whatever steps aside for it.

use std::collections::{HashMap, HashSet};

use super::Builder;
use crate::postgres::name::Name;
use crate::postgres::split;
use crate::{Statement, Verb};

/// A column that another statement gives another type.
pub(super) struct Retyped {
    /// The statement without which it has the old one.
    pub(super) at: usize,
    pub(super) table: Name,
    pub(super) column: String,
}

/// Kinds whose statements may speak of a column.
const USERS: [&str; 6] = ["column", "constraint", "index", "policy", "trigger", "view"];

/// How comments call what may be held back, and its kind.
const COMMENTED: [(&str, &str); 9] = [
    ("COLUMN ", "column"),
    ("CONSTRAINT ", "constraint"),
    ("DOMAIN ", "domain"),
    ("INDEX ", "index"),
    ("MATERIALIZED VIEW ", "view"),
    ("POLICY ", "policy"),
    ("TRIGGER ", "trigger"),
    ("TYPE ", "type"),
    ("VIEW ", "view"),
];

impl Builder<'_> {
    /// Ties statements to the changes of type that are held back unless they are allowed.
    pub(super) fn link(&mut self) {
        if !self
            .statements
            .iter()
            .any(|statement| statement.is_destructive())
        {
            return;
        }
        self.link_comments();
        self.link_remade();
        let mut retyped = std::mem::take(&mut self.retyped);
        let lost = self.lost_views();
        retyped.retain(|each| {
            let shown = lost.iter().filter(|view| view.shows(each));
            let needs: Vec<usize> = shown.map(|view| view.drop).collect();
            let statement = &mut self.statements[each.at];
            statement.needs.extend(&needs);
            statement.is_destructive() || !needs.is_empty()
        });
        if retyped.is_empty() {
            return;
        }
        let names: Vec<HashSet<String>> = self
            .statements
            .iter()
            .map(|statement| split::names(&statement.sql).into_iter().collect())
            .collect();
        for each in retyped {
            self.link_users(&each, &names);
        }
    }

    /// What speaks of a table that is dropped and made again waits for that.
    fn link_remade(&mut self) {
        for (table, dropped) in std::mem::take(&mut self.remade) {
            for at in (0..self.statements.len()).filter(|at| *at != dropped) {
                let names = split::names(&self.statements[at].sql);
                if !names.contains(&table.name) {
                    continue;
                }
                for aside in self.stepped_aside(at) {
                    self.statements[aside].needs.push(dropped);
                    self.statements[dropped].needs.push(aside);
                }
                let is_before = self.statements[dropped].needs.contains(&at);
                if !is_before {
                    self.statements[at].needs.push(dropped);
                }
            }
        }
    }

    /// What is not made has no comment.
    fn link_comments(&mut self) {
        let mut made: HashMap<(&str, &str), usize> = HashMap::new();
        let mut needed = Vec::new();
        for (at, statement) in self.statements.iter().enumerate() {
            let name = statement.object.name.as_str();
            if matches!(statement.verb, Verb::Add | Verb::Create) {
                made.insert((statement.object.kind, name), at);
            } else if let Some(rest) = statement.sql.strip_prefix("COMMENT ON ") {
                let target = COMMENTED.iter().find(|(word, _)| rest.starts_with(word));
                let made = target.and_then(|(_, kind)| made.get(&(*kind, name)));
                needed.extend(made.map(|made| (at, *made)));
            }
        }
        for (at, made) in needed {
            self.statements[at].needs.push(made);
        }
    }

    /// Views that are dropped and do not come again, which is held back unless it is allowed.
    fn lost_views(&self) -> Vec<LostView> {
        let mut lost = Vec::new();
        for (drop, statement) in self.statements.iter().enumerate() {
            if statement.object.kind != "view" || !statement.is_destructive() {
                continue;
            }
            let mut views = self.from.views.values();
            let view = views.find(|view| self.shown(&view.name) == statement.object.name);
            lost.extend(view.map(|view| LostView {
                drop,
                names: split::names(&view.query.0).into_iter().collect(),
                shows_all: view.query.0.contains('*'),
            }));
        }
        lost
    }

    fn link_users(&mut self, retyped: &Retyped, names: &[HashSet<String>]) {
        let own = self.shown_part(&retyped.table, &retyped.column);
        for at in (0..self.statements.len()).filter(|at| *at != retyped.at) {
            let statement = &self.statements[at];
            let object = &statement.object;
            let is_own = object.kind == "column" && object.name == own;
            let speaks_of_it = USERS.contains(&object.kind)
                && (object.kind != "column" || statement.verb == Verb::Add)
                && names[at].contains(&retyped.table.name)
                && names[at].contains(&retyped.column);
            if !is_own && !speaks_of_it {
                continue;
            }
            for aside in self.stepped_aside(at) {
                self.statements[aside].needs.push(retyped.at);
                self.statements[retyped.at].needs.push(aside);
            }
            self.statements[at].needs.push(retyped.at);
        }
    }

    /// The statements before this one that took away what it makes again.
    fn stepped_aside(&self, made: usize) -> Vec<usize> {
        let wanted = &self.statements[made];
        if !matches!(wanted.verb, Verb::Add | Verb::Create) {
            return Vec::new();
        }
        let is_it = |statement: &Statement| {
            !statement.is_destructive()
                && statement.verb.word() == Verb::Drop.word()
                && statement.object == wanted.object
        };
        (0..made)
            .filter(|at| is_it(&self.statements[*at]))
            .collect()
    }
}

struct LostView {
    /// The statement that drops it.
    drop: usize,
    /// What its query speaks of.
    names: HashSet<String>,
    shows_all: bool,
}

impl LostView {
    fn shows(&self, retyped: &Retyped) -> bool {
        self.names.contains(&retyped.table.name)
            && (self.shows_all || self.names.contains(&retyped.column))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Allowed, PlanOptions, Product, Server, Source};

    fn applied(from: &str, to: &str, allowed: &[&str]) -> Vec<String> {
        let read = |text: &str| {
            let source = Source {
                name: "text".to_owned(),
                text: text.to_owned(),
            };
            let server = Server::unknown(Product::Postgres);
            crate::postgres::read(&[source], &server, 1).unwrap().0
        };
        let mut plan = super::super::plan(&read(from), &read(to), &PlanOptions::default()).unwrap();
        plan.hold_back(&Allowed {
            all: false,
            named: allowed.iter().map(|name| (*name).to_owned()).collect(),
        });
        plan.applied()
            .map(|statement| statement.sql.clone())
            .collect()
    }

    #[test]
    fn what_speaks_of_a_column_waits_for_its_type() {
        let from = "CREATE TABLE t (a text DEFAULT 'x', b int, CONSTRAINT c CHECK (a <> ''), \
             g text GENERATED ALWAYS AS (a) STORED, CONSTRAINT d CHECK (b > 0)); \
             CREATE INDEX i ON t (b) WHERE a <> ''; CREATE POLICY p ON t USING (a <> ''); \
             CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT b FROM t;";
        let to = "CREATE TABLE t (a int DEFAULT 5, b int, CONSTRAINT c CHECK (a <> 0), \
             g int GENERATED ALWAYS AS (a) STORED, CONSTRAINT d CHECK (b > 1)); \
             CREATE INDEX i ON t (b) WHERE a <> 0; CREATE POLICY p ON t USING (a <> 0); \
             CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT b FROM t; \
             CREATE INDEX j ON t (a); COMMENT ON INDEX j IS 'new';";
        let others = [
            "ALTER TABLE public.t DROP CONSTRAINT d",
            "ALTER TABLE public.t ADD CONSTRAINT d CHECK (b > 1)",
        ];
        assert_eq!(applied(from, to, &[]), others);
        assert!(applied(from, to, &["alter-column:t.a"]).len() > 10);
    }

    #[test]
    fn what_needs_a_new_value_waits_for_the_loss_of_the_old_one() {
        let from = "CREATE TYPE k AS ENUM ('a', 'b'); CREATE TABLE t (x k DEFAULT 'b');";
        let to = "CREATE TYPE k AS ENUM ('a', 'c'); CREATE TABLE t (x k DEFAULT 'c', y int);";
        let added = ["ALTER TABLE public.t ADD COLUMN y integer"];
        assert_eq!(applied(from, to, &[]), added);
    }

    #[test]
    fn a_view_that_is_not_dropped_keeps_the_type() {
        let from = "CREATE TABLE t (a int); CREATE VIEW v AS SELECT a FROM t;";
        let to = "CREATE TABLE t (a text);";
        assert_eq!(applied(from, to, &["alter-column"]), [] as [String; 0]);
        assert_eq!(applied(from, to, &["drop-view:v"]).len(), 2);
    }
}
