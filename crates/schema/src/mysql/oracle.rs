//! Statements accepted by MariaDB in Oracle's mode only.

/// The mode of the session for [`needs_oracle_mode`].
pub const ORACLE_MODE: &str = "ORACLE";

/// Whether a statement creates or drops a package, or is about privileges on one. Only newer
/// servers drop one in any mode.
pub fn needs_oracle_mode(sql: &str) -> bool {
    /// `CREATE OR REPLACE DEFINER=user@host PACKAGE`, with spaces around each sign.
    const HEAD_WORDS: usize = 10;
    const KINDS: [&str; 7] = [
        "package",
        "table",
        "view",
        "trigger",
        "event",
        "procedure",
        "function",
    ];
    let is_one = |word: &str, names: &[&str]| names.iter().any(|it| word.eq_ignore_ascii_case(it));
    let mut words = sql.split_whitespace();
    if words
        .clone()
        .next()
        .is_some_and(|word| is_one(word, &["grant", "revoke"]))
    {
        let mut on = words.skip_while(|word| !is_one(word, &["on"])).skip(1);
        let is_package = on.next().is_some_and(|word| is_one(word, &KINDS[..1]));
        return is_package && on.next().is_some_and(|word| !is_one(word, &["to", "from"]));
    }
    let mut words = words.by_ref().take(HEAD_WORDS);
    let is_first = words
        .next()
        .is_some_and(|word| is_one(word, &["create", "drop"]));
    let kind = words.find(|word| is_one(word, &KINDS));
    is_first && kind.is_some_and(|kind| is_one(kind, &KINDS[..1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_alone_need_oracles_mode() {
        let check = |sql: &str, expected: bool| {
            assert_eq!(needs_oracle_mode(sql), expected, "{sql}");
        };
        check("CREATE PACKAGE p AS END", true);
        check(
            "create or replace definer = a@b package\nbody p AS END",
            true,
        );
        check("CREATE TABLE package (a int)", false);
        check("CREATE PROCEDURE package() SELECT 1", false);
        check("DROP PACKAGE BODY `p`", true);
        check("DROP TABLE package", false);
        check(
            "GRANT EXECUTE, ALTER ROUTINE ON PACKAGE BODY `p` TO a",
            true,
        );
        check("revoke execute on package p from a", true);
        check("GRANT SELECT ON package TO a", false);
        check("GRANT SELECT ON t TO package", false);
    }
}
