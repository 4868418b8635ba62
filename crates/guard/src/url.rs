//! The hosts in the address of a store. Pure.

/// Returns the hosts of a URL or a `host:port` list; empty for a file, a socket and an address
/// without a host.
pub(super) fn hosts(address: &str) -> Vec<String> {
    let address = address.trim();
    let Some((scheme, rest)) = address.split_once("://") else {
        return match address.split_once(':') {
            // `sqlite3:db/app.sqlite3`, `jdbc:…` without an authority.
            Some((scheme, _)) if scheme.starts_with("sqlite") => Vec::new(),
            _ => list(address),
        };
    };
    if scheme.starts_with("sqlite") || scheme == "unix" || scheme == "file" {
        return Vec::new();
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let hosts = authority
        .rsplit_once('@')
        .map_or(authority, |(_, hosts)| hosts);
    let query = tail.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    let of_query = query.split('&').filter_map(|pair| pair.split_once('='));
    let of_query = of_query.filter(|(name, _)| matches!(*name, "host" | "hostaddr"));
    let named: Vec<String> = of_query.flat_map(|(_, value)| list(value)).collect();
    // libpq lets the query win over the authority.
    if named.is_empty() { list(hosts) } else { named }
}

/// Hosts of a list separated by commas, each with or without a port.
fn list(text: &str) -> Vec<String> {
    let hosts = text.split([',', ' ']).map(str::trim).map(|part| {
        let host = match part.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, _)) => host,
            None if part.matches(':').count() > 1 => part,
            None => part.split(':').next().unwrap_or_default(),
        };
        decoded(host)
    });
    hosts
        .filter(|host| !host.is_empty() && !host.starts_with('/'))
        .collect()
}

/// Decodes `%2F` and the like; invalid sequences stay unchanged.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%')
            .then(|| text_of(tail.get(..2)?))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => {
                bytes.push(code);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn text_of(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hosts_are_found_wherever_an_address_has_them() {
        let check =
            |address: &str, expected: &[&str]| assert_eq!(hosts(address), expected, "{address}");
        check(
            "postgres://u:p@db.prod.example:5432/shop",
            &["db.prod.example"],
        );
        check(
            "postgres://u:p%40ss@a.example,b.example:6432/shop",
            &["a.example", "b.example"],
        );
        check("postgres:///shop", &[]);
        check("postgresql:///shop?host=db.example&port=1", &["db.example"]);
        check(
            "postgres://here/shop?sslmode=require&hostaddr=192.0.2.1",
            &["192.0.2.1"],
        );
        check("postgres://%2Fvar%2Frun%2Fpostgresql/shop", &[]);
        check("mysql2://root@[2001:db8::1]:3306/shop", &["2001:db8::1"]);
        check("trilogy://127.0.0.1/shop", &["127.0.0.1"]);
        check("sqlite3:db/production.sqlite3", &[]);
        check("sqlite:///var/db.sqlite3", &[]);
        check("redis://:secret@cache.example:6379/0", &["cache.example"]);
        check("unix:///tmp/redis.sock", &[]);
        check(
            "cache1.example:11211,cache2.example:11211",
            &["cache1.example", "cache2.example"],
        );
        check("2001:db8::7", &["2001:db8::7"]);
        check("/tmp/memcached.sock", &[]);
        check("", &[]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(address in "\\PC*") {
            hosts(&address);
        }

        #[test]
        fn a_host_is_never_overlooked(
            user in "[a-z:@%0-9]{0,8}", host in "[a-z][a-z0-9.-]{0,12}", port in 1u16.., path in "[a-z?=&]{0,8}",
        ) {
            let path = path.replace("host", "h");
            let address = format!("postgres://{user}@{host}:{port}/{path}");
            prop_assert_eq!(hosts(&address), vec![host]);
        }
    }
}
