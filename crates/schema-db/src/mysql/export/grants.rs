//! Privileges on the database and on what is in it, as far as this user may see them; its own ones
//! are left out.

use ::mysql::prelude::Queryable;
use ::mysql::{Conn, Row};

use super::rows;
use crate::DbError;

/// Query for the statements of all privileges. The name of a database may have its wildcards
/// escaped.
const GRANTS: &str = "
    SELECT CONCAT('GRANT ', GROUP_CONCAT(privilege ORDER BY privilege SEPARATOR ', '), ' ON ', place, ' TO ',
        REPLACE(REPLACE(grantee, '''', '`'), '@``', ''), IF(MAX(passes), ' WITH GRANT OPTION', ''))
    FROM (
        SELECT GRANTEE AS grantee, '*' AS place, PRIVILEGE_TYPE AS privilege, IS_GRANTABLE = 'YES' AS passes
        FROM information_schema.SCHEMA_PRIVILEGES WHERE REPLACE(TABLE_SCHEMA, CHAR(92), '') = DATABASE()
        UNION ALL
        SELECT GRANTEE, CONCAT('TABLE `', REPLACE(TABLE_NAME, '`', '``'), '`'), PRIVILEGE_TYPE, IS_GRANTABLE = 'YES'
        FROM information_schema.TABLE_PRIVILEGES AS p WHERE TABLE_SCHEMA = DATABASE() AND EXISTS (
            SELECT * FROM information_schema.TABLES AS t WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = p.TABLE_NAME)
        UNION ALL
        SELECT GRANTEE, CONCAT('TABLE `', REPLACE(TABLE_NAME, '`', '``'), '`'),
            CONCAT(PRIVILEGE_TYPE, ' (`', REPLACE(COLUMN_NAME, '`', '``'), '`)'), IS_GRANTABLE = 'YES'
        FROM information_schema.COLUMN_PRIVILEGES WHERE TABLE_SCHEMA = DATABASE()) AS granted
    WHERE REPLACE(grantee, '''', '') <> CURRENT_USER() AND (privilege <> 'USAGE' OR passes)
    GROUP BY grantee, place ORDER BY place, grantee";

/// Query for privileges on routines and packages, for readers of the server's tables only. `Grant`
/// among the privileges is the option.
const OF_ROUTINES: &str = "
    SELECT CONCAT('GRANT ', COALESCE(NULLIF(TRIM(BOTH ',' FROM REPLACE(CONCAT(',', UPPER(Proc_priv), ','), ',GRANT,', ',')), ''), 'USAGE'),
        ' ON ', Routine_type, ' `', REPLACE(Routine_name, '`', '``'), '` TO `', User, IF(Host = '', '`', CONCAT('`@`', Host, '`')),
        IF(FIND_IN_SET('Grant', Proc_priv), ' WITH GRANT OPTION', ''))
    FROM mysql.procs_priv
    WHERE Db = DATABASE() AND Routine_type IN ('PROCEDURE', 'FUNCTION', 'PACKAGE', 'PACKAGE BODY') AND CONCAT(User, '@', Host) <> CURRENT_USER()
    ORDER BY Routine_type, Routine_name, User, Host";

/// Returns the statements, ended by `;`.
pub(super) fn statements(connection: &mut Conn) -> Result<String, DbError> {
    let mut all = rows(connection, GRANTS)?;
    let of_routines: Result<Vec<Row>, _> = connection.query(OF_ROUTINES);
    all.extend(of_routines.unwrap_or_default());
    let mut text = String::new();
    for statement in all.into_iter().flat_map(super::super::texts).flatten() {
        text.push_str(&statement);
        text.push_str(";\n");
    }
    Ok(text)
}
