//! Conversions of values by a strict server without an error.

use super::OnServer;
use crate::losses::{self, Change};

const CONVERSIONS: [Change; 4] = [
    Change {
        made: &[
            "CREATE TABLE t (a varchar(9))",
            "INSERT INTO t VALUES ('a ')",
        ],
        wanted: "CREATE TABLE t (a char(20));",
        asked: "SELECT length(a) FROM t",
    },
    Change {
        made: &[
            "CREATE TABLE t (a varbinary(9))",
            "INSERT INTO t VALUES ('a')",
        ],
        wanted: "CREATE TABLE t (a binary(20));",
        asked: "SELECT length(a) FROM t",
    },
    Change {
        made: &["CREATE TABLE t (a bit(8))", "INSERT INTO t VALUES (65)"],
        wanted: "CREATE TABLE t (a varchar(20));",
        asked: "SELECT a + 0 FROM t",
    },
    Change {
        made: &["CREATE TABLE t (a float)", "INSERT INTO t VALUES (1234567)"],
        wanted: "CREATE TABLE t (a varchar(30));",
        asked: "SELECT a = 1234567 FROM t",
    },
];

#[test]
fn values_are_not_converted_without_a_yes() {
    for variable in ["HAKARU_TEST_MARIADB_URL", "HAKARU_TEST_MYSQL_URL"] {
        losses::check(&OnServer::new(variable), &CONVERSIONS);
    }
}
