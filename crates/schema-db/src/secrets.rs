//! Passwords from the usual files: the option file of MySQL's clients, the password file of
//! PostgreSQL's.
//!
//! Both parsers are pure; [`read_private`] reads the disk. Nothing here prints.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use database_client::unescaped;

use database_client::tls::Tls;

/// Connection settings of an option file; `None` where missing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ClientOptions {
    /// `user`.
    pub user: Option<String>,
    /// `password`.
    pub password: Option<String>,
    /// `ssl-mode`, `ssl-ca` and so on.
    pub tls: Tls,
}

/// Reads the sections for all clients of an option file (`~/.my.cnf`); later lines win, as with the
/// clients.
pub fn client_options(text: &str) -> ClientOptions {
    let mut options = ClientOptions::default();
    let mut applies = false;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.split(']').next().unwrap_or_default();
            applies = matches!(section, "client" | "client-server" | "client-mariadb");
        } else if applies && !line.starts_with(['#', ';']) {
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            match key.trim() {
                "user" => options.user = Some(option_value(value)),
                "password" => options.password = Some(option_value(value)),
                // What another client's mode means is not ours to refuse.
                key => drop(options.tls.take_mysql(key, &option_value(value))),
            }
        }
    }
    options
}

/// Parses a value of an option file: optionally quoted, with escapes, and a comment behind.
fn option_value(text: &str) -> String {
    let text = text.trim();
    let quote = text.chars().next().filter(|c| ['"', '\''].contains(c));
    let inside = match quote {
        Some(quote) => {
            let rest = &text[1..];
            rest.rfind(quote).map_or(rest, |end| &rest[..end])
        }
        None => text.split(" #").next().unwrap_or_default().trim_end(),
    };
    let mut value = String::new();
    let mut letters = inside.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            value.push(letter);
            continue;
        }
        match letters.next() {
            Some('s') => value.push(' '),
            Some('n') => value.push('\n'),
            Some('t') => value.push('\t'),
            Some('r') => value.push('\r'),
            Some('b') => value.push('\u{8}'),
            Some(escaped @ ('\\' | '"' | '\'')) => value.push(escaped),
            Some(other) => value.extend(['\\', other]),
            None => value.push('\\'),
        }
    }
    value
}

/// Whom a password is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// A name or an address; `localhost` for a Unix socket.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Database.
    pub database: String,
    /// Role.
    pub user: String,
}

impl Login {
    /// Reads `postgres://user:password@host:port/database`; missing parts get libpq's defaults.
    pub fn from_postgres_url(url: &str) -> Login {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let rest = rest.split('?').next().unwrap_or_default();
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let user = user.split(':').next().unwrap_or_default();
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse().ok()),
            _ => (place, None),
        };
        let or = |text: &str, assumed: &str| match text {
            "" => assumed.to_owned(),
            text => unescaped(text),
        };
        let host = or(host.trim_matches(['[', ']']), "127.0.0.1");
        let user = or(user, "postgres");
        Login {
            host: if host.starts_with('/') {
                "localhost".to_owned()
            } else {
                host
            },
            port: port.unwrap_or(5432),
            database: or(database, &user),
            user,
        }
    }
}

/// Returns the matching password of a password file (`~/.pgpass`): the first matching line counts.
pub fn pgpass(text: &str, login: &Login) -> Option<String> {
    let port = login.port.to_string();
    let wanted = [&login.host, &port, &login.database, &login.user];
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| {
            let mut fields = pgpass_fields(line);
            let password = (fields.len() == 5).then(|| fields.pop()).flatten()?;
            let fits = fields
                .iter()
                .zip(wanted)
                .all(|(field, wanted)| field == "*" || field == wanted);
            fits.then_some(password)
        })
}

/// Splits a line at `:`; a backslash escapes the next character.
fn pgpass_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields[last].extend(letters.next()),
            letter => fields[last].push(letter),
        }
    }
    fields
}

/// A file containing a password.
#[derive(Clone, PartialEq, Eq)]
pub enum Private {
    /// Missing or unreadable.
    Missing,
    /// Readable by others, and so refused, as by the owner's clients.
    Open,
    /// Content of the file.
    Text(String),
}

/// Reads a file readable only by the owner.
pub fn read_private(path: &Path) -> Private {
    let read = || -> io::Result<Private> {
        // Group and others must have no right at all.
        if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
            return Ok(Private::Open);
        }
        fs::read_to_string(path).map(Private::Text)
    };
    read().unwrap_or(Private::Missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_files_are_read_as_the_clients_do() {
        let check = |text: &str, user: Option<&str>, password: Option<&str>| {
            let options = client_options(text);
            assert_eq!(options.user.as_deref(), user, "{text}");
            assert_eq!(options.password.as_deref(), password, "{text}");
        };
        check("[client]\npassword=a\n", None, Some("a"));
        check("[mysqld]\npassword=a\n", None, None);
        check(
            "[client]\nuser = me\npassword = \"a # b\"\n# password=c",
            Some("me"),
            Some("a # b"),
        );
        check("[client]\npassword=a\\sb # note\n", None, Some("a b"));
        check(
            "[client]\npassword=a\n[client-mariadb]\npassword='b'\n",
            None,
            Some("b"),
        );
    }

    #[test]
    fn the_first_fitting_line_of_a_password_file_counts() {
        let login = |url: &str| Login::from_postgres_url(url);
        let text = "# mine\ndb:5432:app:me:one\n*:*:app:me:t\\:w\\\\o:x\n*:*:*:*:rest";
        let check = |url: &str, expected: &str| {
            assert_eq!(pgpass(text, &login(url)).as_deref(), Some(expected));
        };
        check("postgres://me@db/app", "one");
        check("postgres://me:unused@db:5433/app", "t:w\\o:x");
        check("postgres://you@db/app", "rest");
        assert_eq!(pgpass("a:b", &login("postgres://db/app")), None);
    }

    #[test]
    fn what_an_address_does_not_say_is_assumed() {
        let login = Login::from_postgres_url("postgres:///app?host=x");
        assert_eq!(login.host, "127.0.0.1");
        assert_eq!(
            (login.port, login.user.as_str(), login.database.as_str()),
            (5432, "postgres", "app")
        );
        let login = Login::from_postgres_url("postgres://m%65@[::1]:6000");
        assert_eq!((login.host.as_str(), login.port), ("::1", 6000));
        assert_eq!((login.user.as_str(), login.database.as_str()), ("me", "me"));
    }

    #[test]
    fn a_file_that_others_may_read_is_told_from_a_private_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        assert!(read_private(&path) == Private::Missing);
        fs::write(&path, "x").unwrap();
        for (mode, expected) in [
            (0o644, Private::Open),
            (0o600, Private::Text("x".to_owned())),
        ] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(read_private(&path) == expected, "{mode:o}");
        }
    }
}
