//! Roles and users of the server as statements.

use ::mysql::Conn;
use ::mysql::prelude::Queryable;
use schema::Product;
use schema::mysql::{backticked, literal};

use super::error;
use crate::DbError;

/// Users and roles by name; a role of MySQL is a user who cannot log in.
const MYSQL: &str = "
    SELECT User, Host, account_locked = 'Y' AND password_expired = 'Y' AND authentication_string = '' FROM mysql.user";

const MARIADB: &str = "SELECT User, Host, is_role = 'Y' FROM mysql.user";

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
            "" => backticked(&user),
            host => format!("{}@{}", backticked(&user), backticked(host)),
        };
        if is_role {
            text.push_str(&format!("CREATE ROLE {account};\n"));
        } else {
            for created in read::<String>(connection, &format!("SHOW CREATE USER {account}"))? {
                text.push_str(&format!("{created};\n"));
            }
        }
        let grants: Vec<String> = read(connection, &format!("SHOW GRANTS FOR {account}"))?;
        for grant in grants.iter().filter_map(|grant| of_role(grant, &account)) {
            text.push_str(&format!("{grant};\n"));
        }
    }
    Ok(text)
}

/// The grant of a role, of default roles or of the whole server to an account; `None` for another
/// one. MariaDB repeats how the account logs in, and lists what roles within the role may do.
fn of_role(grant: &str, account: &str) -> Option<String> {
    let place = [" TO ", " FOR "].iter().find_map(|word| {
        grant
            .find(&format!("{word}{account}"))
            .map(|at| at + word.len())
    })?;
    let (head, rest) = grant.split_at(place + account.len());
    let is_whole = rest.is_empty() || rest.starts_with(' ');
    let is_elsewhere = head.contains(" ON ") && !head.contains(" ON *.* TO ");
    if !is_whole || is_elsewhere {
        return None;
    }
    let passing = [" WITH ADMIN OPTION", " GRANT OPTION"];
    let passing = passing.into_iter().find(|words| rest.contains(words));
    Some(match passing {
        Some(" GRANT OPTION") => format!("{head} WITH GRANT OPTION"),
        Some(words) => format!("{head}{words}"),
        None => head.to_owned(),
    })
}

fn read<T: ::mysql::prelude::FromRow>(connection: &mut Conn, sql: &str) -> Result<Vec<T>, DbError> {
    connection
        .query(sql)
        .map_err(|error| error::in_statement(error, sql))
}

#[cfg(test)]
mod tests {
    use super::of_role;

    #[test]
    fn grants_are_without_what_the_user_says_already() {
        let check = |grant: &str, expected: Option<&str>| {
            assert_eq!(of_role(grant, "`a`@`%`").as_deref(), expected, "{grant}");
        };
        let reload = "GRANT RELOAD ON *.* TO `a`@`%`";
        check(reload, Some(reload));
        let passing = format!("{reload} WITH GRANT OPTION");
        let long = format!(
            "{reload} IDENTIFIED BY PASSWORD '*B6' REQUIRE SSL WITH GRANT OPTION MAX_USER_CONNECTIONS 5"
        );
        check(&long, Some(&passing));
        let limited = format!("{reload} WITH GRANT OPTION MAX_USER_CONNECTIONS 5");
        check(&limited, Some(&passing));
        check("GRANT SELECT ON `d`.* TO `a`@`%`", None);
        check("GRANT RELOAD ON *.* TO `b`", None);
        check("GRANT RELOAD ON *.* TO `a`@`%.example.org`", None);
        let member = "GRANT `r` TO `a`@`%` WITH ADMIN OPTION";
        check(member, Some(member));
        let default = "SET DEFAULT ROLE `r` FOR `a`@`%`";
        check(default, Some(default));
    }
}
