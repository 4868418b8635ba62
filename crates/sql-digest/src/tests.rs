use proptest::prelude::*;

use super::*;

fn check(sql: &str, expected: &str) {
    assert_eq!(digest(sql.as_bytes()), expected, "digest of {sql}");
    assert_consistent(sql.as_bytes());
}

/// What must hold of any bytes.
fn assert_consistent(sql: &[u8]) {
    let text = digest(sql);
    assert!(text.len() <= DIGEST_BYTES_MAX);
    assert_eq!(digest_id(sql), fnv(text.as_bytes()), "id of {text}");
    assert_eq!(digest(text.as_bytes()), text, "not its own digest");
}

fn fnv(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash ^= u64::from(*byte);
        hash = hash.wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash.max(1)
}

#[test]
fn literals_become_question_marks() {
    check("SELECT 1", "SELECT ?");
    check("SELECT * FROM t WHERE a=1", "SELECT * FROM t WHERE a = ?");
    check("SELECT 1.5, .5, 1e-5, 0x1F, 1.5E+3", "SELECT ?, ?, ?, ?, ?");
    check("WHERE a = 'it''s' AND b = 'x'", "WHERE a = ? AND b = ?");
    check(r"WHERE a = 'it\'s' AND b = '\\'", "WHERE a = ? AND b = ?");
    check(
        "WHERE a = E'x\\'y' OR a = x'00' OR a = _utf8mb4'q'",
        "WHERE a = ? OR a = ? OR a = ?",
    );
    check("WHERE a = U&'d!0061' AND b", "WHERE a = ? AND b");
    check("SELECT $$it's $1$$, $q$a $$ b$q$, $1", "SELECT ?, ?, ?");
    check(
        "WHERE a = :name AND b = ?12 AND c = $3",
        "WHERE a = ? AND b = ? AND c = ?",
    );
    check("SELECT '1'::int, a::text", "SELECT ?::int, a::text");
}

#[test]
fn signs_go_with_their_numbers() {
    check("WHERE a = -5 AND b > +2", "WHERE a = ? AND b > ?");
    check(
        "SELECT -1, - -2, a - 1, a -1, -x",
        "SELECT ?, ?, a - ?, a - ?, - x",
    );
    check("SELECT count(*)-1", "SELECT count(*) - ?");
    check("LIMIT -1", "LIMIT ?");
}

#[test]
fn names_are_kept() {
    check("SELECT `a b`.`c` FROM `t`", "SELECT `a b`.`c` FROM `t`");
    check(
        r#"SELECT "users".* FROM "users" WHERE "users"."id" = $1"#,
        r#"SELECT "users".* FROM "users" WHERE "users"."id" = ?"#,
    );
    check(
        r#"SELECT 1 FROM a JOIN b ON a.x = "b"."y""#,
        r#"SELECT ? FROM a JOIN b ON a.x = "b"."y""#,
    );
    check(
        "SELECT t1.c2, @v, @@global.x",
        "SELECT t1.c2, @v, @@global.x",
    );
    check("SELECT über FROM café", "SELECT über FROM café");
}

#[test]
fn double_quoted_strings_of_mysql_are_literals() {
    check(r#"WHERE name = "alice""#, "WHERE name = ?");
    check(r#"WHERE name LIKE "a%""#, "WHERE name LIKE ?");
    check(r#"WHERE name IN ("a", "b")"#, "WHERE name IN (?)");
    check(
        r#"INSERT INTO t VALUES ("a", "it's b")"#,
        "INSERT INTO t VALUES (?)",
    );
    check(r#"SELECT concat("two words", x)"#, "SELECT concat(?, x)");
}

#[test]
fn lists_become_short() {
    check("WHERE id IN (1,2,3)", "WHERE id IN (?)");
    check("WHERE id in(1)", "WHERE id in (?)");
    check("WHERE id IN (1, NULL, 'x', -3)", "WHERE id IN (?)");
    check("WHERE (a,b) IN ((1,2),(3,4))", "WHERE (a, b) IN ((?))");
    check(
        "WHERE id IN (SELECT id FROM t WHERE a=1)",
        "WHERE id IN (SELECT id FROM t WHERE a = ?)",
    );
    check("WHERE id = ANY(ARRAY[1,2,3])", "WHERE id = ANY(ARRAY[?])");
    check(
        "INSERT INTO t (a, b) VALUES (1, 2)",
        "INSERT INTO t (a, b) VALUES (?)",
    );
    check(
        "INSERT INTO t VALUES (1, NOW(), 2, 3), (4, NOW(), 5, 6)",
        "INSERT INTO t VALUES (?, NOW(), ?)",
    );
    check(
        "INSERT INTO t VALUES (1, ')') , (2, 'x') ON DUPLICATE KEY UPDATE a = VALUES(a), b = VALUES(b)",
        "INSERT INTO t VALUES (?) ON DUPLICATE KEY UPDATE a = VALUES (a), b = VALUES (b)",
    );
    check("LIMIT 10, 20", "LIMIT ?, ?");
    check("SELECT substr(a, 1, 2)", "SELECT substr(a, ?, ?)");
}

#[test]
fn constants_are_values_only_where_values_stand() {
    check("WHERE a IS NULL AND b = NULL", "WHERE a IS NULL AND b = ?");
    check("SET a = TRUE, b = DEFAULT", "SET a = ?, b = ?");
    check("a INT NOT NULL DEFAULT 5", "a INT NOT NULL DEFAULT ?");
}

#[test]
fn comments_and_white_space_go() {
    check(
        "  SELECT\n\t1 -- why\n  FROM t /* x='y' */ WHERE a # z\n = 2 ; ",
        "SELECT ? FROM t WHERE a = ?",
    );
    check("SELECT a/**/FROM t", "SELECT a FROM t");
    check(
        "SELECT a #> '{b}', c #>> '{d}', e->>'f'",
        "SELECT a #> ?, c #>> ?, e ->> ?",
    );
    check("SELECT 1; SELECT 2;;", "SELECT ?; SELECT ?");
    check("", "");
    check(" ;; ", "");
    check("-- only a comment", "");
}

#[test]
fn what_is_unterminated_is_a_literal() {
    check("SELECT 'abc", "SELECT ?");
    check("SELECT `abc", "SELECT ?");
    check("SELECT \"abc", "SELECT ?");
    check("SELECT $$abc", "SELECT ?");
    check("SELECT a /* abc", "SELECT a");
    check("WHERE a IN (1, 2", "WHERE a IN (?");
    check("SELECT 'abc\\", "SELECT ?");
}

#[test]
fn invalid_utf8_is_replaced() {
    assert_eq!(
        digest(b"SELECT a\xff FROM \xc3\x28"),
        "SELECT a\u{fffd} FROM \u{fffd}("
    );
    assert_consistent(b"SELECT a\xff FROM \xc3\x28 `\xf0\x9f`");
}

#[test]
fn long_statements_end_at_a_token() {
    let columns: Vec<String> = (0..2_000).map(|n| format!("col{n}")).collect();
    let sql = format!("SELECT {} FROM t", columns.join(","));
    let text = digest(sql.as_bytes());
    assert!(text.len() > DIGEST_BYTES_MAX - 10 && !text.ends_with(','));
    assert_consistent(sql.as_bytes());
    assert_consistent(&[b'x'; 3_000]);
}

#[test]
fn nothing_has_an_id_of_its_own() {
    assert_eq!(digest_id(b""), 0xcbf2_9ce4_8422_2325);
}

/// Pieces likely to be confused with each other.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(" ".to_owned()),
        "[ -~]",
        "[a-z0-9_$@.:;,()\\[\\]+*/#'\"`\\\\?-]{1,4}",
        prop::sample::select(vec![
            "SELECT", " IN ", "IN(", "VALUES", "VALUES (", "), (", ",(", "(", ")", ", ", "NULL",
            "'x'", "\"q\"", "\"q\".", "`b`", "$$", "$1", "$t$", "::", ":a", "--", "/*", "*/", "\n",
            "- ", "+", "#", "E'", "é", "ARRAY[", "]", "LIKE ", ".5", "1e-", "0x", " AND ", ";",
            "@", "@@", "->>",
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_consistent(sql in prop::collection::vec(any::<u8>(), 0..300)) {
        assert_consistent(&sql);
    }

    #[test]
    fn any_fragments_are_consistent(parts in prop::collection::vec(fragment(), 0..40)) {
        assert_consistent(parts.concat().as_bytes());
    }

    #[test]
    fn long_texts_are_consistent(parts in prop::collection::vec(fragment(), 0..40)) {
        assert_consistent(parts.concat().repeat(80).as_bytes());
    }

    #[test]
    fn other_literals_same_digest(a in "[^\\\\'\u{0}]{0,20}", b in any::<i64>(), c in any::<f64>(), n in 1usize..9) {
        let list = vec![b.to_string(); n].join(",");
        let quoted = a.replace('\'', "''");
        let sql = format!("SELECT * FROM t WHERE a = '{quoted}' AND b = {b} AND c < {c:e} AND d IN ({list})");
        let finite = c.is_finite();
        prop_assume!(finite);
        prop_assert_eq!(digest(sql.as_bytes()), "SELECT * FROM t WHERE a = ? AND b = ? AND c < ? AND d IN (?)");
    }
}
