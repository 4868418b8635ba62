//! Distinguishes the local machine from other hosts.

use std::net::{IpAddr, Ipv4Addr, TcpListener, ToSocketAddrs};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Time limit of resolving a name; a name resolved more slowly is not local.
const RESOLVE_LIMIT: Duration = Duration::from_secs(3);

/// An address of the documentation (RFC 5737), which no machine has.
const NOBODYS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// Returns whether a host stands for the local machine: a socket, loopback, or one of the machine's
/// addresses. A name must lead to such addresses only; one that is not known does not.
pub(super) fn is_here(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches([']', '.']);
    if host.is_empty() || host.starts_with(['/', '@']) || host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let addresses = addresses(host);
    !addresses.is_empty() && addresses.into_iter().all(is_own)
}

/// Returns the addresses of a host; none when the host is not known in time.
pub(super) fn addresses(host: &str) -> Vec<IpAddr> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return vec![address];
    }
    let (sender, receiver) = mpsc::channel();
    let name = host.to_owned();
    // The resolver has no deadline of its own; a thread that outlives ours only waits for it.
    thread::spawn(move || {
        let found = (name.as_str(), 0).to_socket_addrs();
        let addresses: Vec<IpAddr> = found.into_iter().flatten().map(|a| a.ip()).collect();
        let _ = sender.send(addresses);
    });
    receiver.recv_timeout(RESOLVE_LIMIT).unwrap_or_default()
}

fn is_own(address: IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified() || (can_bind(address) && !can_bind(NOBODYS))
}

/// Returns whether an address belongs to the local machine: no other can be listened on, unless
/// `ip_nonlocal_bind` is set.
fn can_bind(address: IpAddr) -> bool {
    TcpListener::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_sockets_and_nothing_are_here() {
        for host in [
            "",
            "/var/run/postgresql",
            "localhost",
            "LOCALHOST.",
            "127.0.0.1",
            "127.8.9.10",
            "::1",
            "[::1]",
        ] {
            assert!(is_here(host), "{host}");
        }
    }

    #[test]
    fn others_addresses_and_unknown_names_are_not() {
        for host in [
            "192.0.2.1",
            "2001:db8::1",
            "::ffff:192.0.2.1",
            "db.prod.invalid",
            "(credentials)",
        ] {
            assert!(!is_here(host), "{host}");
        }
    }
}
