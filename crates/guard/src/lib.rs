//! Production is never touched by accident: stops before data is reset and before load is sent,
//! when the app's databases or the app itself are on another machine and hakaru.toml does not name
//! the host.
//!
//! Four looks, from the cheapest on:
//! 1. [`stores`], before anything is started: the addresses that environment, `.env` files,
//!    `config/database.yml` and hakaru.toml give ([`sources`]), and the host of the URL.
//! 2. [`connections`], when the app is up and before load: where its processes are connected to
//!    ([`sockets`]). Finds addresses that stand only in the app's code.
//! 3. [`ConnectionWatch`], in the first seconds of load: the same for connections that a request
//!    opens.
//! 4. [`target`], for commands that only send load.
//!
//! A file, a socket, loopback and this machine's own addresses are here ([`host`]). A tunnel that
//! listens on loopback is indistinguishable from a local database.

mod database_yml;
mod dotenv;
mod host;
mod sockets;
mod sources;
mod url;
mod watch;

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use app_process::Running;
use words::{Text, text};

pub use sources::{Context, Store};
pub use watch::ConnectionWatch;

/// Hosts named by the user as allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Of databases and other stores: `database_host_ok`.
    pub databases: Vec<String>,
    /// Of the app: `host_ok`, `--host-ok`.
    pub targets: Vec<String>,
}

/// Reason for refusing an app: the hosts, the consequences for each, and both ways on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Refusal> for ending::Failure {
    fn from(refusal: Refusal) -> ending::Failure {
        ending::Failure::usage(refusal)
    }
}

/// Refuses an app with stores elsewhere; `before` is the command resetting the data.
///
/// # Errors
/// The hosts and the key that allows them.
pub fn stores(
    context: &Context<'_>,
    before: Option<&str>,
    allowed: &Allowed,
) -> Result<(), Refusal> {
    let remote = remote(context, &allowed.databases);
    match remote.is_empty() {
        true => Ok(()),
        false => Err(refusal(&remote, before)),
    }
}

/// Returns the stores on other machines and not allowed by name.
pub fn remote(context: &Context<'_>, allowed: &[String]) -> Vec<Store> {
    let mut stores = sources::stores(context);
    stores.retain(|store| !is_allowed(&store.host, allowed) && !host::is_here(&store.host));
    // The place that was looked at first is enough for each.
    let mut known = HashSet::new();
    stores.retain(|store| known.insert(store.host.clone()));
    stores
}

/// Returns an error when processes of the app are connected to a store elsewhere.
///
/// # Errors
/// The addresses and the key that allows them.
pub fn connections(running: &Running, allowed: &Allowed) -> Result<(), Refusal> {
    if running.is_attached() {
        return Ok(());
    }
    match remote_peers(&running.pids(), &known_addresses(allowed), allowed).as_slice() {
        [] => Ok(()),
        stores => Err(refusal(stores, None)),
    }
}

/// Returns the addresses of the allowed names of stores.
fn known_addresses(allowed: &Allowed) -> Vec<IpAddr> {
    let names = allowed.databases.iter();
    names.flat_map(|name| host::addresses(name)).collect()
}

/// Returns the stores elsewhere, not allowed by name, to which one of `pids` is connected.
fn remote_peers(pids: &[u32], known: &[IpAddr], allowed: &Allowed) -> Vec<Store> {
    let mut peers = sockets::stores_of(pids);
    peers.retain(|peer| {
        let address = peer.ip().to_string();
        !host::is_here(&address)
            && !is_allowed(&address, &allowed.databases)
            && !known.contains(&peer.ip())
    });
    let store = |peer: &SocketAddr| Store {
        host: peer.ip().to_string(),
        place: format!("a connection of the app to port {}", peer.port()),
        adapter: String::new(),
    };
    peers.iter().map(store).collect()
}

/// Refuses a host to which no load may be sent: one on another machine, not allowed by name and not
/// confirmed by the user.
///
/// # Errors
/// The host and the flag that allows it.
pub fn target(
    host: &str,
    allowed: &Allowed,
    confirm: impl FnOnce(Text) -> bool,
) -> Result<(), Refusal> {
    if is_allowed(host, &allowed.targets) || host::is_here(host) {
        return Ok(());
    }
    let question = text!(
        "Send load to {host}, which is not this machine? [y/N]",
        host
    );
    if confirm(question) {
        return Ok(());
    }
    Err(Refusal(format!(
        "{host} is not this machine, so nothing was sent to it\n  \
             if you may load it: add --host-ok {host}, or host_ok = \"{host}\" under [target] in hakaru.toml"
    )))
}

/// Returns the hosts in the address of a store, without local and allowed ones.
pub fn remote_hosts(address: &str, allowed: &[String]) -> Vec<String> {
    let mut hosts = url::hosts(address);
    hosts.retain(|host| !is_allowed(host, allowed) && !host::is_here(host));
    hosts
}

/// Refuses hosts of a database to which the app connected during the measurement.
pub fn refusal_of_connection(hosts: Vec<String>) -> Refusal {
    let store = |host| Store {
        host,
        place: "a connection that a request opened".to_owned(),
        adapter: String::new(),
    };
    refusal_under_load(&hosts.into_iter().map(store).collect::<Vec<_>>())
}

fn is_allowed(host: &str, allowed: &[String]) -> bool {
    allowed.iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Returns the refusal before load: each host, the consequences, and both ways on.
pub fn refusal(stores: &[Store], before: Option<&str>) -> Refusal {
    let would = match before {
        Some(before) => format!("hakaru would run `{before}` on it and load it"),
        None => "hakaru would load it".to_owned(),
    };
    refused(stores, format!("{would}; nothing was sent to it"))
}

/// Returns the refusal under load: each host found, the possible consequences, and both ways on.
fn refusal_under_load(stores: &[Store]) -> Refusal {
    let ended = "the load was ended at once; requests of its first moments may have reached it";
    refused(stores, ended.to_owned())
}

fn refused(stores: &[Store], consequence: String) -> Refusal {
    let mut hosts: Vec<&str> = stores.iter().map(|store| store.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let mut lines: Vec<String> = stores
        .iter()
        .map(|store| format!("{} is not on this machine ({})", store.host, store.place))
        .collect();
    lines.push(consequence);
    let named = match hosts.as_slice() {
        [one] => format!("\"{one}\""),
        many => format!("[\"{}\"]", many.join("\", \"")),
    };
    lines.push(format!(
        "if you mean that: database_host_ok = {named} under [target] in hakaru.toml"
    ));
    let local = stores
        .iter()
        .find_map(Store::local_alternative)
        .unwrap_or("…");
    lines.push(format!(
        "else point the app to a database of this machine: env = {{ DATABASE_URL = \"{local}\" }}"
    ));
    Refusal(lines.join("\n  "))
}

/// Returns the names of the databases of an environment whose addresses stand in
/// `config/database.yml` and not in variables; `None` when the file cannot be evaluated.
pub fn databases_of_file(
    folder: &Path,
    environment: &str,
    variables: &[(String, String)],
) -> Option<Vec<String>> {
    let read = database_yml::read(folder, environment, variables).ok()?;
    let of_file = read.into_iter().filter(|database| database.is_of_file);
    Some(of_file.map(|database| database.name).collect())
}

/// Returns the stores on other machines which an app in a folder would use, for `hakaru init`.
pub fn remote_of_folder(folder: &Path, env: &[(String, String)]) -> Vec<Store> {
    let context = Context {
        directory: folder,
        env,
        commands: &[],
        database: None,
    };
    remote(&context, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_hosts_consequence_and_key() {
        let store = |host: &str| Store {
            host: host.to_owned(),
            place: "config/database.yml, production".to_owned(),
            adapter: "postgresql".to_owned(),
        };
        let refusal = refusal(
            &[store("db.prod.example"), store("replica.example")],
            Some("rake db:prepare"),
        );
        for part in [
            "db.prod.example is not on this machine (config/database.yml, production)",
            "hakaru would run `rake db:prepare` on it",
            "database_host_ok = [\"db.prod.example\", \"replica.example\"]",
            "DATABASE_URL = \"postgres://127.0.0.1/",
        ] {
            assert!(refusal.0.contains(part), "{}", refusal.0);
        }
    }

    #[test]
    fn a_named_host_is_allowed_and_another_is_not() {
        let allowed = Allowed {
            targets: vec!["Shop.Example".to_owned()],
            ..Allowed::default()
        };
        let no = |_| false;
        assert!(target("shop.example", &allowed, no).is_ok());
        assert!(target("127.0.0.1", &allowed, no).is_ok());
        let refusal = target("192.0.2.7", &allowed, no).expect_err("it is elsewhere");
        assert!(refusal.0.contains("--host-ok 192.0.2.7"));
        assert!(target("192.0.2.7", &allowed, |_| true).is_ok());
    }
}
