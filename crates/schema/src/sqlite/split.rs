//! Splits the tokens of a text into statements.

use std::ops::Range;

use super::lexer::Lexed;

impl Lexed {
    /// Ranges of `tokens`, one a statement, without the `;`.
    ///
    /// A trigger's body has `;` inside; as in SQLite's own shell it goes on until `; END ;`.
    pub(super) fn statements(&self, source: &str) -> Vec<Range<usize>> {
        let mut statements = Vec::new();
        let mut start = 0;
        let mut is_trigger = false;
        for (index, token) in self.tokens.iter().enumerate() {
            if index - start <= 2 && token.is_word(source, "trigger") {
                is_trigger = self.tokens[start].is_word(source, "create");
            }
            if !token.is_sign(source, ";") || is_trigger && !self.ends_body(source, start, index) {
                continue;
            }
            if index > start {
                statements.push(start..index);
            }
            start = index + 1;
            is_trigger = false;
        }
        if start < self.tokens.len() {
            statements.push(start..self.tokens.len());
        }
        statements
    }

    /// Whether `; END` stands before a `;`.
    fn ends_body(&self, source: &str, start: usize, index: usize) -> bool {
        index >= start + 2
            && self.tokens[index - 1].is_word(source, "end")
            && self.tokens[index - 2].is_sign(source, ";")
    }
}

#[cfg(test)]
mod tests {
    use crate::sqlite::lexer::lex;

    fn check(source: &str, expected: &[&str]) {
        let lexed = lex(source);
        let statements = lexed.statements(source).into_iter().map(|range| {
            let tokens = &lexed.tokens[range];
            &source[tokens[0].start()..tokens[tokens.len() - 1].end()]
        });
        assert_eq!(statements.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn statements_end_where_sqlite_ends_them() {
        check("a; b ;; c", &["a", "b", "c"]);
        check(
            "a ';' \"x;y\" `;` [;] b; c",
            &["a ';' \"x;y\" `;` [;] b", "c"],
        );
        check("a 'it''s;' ; b", &["a 'it''s;'", "b"]);
        check(
            "a -- ; \n b /* ; */ c; d /* ;",
            &["a -- ; \n b /* ; */ c", "d"],
        );
        check(".mode list\na;\n.read x;y\nb", &["a", "b"]);
        check("\u{feff}a", &["a"]);
    }

    #[test]
    fn a_trigger_ends_at_its_end() {
        let body = "CREATE TRIGGER t AFTER INSERT ON a BEGIN \
            UPDATE a SET n = CASE WHEN n THEN 1 ELSE 2 END; SELECT 1; END";
        check(&format!("{body}; b"), &[body, "b"]);
        let temporary = body.replace("CREATE", "CREATE TEMP");
        check(&format!("{temporary};b"), &[&temporary, "b"]);
    }
}
