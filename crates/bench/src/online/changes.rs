//! Consecutive changes of one schema, accepted by all servers.

/// Wanted schema: the table `t` in pieces, and other objects.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    columns: Vec<(&'static str, &'static str)>,
    rules: Vec<(&'static str, &'static str)>,
    indexes: Vec<(&'static str, &'static str)>,
    others: Vec<&'static str>,
}

/// A change, with a name.
pub(super) struct Change {
    pub(super) name: &'static str,
    pub(super) make: fn(&mut Shape),
}

impl Shape {
    /// What there is at first.
    pub(super) fn first() -> Shape {
        Shape {
            columns: vec![
                ("id", "bigint NOT NULL"),
                ("hits", "int NOT NULL"),
                ("name", "varchar(40) NOT NULL"),
                ("note", "varchar(200)"),
                ("p_id", "bigint"),
                ("state", "int DEFAULT 1"),
                ("number", "bigint"),
            ],
            rules: Vec::new(),
            indexes: Vec::new(),
            others: vec!["CREATE TABLE p (id bigint NOT NULL PRIMARY KEY)"],
        }
    }

    /// As statements, each with a line end.
    pub(super) fn text(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        lines.extend(self.columns.iter().map(|(name, is)| format!("{name} {is}")));
        lines.push("PRIMARY KEY (id)".to_owned());
        let rules = self.rules.iter();
        lines.extend(rules.map(|(name, is)| format!("CONSTRAINT {name} {is}")));
        let mut text = format!("{};\n", self.others[0]);
        text += &format!("CREATE TABLE t ({});\n", lines.join(", "));
        for (name, is) in &self.indexes {
            text += &format!("CREATE INDEX {name} ON t {is};\n");
        }
        for other in &self.others[1..] {
            text += &format!("{other};\n");
        }
        text
    }

    fn column(&mut self, name: &'static str, is: &'static str) {
        put(&mut self.columns, name, is);
    }

    fn rule(&mut self, name: &'static str, is: &'static str) {
        put(&mut self.rules, name, is);
    }

    fn index(&mut self, name: &'static str, is: &'static str) {
        put(&mut self.indexes, name, is);
    }
}

/// Replaces the entry with the name, or adds one.
fn put(all: &mut Vec<(&'static str, &'static str)>, name: &'static str, is: &'static str) {
    match all.iter_mut().find(|(known, _)| *known == name) {
        Some(found) => found.1 = is,
        None => all.push((name, is)),
    }
}

const fn change(name: &'static str, make: fn(&mut Shape)) -> Change {
    Change { name, make }
}

/// Changes in order; later ones leave out objects held back by a server.
pub(super) const CHANGES: [Change; 20] = [
    change("add a column", |shape| shape.column("extra", "int")),
    change("add a column with a default", |shape| {
        shape.column("flag", "int DEFAULT 0 NOT NULL");
    }),
    change("set a default", |shape| {
        shape.column("state", "int DEFAULT 5")
    }),
    change("drop a default", |shape| shape.column("state", "int")),
    change("widen a varchar", |shape| {
        shape.column("name", "varchar(60) NOT NULL");
    }),
    change("add an index", |shape| shape.index("t_state", "(state)")),
    change("add an index of two columns", |shape| {
        shape.index("t_note", "(note, state)");
    }),
    change("replace an index", |shape| {
        shape.index("t_state", "(state, number)");
    }),
    change("drop an index", |shape| {
        shape.indexes.retain(|(name, _)| *name != "t_note");
    }),
    change("add a unique key", |shape| {
        shape.rule("t_number", "UNIQUE (number)");
    }),
    change("replace a unique key", |shape| {
        shape.rule("t_number", "UNIQUE (number, state)");
    }),
    change("add a check", |shape| {
        shape.rule("t_hits", "CHECK (hits >= 0)");
    }),
    change("replace a check", |shape| {
        shape.rule("t_hits", "CHECK (hits >= -1)");
    }),
    change("add a foreign key", |shape| {
        shape.rule("t_p", "FOREIGN KEY (p_id) REFERENCES p (id)");
    }),
    change("forbid NULL", |shape| {
        shape.column("p_id", "bigint NOT NULL")
    }),
    change("allow NULL", |shape| shape.column("name", "varchar(60)")),
    change("widen an integer", |shape| shape.column("state", "bigint")),
    change("add a table that refers to it", |shape| {
        shape.others.push(
            "CREATE TABLE c (id bigint NOT NULL PRIMARY KEY, t_id bigint, \
             CONSTRAINT c_t FOREIGN KEY (t_id) REFERENCES t (id))",
        );
    }),
    change("add a view", |shape| {
        shape.others.push("CREATE VIEW v AS SELECT id, hits FROM t");
    }),
    change("drop a column", |shape| {
        shape.columns.retain(|(name, _)| *name != "extra");
    }),
];
