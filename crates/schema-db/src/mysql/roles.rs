//! Roles and users of the server as statements.

use ::mysql::Conn;
use ::mysql::prelude::Queryable;
use schema::Product;

use super::error;
use crate::DbError;

/// Users and roles by name; a role of MySQL is a user who cannot log in.
const MYSQL: &str = "
    SELECT User, Host, account_locked = 'Y' AND password_expired = 'Y' AND authentication_string = '' FROM mysql.user";

const MARIADB: &str = "SELECT User, Host, is_role = 'Y' FROM mysql.user";

/// What follows an account in a grant of MariaDB, and is said by `SHOW CREATE USER` too.
const REPEATED: [&str; 2] = [" IDENTIFIED ", " REQUIRE "];

/// Returns statements creating roles and users by name, ended by `;`.
pub(super) fn statements(
    connection: &mut Conn,
    product: Product,
    names: &[String],
) -> Result<String, DbError> {
    let all = match product {
        Product::MariaDb => MARIADB,
        _ => MYSQL,
    };
    let names = names.iter().map(|name| literal(name));
    let names = names.collect::<Vec<_>>().join(", ");
    let sql = format!(
        "{all} WHERE User IN ({names}) OR CONCAT(User, '@', Host) IN ({names}) ORDER BY User, Host"
    );
    let found: Vec<(String, String, bool)> = read(connection, &sql)?;
    let mut text = String::new();
    for (user, host, is_role) in found {
        let account = match host.as_str() {
            "" => quoted(&user),
            host => format!("{}@{}", quoted(&user), quoted(host)),
        };
        if is_role {
            text.push_str(&format!("CREATE ROLE {account};\n"));
        } else {
            for created in read::<String>(connection, &format!("SHOW CREATE USER {account}"))? {
                text.push_str(&format!("{created};\n"));
            }
        }
        let grants: Vec<String> = read(connection, &format!("SHOW GRANTS FOR {account}"))?;
        for grant in grants.iter().filter_map(|grant| of_role(grant)) {
            text.push_str(&format!("{grant};\n"));
        }
    }
    Ok(text)
}

/// The grant of a role, of default roles or of the whole server; `None` for another one.
fn of_role(grant: &str) -> Option<String> {
    let Some((privileges, account)) = grant.split_once(" ON ") else {
        return Some(grant.to_owned());
    };
    let account = account.strip_prefix("*.* TO ")?;
    let repeated = REPEATED
        .iter()
        .filter_map(|words| account.find(words))
        .min();
    let (account, rest) = account.split_at(repeated.unwrap_or(account.len()));
    let passing = match rest.contains("GRANT OPTION") {
        true => " WITH GRANT OPTION",
        false => "",
    };
    Some(format!("{privileges} ON *.* TO {account}{passing}"))
}

fn read<T: ::mysql::prelude::FromRow>(connection: &mut Conn, sql: &str) -> Result<Vec<T>, DbError> {
    connection
        .query(sql)
        .map_err(|error| error::in_statement(error, sql))
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::of_role;

    #[test]
    fn grants_are_without_what_the_user_says_already() {
        let check = |grant: &str, expected: Option<&str>| {
            assert_eq!(of_role(grant).as_deref(), expected, "{grant}");
        };
        let reload = "GRANT RELOAD ON *.* TO `a`@`%`";
        check(reload, Some(reload));
        let long = format!(
            "{reload} IDENTIFIED BY PASSWORD '*B6' REQUIRE SSL WITH GRANT OPTION MAX_USER_CONNECTIONS 5"
        );
        check(&long, Some(&format!("{reload} WITH GRANT OPTION")));
        check("GRANT SELECT ON `d`.* TO `a`@`%`", None);
        check("GRANT `r` TO `a`@`%`", Some("GRANT `r` TO `a`@`%`"));
    }
}
