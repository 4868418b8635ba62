//! What the catalogue holds and [`super::export`] does not read. What belongs to the server's users
//! is seen as far as this user may see it; its own rights are left out.

use schema::Product;

const PRIVILEGES: &str = "
    SELECT 'privilege', CONCAT(GRANTEE, ' on the database: ', GROUP_CONCAT(PRIVILEGE_TYPE ORDER BY PRIVILEGE_TYPE SEPARATOR ', '))
    FROM information_schema.SCHEMA_PRIVILEGES
    WHERE TABLE_SCHEMA = DATABASE() AND REPLACE(GRANTEE, '''', '') <> CURRENT_USER() GROUP BY GRANTEE
    UNION ALL
    SELECT 'privilege', CONCAT(GRANTEE, ' on ', TABLE_NAME, ': ', GROUP_CONCAT(PRIVILEGE_TYPE ORDER BY PRIVILEGE_TYPE SEPARATOR ', '))
    FROM information_schema.TABLE_PRIVILEGES
    WHERE TABLE_SCHEMA = DATABASE() AND REPLACE(GRANTEE, '''', '') <> CURRENT_USER() GROUP BY GRANTEE, TABLE_NAME
    UNION ALL
    SELECT 'privilege', CONCAT(GRANTEE, ' on ', TABLE_NAME, '.', COLUMN_NAME, ': ', PRIVILEGE_TYPE)
    FROM information_schema.COLUMN_PRIVILEGES
    WHERE TABLE_SCHEMA = DATABASE() AND REPLACE(GRANTEE, '''', '') <> CURRENT_USER()";

/// Query for MariaDB's packages, listed among routines.
const ROUTINES: &str = "
    SELECT LOWER(ROUTINE_TYPE), ROUTINE_NAME FROM information_schema.ROUTINES
    WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE NOT IN ('PROCEDURE', 'FUNCTION')";

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
    let mut queries = vec![PRIVILEGES, ROUTINES, TABLES];
    if product == Product::Mysql {
        queries.push(HISTOGRAMS);
    }
    queries
}
