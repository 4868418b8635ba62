//! Stores of an app, by environment and files, before the start of the app.

use std::env;
use std::fs;
use std::path::Path;

use crate::database_yml::{self, Unreadable};
use crate::{dotenv, url};

/// Variables with the address of a store used under load, by usual names.
const STORES: [&str; 11] = [
    "REDIS_URL",
    "MEMCACHE_SERVERS",
    "MEMCACHED_URL",
    "MONGODB_URI",
    "MONGODB_URL",
    "MONGO_URL",
    "ELASTICSEARCH_URL",
    "OPENSEARCH_URL",
    "AMQP_URL",
    "RABBITMQ_URL",
    "CLOUDAMQP_URL",
];

/// Names and values of variables.
type Variables = Vec<(String, String)>;

/// Commands of the shell starting no program.
const NO_PROGRAMS: [&str; 5] = ["cd", "export", "set", "ulimit", "umask"];

/// What decides which stores an app uses.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The app's folder.
    pub directory: &'a Path,
    /// Variables set by hakaru.
    pub env: &'a [(String, String)],
    /// Lines to run; a line may begin with assignments.
    pub commands: &'a [String],
    /// `database` of hakaru.toml.
    pub database: Option<&'a str>,
}

/// A store, and the source of the address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// Name or address.
    pub host: String,
    /// Such as `DATABASE_URL`.
    pub place: String,
    /// Name of the adapter in Rails; empty when unknown.
    pub adapter: String,
}

impl Store {
    /// Returns an example of a local address for a database of the same kind.
    pub fn local_alternative(&self) -> Option<&'static str> {
        match self.adapter.as_str() {
            "postgresql" | "postgres" | "postgis" => Some("postgres://127.0.0.1/app_development"),
            "mysql2" => Some("mysql2://root@127.0.0.1/app_development"),
            "trilogy" => Some("trilogy://root@127.0.0.1/app_development"),
            _ => None,
        }
    }
}

/// Returns all stores with a host, local ones too.
pub(super) fn stores(context: &Context<'_>) -> Vec<Store> {
    let mut found = Vec::new();
    if let Some(address) = context.database {
        add(&mut found, "`database` in hakaru.toml", address);
    }
    let mut assigned: Vec<Variables> = (context.commands.iter())
        .flat_map(|line| environments(line))
        .collect();
    if assigned.is_empty() {
        assigned.push(Vec::new());
    }
    assigned.dedup();
    for assigned in assigned {
        of_variables(context, assigned, &mut found);
    }
    found.dedup();
    found
}

/// The stores under one set of variables.
fn of_variables(context: &Context<'_>, assigned: Vec<(String, String)>, found: &mut Vec<Store>) {
    let mut variables = context.env.to_vec();
    for (name, value) in assigned {
        variables.retain(|(known, _)| *known != name);
        variables.push((name, value));
    }
    let environment = ["RAILS_ENV", "RACK_ENV"]
        .iter()
        .find_map(|name| value_of(&variables, name))
        .unwrap_or_else(|| "development".to_owned());
    for file in env_files(&environment) {
        let text = fs::read_to_string(context.directory.join(&file)).unwrap_or_default();
        for (name, value) in dotenv::parse(&text) {
            // What is set already wins, as in dotenv.
            if value_of(&variables, &name).is_none() {
                variables.push((name, value));
            }
        }
    }
    for name in STORES.iter().chain(&["DATABASE_URL"]) {
        if let Some(address) = value_of(&variables, name) {
            add(found, name, &address);
        }
    }
    of_database_yml(context, &environment, &variables, found);
}

fn of_database_yml(
    context: &Context<'_>,
    environment: &str,
    variables: &[(String, String)],
    found: &mut Vec<Store>,
) {
    let read = match database_yml::read(context.directory, environment, variables) {
        Ok(read) => read,
        Err(Unreadable(why)) => {
            found.push(Store {
                host: "an unknown host".to_owned(),
                place: format!("config/database.yml cannot be read: {why}"),
                adapter: String::new(),
            });
            return;
        }
    };
    for database in read {
        let place = format!("config/database.yml, {environment}, {}", database.name);
        let mut hosts = url::hosts(&database.address);
        if hosts.is_empty() && database.adapter.starts_with("postg") {
            hosts = of_libpq(variables);
        }
        found.extend(hosts.into_iter().map(|host| Store {
            host,
            place: place.clone(),
            adapter: database.adapter.clone(),
        }));
    }
}

/// Where libpq goes when no host is named.
fn of_libpq(variables: &[(String, String)]) -> Vec<String> {
    let named = ["PGHOSTADDR", "PGHOST"]
        .iter()
        .find_map(|name| value_of(variables, name));
    match (named, value_of(variables, "PGSERVICE")) {
        (Some(hosts), _) => url::hosts(&hosts),
        (None, Some(service)) => vec![format!("the service {service} of PGSERVICE")],
        (None, None) => Vec::new(),
    }
}

fn add(found: &mut Vec<Store>, place: &str, address: &str) {
    let adapter = address.split_once(':').map_or("", |(scheme, _)| scheme);
    found.extend(url::hosts(address).into_iter().map(|host| Store {
        host,
        place: place.to_owned(),
        adapter: adapter.to_owned(),
    }));
}

/// Returns the value in the environment of the app: hakaru's own, else the inherited one; an empty
/// one counts as none.
fn value_of(variables: &[(String, String)], name: &str) -> Option<String> {
    let own = variables.iter().find(|(known, _)| known == name);
    own.map(|(_, value)| value.clone())
        .or_else(|| env::var(name).ok())
        .filter(|value| !value.is_empty())
}

/// Returns the files read by the gem dotenv, by falling precedence.
fn env_files(environment: &str) -> Vec<String> {
    vec![
        format!(".env.{environment}.local"),
        ".env.local".to_owned(),
        format!(".env.{environment}"),
        ".env".to_owned(),
    ]
}

/// Returns what each program of a shell line finds set by the line: before the program itself, and
/// by `export` before.
fn environments(line: &str) -> Vec<Variables> {
    let mut exported = Variables::new();
    let mut all = Vec::new();
    for part in parts(line) {
        let mut variables = exported.clone();
        for (name, value) in assignments(part) {
            variables.retain(|(known, _)| *known != name);
            variables.push((name, value));
        }
        let first = part.split_whitespace().next().unwrap_or_default();
        if first == "export" {
            exported.clone_from(&variables);
        }
        if !first.is_empty() && !NO_PROGRAMS.contains(&first) {
            all.push(variables);
        }
    }
    if all.is_empty() {
        all.push(exported);
    }
    all
}

/// Returns the commands of a shell line: the texts between operators.
fn parts(line: &str) -> Vec<&str> {
    let mut quote = None;
    line.split(|c: char| {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            _ => {}
        }
        quote.is_none() && matches!(c, '&' | ';' | '|' | '(' | ')' | '\n')
    })
    .collect()
}

/// Returns the variables set by a command before the program, also by `env` and `export`.
fn assignments(command: &str) -> Variables {
    let is_before = |word: &&str| matches!(*word, "env" | "export" | "exec");
    let words = command.split_whitespace().skip_while(is_before);
    let pairs = words.map_while(|word| {
        let (name, value) = word.split_once('=')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (!name.is_empty() && name.chars().all(is_name)).then_some((name, value))
    });
    pairs
        .map(|(name, value)| (name.to_owned(), value.trim_matches(['"', '\'']).to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_before_a_program_are_read() {
        let check = |line: &str, expected: &[(&str, &str)]| {
            let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            assert_eq!(
                assignments(line),
                expected.iter().map(owned).collect::<Vec<_>>()
            );
        };
        check("puma -t 5:5", &[]);
        check(
            "RAILS_ENV=production DATABASE_URL='postgres://x' rake db:prepare",
            &[
                ("RAILS_ENV", "production"),
                ("DATABASE_URL", "postgres://x"),
            ],
        );
        check("env A=1 puma B=2", &[("A", "1")]);
        check("export A=1", &[("A", "1")]);
    }

    #[test]
    fn each_program_of_a_line_has_its_variables() {
        let check = |line: &str, expected: &[&[(&str, &str)]]| {
            let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let expected: Vec<Variables> = (expected.iter())
                .map(|set| set.iter().map(owned).collect())
                .collect();
            assert_eq!(environments(line), expected, "{line}");
        };
        check("puma", &[&[]]);
        check("cd app", &[&[]]);
        check(
            "cd app && RAILS_ENV=production rails db:reset",
            &[&[("RAILS_ENV", "production")]],
        );
        check(
            "export A=1; B=2 rake one | tee log; A=3 rake two",
            &[&[("A", "1"), ("B", "2")], &[("A", "1")], &[("A", "3")]],
        );
        check("U='a://b:c&d@e/f' rake", &[&[("U", "a://b:c&d@e/f")]]);
    }

    #[test]
    fn the_files_of_a_folder_name_its_stores() {
        let folder = tempfile::tempdir().expect("a folder");
        let write =
            |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
        write(
            ".env",
            "DATABASE_URL=postgres://db.example/shop\nREDIS_URL=redis://cache.example:6379\n",
        );
        write(".env.production", "REDIS_URL=redis://127.0.0.1:6379\n");
        let hosts = |env: &[(&str, &str)], commands: &[&str]| {
            let env: Vec<_> = env
                .iter()
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
                .collect();
            let commands: Vec<String> = commands.iter().map(|line| (*line).to_owned()).collect();
            let context = Context {
                directory: folder.path(),
                env: &env,
                commands: &commands,
                database: None,
            };
            let stores = stores(&context);
            stores
                .into_iter()
                .map(|store| store.host)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            hosts(&[("RACK_ENV", "test")], &[]),
            ["cache.example", "db.example"]
        );
        assert_eq!(
            hosts(&[("RACK_ENV", "production")], &[]),
            ["127.0.0.1", "db.example"]
        );
        let own = [("RACK_ENV", "test"), ("DATABASE_URL", "postgres:///shop")];
        assert_eq!(hosts(&own, &[]), ["cache.example"]);
        let behind = ["cd . && export RACK_ENV=production; rake"];
        assert_eq!(
            hosts(&[("RACK_ENV", "test")], &behind),
            ["127.0.0.1", "db.example"]
        );
        let of_command = ["puma", "RACK_ENV=production rake"];
        assert_eq!(
            hosts(&[("RACK_ENV", "test")], &of_command),
            ["cache.example", "db.example", "127.0.0.1", "db.example"]
        );
    }
}
