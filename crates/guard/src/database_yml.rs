//! Databases of `config/database.yml`, as Rails would use.
//!
//! The file is ERB around YAML with anchors, so the app's own Ruby reads it, with the variables
//! that the app will get and without the app: credentials stand as a host that no machine has.
//! Where no Ruby can read it, its text is searched.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit of Ruby; slow ERB is not waited for.
const RUBY_LIMIT: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(5);

/// A database as written, with addresses still to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// Such as `primary`.
    pub(super) name: String,
    pub(super) adapter: String,
    /// What `host`, `hostaddr` or the URL say.
    pub(super) address: String,
    /// Whether the address is the file's, and not a variable's.
    pub(super) is_of_file: bool,
}

/// Error: the file could not be evaluated, and the text may name a host elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unreadable(pub(super) String);

/// Reads the databases of one environment. `variables` are those that the app gets besides ours.
pub(super) fn read(
    folder: &Path,
    environment: &str,
    variables: &[(String, String)],
) -> Result<Vec<Written>, Unreadable> {
    let path = folder.join("config/database.yml");
    let Ok(text) = fs::read_to_string(&path) else {
        return Ok(Vec::new());
    };
    match by_ruby(&path, environment, variables) {
        Ok(output) => Ok(parse(&output)),
        Err(why) => by_text(&text).ok_or(Unreadable(why)),
    }
}

const SCRIPT: &str = include_str!("database_yml.rb");

fn by_ruby(
    path: &Path,
    environment: &str,
    variables: &[(String, String)],
) -> Result<String, String> {
    let mut ruby = Command::new("ruby");
    ruby.args(["-e", SCRIPT]).arg(path).arg(environment);
    ruby.envs(variables.iter().map(|(name, value)| (name, value)));
    ruby.env_remove("RUBYOPT").env_remove("BUNDLE_GEMFILE");
    ruby.stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = ruby
        .spawn()
        .map_err(|error| format!("ruby cannot be started: {error}"))?;
    // A page of text fits into the pipe, so that nobody has to read before the end.
    let deadline = Instant::now() + RUBY_LIMIT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(TICK),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!(
                    "its ERB took longer than {} s",
                    RUBY_LIMIT.as_secs()
                ));
            }
        }
    };
    let read = |pipe: Option<&mut dyn Read>| {
        let mut text = String::new();
        let _ = pipe.map(|pipe| pipe.read_to_string(&mut text));
        text
    };
    let output = read(child.stdout.as_mut().map(|pipe| pipe as &mut dyn Read));
    let complaint = read(child.stderr.as_mut().map(|pipe| pipe as &mut dyn Read));
    match status.success() {
        true => Ok(output),
        false => Err(complaint.lines().next().unwrap_or("ruby failed").to_owned()),
    }
}

fn parse(output: &str) -> Vec<Written> {
    let line = |line: &str| {
        let mut words = line.split('\t').map(str::to_owned);
        Some(Written {
            name: words.next()?,
            adapter: words.next()?,
            address: words.next()?,
            is_of_file: words.next()? == "file",
        })
    };
    output.lines().filter_map(line).collect()
}

/// Returns every address of the file, of any environment; `None` with a computed address.
fn by_text(text: &str) -> Option<Vec<Written>> {
    let mut found = Vec::new();
    for line in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
    {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        if !matches!(key.trim(), "host" | "hostaddr" | "url") {
            continue;
        }
        let value = value.split(" #").next().unwrap_or_default();
        let value = value.trim().trim_matches(['"', '\'']);
        if value.contains("<%") {
            return None;
        }
        found.push(Written {
            address: value.to_owned(),
            is_of_file: true,
            ..Written::default()
        });
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "default: &default\n  adapter: postgresql\n  pool: 5\n\n\
        development:\n  <<: *default\n  database: shop_development\n\n\
        production:\n  primary: &primary\n    <<: *default\n    host: <%= ENV.fetch(\"DB_HOST\", \"db.prod.example\") %>\n    \
        password: <%= Rails.application.credentials.dig(:db, :password) %>\n  \
        replica:\n    <<: *primary\n    host: replica.example\n    replica: true\n";

    fn read_as(file: &str, environment: &str, variables: &[(&str, &str)]) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("config")).expect("config");
        fs::write(folder.path().join("config/database.yml"), file).expect("the file");
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let variables: Vec<_> = variables.iter().map(owned).collect();
        let read = read(folder.path(), environment, &variables).expect("it is read");
        read.into_iter()
            .map(|one| (one.name, one.address))
            .collect()
    }

    #[track_caller]
    fn check(environment: &str, variables: &[(&str, &str)], expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, address)| ((*name).to_owned(), (*address).to_owned()))
            .collect();
        assert_eq!(read_as(FILE, environment, variables), expected);
    }

    #[test]
    fn environments_anchors_erb_and_urls_are_as_rails_has_them() {
        check("development", &[], &[("primary", "")]);
        check(
            "production",
            &[],
            &[
                ("primary", "db.prod.example"),
                ("replica", "replica.example"),
            ],
        );
        let local = ("DATABASE_URL", "postgres://localhost/shop");
        check(
            "production",
            &[local],
            &[
                ("primary", "postgres://localhost/shop"),
                ("replica", "replica.example"),
            ],
        );
        // Rails takes the host of the file where the URL has none.
        let hostless = ("DATABASE_URL", "postgres://app@/shop");
        check(
            "production",
            &[hostless],
            &[
                ("primary", "db.prod.example"),
                ("replica", "replica.example"),
            ],
        );
        let socket = ("DATABASE_URL", "postgres:///shop?host=/tmp");
        check(
            "production",
            &[socket],
            &[
                ("primary", "postgres:///shop?host=/tmp"),
                ("replica", "replica.example"),
            ],
        );
        let replica = ("REPLICA_DATABASE_URL", "postgres://127.0.0.1/shop");
        check(
            "production",
            &[("DB_HOST", "127.0.0.1"), replica],
            &[
                ("primary", "127.0.0.1"),
                ("replica", "postgres://127.0.0.1/shop"),
            ],
        );
        check("staging", &[], &[("primary", "")]);
    }

    #[test]
    fn a_url_of_the_file_wins_over_variables_as_in_rails() {
        let file = "production:\n  url: postgres://db.prod.example/shop\n";
        let local = [("DATABASE_URL", "postgres://127.0.0.1/shop")];
        let primary = "primary".to_owned();
        assert_eq!(
            read_as(file, "production", &local),
            [(primary, "postgres://db.prod.example/shop".to_owned())]
        );
        // DATABASE_URL is for `primary`, not for whichever stands first.
        let file = "production:\n  main:\n    adapter: mysql2\n    host: db.prod.example\n";
        assert_eq!(
            read_as(file, "production", &local),
            [("main".to_owned(), "db.prod.example".to_owned())]
        );
    }

    #[test]
    fn a_host_out_of_the_credentials_is_nobodys() {
        let file = "production:\n  adapter: mysql2\n  host: <%= Rails.application.credentials.db_host %>\n";
        assert_eq!(
            read_as(file, "production", &[]),
            [("primary".to_owned(), "(credentials)".to_owned())]
        );
    }

    #[test]
    fn without_ruby_the_text_shows_what_it_can() {
        let plain = "production:\n  host: db.example # why\n  # host: other\n  url: \"postgres://x.example/y\"\n";
        let found = by_text(plain).expect("nothing is computed");
        let addresses: Vec<&str> = found.iter().map(|one| one.address.as_str()).collect();
        assert_eq!(addresses, ["db.example", "postgres://x.example/y"]);
        assert_eq!(by_text(FILE), None);
    }
}
