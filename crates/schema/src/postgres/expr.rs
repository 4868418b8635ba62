//! The normal form of expressions and queries: what the server would print alike becomes the same
//! text.
//!
//! Parentheses become structure, operators and types get the server's names, casts that the server
//! adds to literals are left out, and `IN`, `BETWEEN`, `LIKE` become what they stand for. It is a
//! text for comparing, not for executing.

mod tree;

use squawk_parser::SyntaxKind as K;

use super::model::Sql;
use super::parser::Tree;
use tree::Normal;

pub(crate) use tree::bare;

/// Where names are looked up.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) default_schema: &'a str,
    /// Relation used as qualifier of columns, if any.
    pub(crate) relation: Option<&'a str>,
}

impl Sql {
    /// Whether the server would store both alike.
    pub(crate) fn is_same(&self, other: &Sql, context: Context<'_>) -> bool {
        self.0 == other.0 || self.normal(context) == other.normal(context)
    }

    /// Normal form of an expression or query; other texts are returned as written.
    pub(crate) fn normal(&self, context: Context<'_>) -> String {
        let is_query = starts_with_word(&self.0, &["select", "with", "values", "table"])
            || self.0.starts_with("(select");
        let text = if is_query {
            self.0.trim_end_matches(';').to_owned()
        } else {
            format!("SELECT {}", self.0)
        };
        let tree = Tree::parse(&text);
        let Some(root) = tree.root().children().next() else {
            return text;
        };
        if tree.error.is_some() {
            return text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        let mut normal = Normal::new(context);
        if is_query {
            normal.look_at_relations(root);
        }
        normal.node(root)
    }
}

/// Columns returned by a query, in normal form; `None` for anything but a single `SELECT`.
pub(crate) fn targets(sql: &Sql, default_schema: &str) -> Option<Vec<String>> {
    let tree = Tree::parse(&sql.0);
    let root = tree.root().children().next()?;
    if tree.error.is_some() {
        return None;
    }
    let list = root.find(K::TARGET_LIST)?;
    let mut normal = Normal::new(Context {
        default_schema,
        relation: None,
    });
    normal.look_at_relations(root);
    Some(
        list.all(K::TARGET)
            .map(|target| normal.node(target))
            .collect(),
    )
}

/// Whether two optional expressions are alike.
pub(crate) fn same(one: Option<&Sql>, other: Option<&Sql>, context: Context<'_>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.is_same(other, context),
        _ => false,
    }
}

fn starts_with_word(text: &str, words: &[&str]) -> bool {
    let end = text
        .find(|letter: char| !letter.is_ascii_alphabetic())
        .unwrap_or(text.len());
    words
        .iter()
        .any(|word| text[..end].eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(one: &str, other: &str) {
        let context = Context {
            default_schema: "public",
            relation: Some("t"),
        };
        let (one, other) = (Sql(one.to_owned()), Sql(other.to_owned()));
        assert_eq!(one.normal(context), other.normal(context));
    }

    #[test]
    fn what_the_server_prints_is_what_was_written() {
        check("a > 0", "(a > 0)");
        check(
            "n1 = 0 or not n1 > 10 and n1 is not null",
            "((n1 = 0) OR ((NOT (n1 > 10)) AND (n1 IS NOT NULL)))",
        );
        check(
            "s IN ('a', 'b')",
            "((s)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))",
        );
        check("s NOT IN (1, 2)", "(s <> ALL (ARRAY[1, 2]))");
        check("s = SOME (ARRAY['x'])", "s = ANY (ARRAY['x'::text])");
        check("s = ANY (ARRAY['x'::text])", "s IN ('x')");
        check("s <> ALL (ARRAY['x'::text])", "s NOT IN ('x')");
        check("x BETWEEN 1 AND 2 AND b", "((x >= 1) AND (x <= 2) AND b)");
        check("t1 like 'x'", "(t1 ~~ 'x'::text)");
        check("d2 >= date '2022-01-01'", "(d2 >= '2022-01-01'::date)");
        check("now() AT TIME ZONE 'utc'", "timezone('utc'::text, now())");
        check("-1", "'-1'::integer");
        check("interval '90' minute", "'01:30:00'::interval");
        check("LOWER(t.name)", "lower(name)");
        check("public.f(a)", "f(a)");
        check(
            "SELECT id, secret FROM foos WHERE secret = false",
            " SELECT foos.id,\n    foos.secret\n   FROM foos\n  WHERE (foos.secret = false);"
                .trim(),
        );
        check(
            "select f.a as a, count(*) from foos as f",
            "SELECT f.a, count(*) AS count FROM public.foos f",
        );
        check("a AND (b AND c)", "((a AND b) AND c)");
        check(
            "SELECT a FROM t LEFT OUTER JOIN u ON t.a = u.a ORDER BY a ASC",
            "SELECT a FROM (t LEFT JOIN u ON ((t.a = u.a))) ORDER BY a",
        );
    }

    #[test]
    fn differences_stay() {
        let context = Context {
            default_schema: "public",
            relation: None,
        };
        for (one, other) in [
            ("a > 0", "a > 1"),
            ("a::int", "a"),
            ("(a + b) * c", "a + b * c"),
            ("'x'", "'X'"),
            ("\"A\"", "a"),
        ] {
            assert!(
                !Sql(one.to_owned()).is_same(&Sql(other.to_owned()), context),
                "{one} {other}"
            );
        }
    }
}
