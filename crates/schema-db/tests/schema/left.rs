//! What a killed run leaves on a server is removed by a later one.

use schema_db::Database;

/// Removes old leftovers of a run, and nothing possibly in use.
pub fn is_removed(database: &mut dyn Database, databases: &str) {
    let (old, new) = (
        "hakaru_readback_1000_1_0",
        "hakaru_readback_99999999999_1_0",
    );
    for name in [old, new] {
        // A test of another server's may have made it.
        let _ = database.execute(&format!("CREATE DATABASE {name}"));
    }
    database.read_back(&[]).unwrap();
    let there = |database: &mut dyn Database| -> Vec<String> {
        let rows = database.query(databases).unwrap().into_iter();
        rows.flatten().flatten().collect()
    };
    let names = there(database);
    assert!(!names.iter().any(|name| name == old), "{names:?}");
    assert!(names.iter().any(|name| name == new), "{names:?}");
    database.execute(&format!("DROP DATABASE {new}")).unwrap();
}
