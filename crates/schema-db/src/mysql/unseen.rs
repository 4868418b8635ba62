//! What the catalogue holds and [`super::export`] does not read.

use schema::Product;

/// Query for routines of kinds not read.
const ROUTINES: &str = "
    SELECT LOWER(ROUTINE_TYPE), ROUTINE_NAME FROM information_schema.ROUTINES
    WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE NOT IN ('PROCEDURE', 'FUNCTION', 'PACKAGE', 'PACKAGE BODY')";

/// Query for tables of kinds not read.
const TABLES: &str = "
    SELECT LOWER(TABLE_TYPE), TABLE_NAME FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE NOT LIKE '%TABLE'
        AND TABLE_TYPE NOT IN ('VIEW', 'SYSTEM VIEW', 'SEQUENCE', 'SYSTEM VERSIONED')";

const HISTOGRAMS: &str = "
    SELECT 'histogram', CONCAT(TABLE_NAME, '.', COLUMN_NAME) FROM information_schema.COLUMN_STATISTICS
    WHERE SCHEMA_NAME = DATABASE()";

/// Each gives kinds and names.
pub(super) fn queries(product: Product) -> Vec<&'static str> {
    let mut queries = vec![ROUTINES, TABLES];
    if product == Product::Mysql {
        queries.push(HISTOGRAMS);
    }
    queries
}
