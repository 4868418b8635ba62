//! Where processes are connected to, from `/proc`.

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, SocketAddr};

/// Ports on which databases, caches and queues listen, as registered or usual.
const STORES: [u16; 12] = [
    1433, 1521, 3306, 5432, 5672, 6379, 6432, 9042, 9200, 11211, 27017, 33060,
];
/// State "established" in `/proc/net/tcp`.
const ESTABLISHED: &str = "01";

/// Returns the peers on ports of stores to which processes are connected.
pub(super) fn stores_of(pids: &[u32]) -> Vec<SocketAddr> {
    let mut peers = HashSet::new();
    for pid in pids {
        let inodes = socket_inodes(*pid);
        for table in ["tcp", "tcp6"] {
            let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
            let connected = established(&text).filter(|(_, inode)| inodes.contains(inode));
            peers.extend(connected.map(|(peer, _)| peer));
        }
    }
    let mut peers: Vec<SocketAddr> = peers.into_iter().collect();
    peers.retain(|peer| STORES.contains(&peer.port()));
    peers.sort_unstable();
    peers
}

fn socket_inodes(pid: u32) -> HashSet<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    let links = entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok());
    let inode = |link: std::path::PathBuf| {
        let name = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
        Some(name.to_owned())
    };
    links.filter_map(inode).collect()
}

/// Peers and inodes of the established connections in a table of `/proc/net`.
fn established(table: &str) -> impl Iterator<Item = (SocketAddr, String)> {
    table.lines().skip(1).filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (peer, state, inode) = (words.get(2)?, words.get(3)?, words.get(9)?);
        (*state == ESTABLISHED).then_some(())?;
        Some((address(peer)?, (*inode).to_owned()))
    })
}

/// Reads `0100007F:0CEA`: words of 32 bits in the host's byte order, then the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let words: Vec<u32> = (0..address.len() / 8)
        .map(|word| u32::from_str_radix(address.get(word * 8..word * 8 + 8)?, 16).ok())
        .collect::<Option<_>>()?;
    let ip = match words.as_slice() {
        [word] => IpAddr::from(word.to_ne_bytes()),
        [a, b, c, d] => {
            let bytes: Vec<u8> = [a, b, c, d]
                .iter()
                .flat_map(|word| word.to_ne_bytes())
                .collect();
            IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?)
        }
        _ => return None,
    };
    Some(SocketAddr::new(
        ip.to_canonical(),
        u16::from_str_radix(port, 16).ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    #[test]
    fn tables_of_the_kernel_are_read() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
            0: 0100007F:2710 0A0200C0:1538 01 00000000:00000000 00:00000000 00000000     0        0 4242 1\n   \
            1: 0100007F:2710 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4243 1\n";
        let found: Vec<_> = established(table).collect();
        let peer = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 10)), 5432);
        assert_eq!(found, [(peer, "4242".to_owned())]);
        let mapped =
            address("0000000000000000FFFF00000A0200C0:0CEA").map(|address| address.to_string());
        assert_eq!(mapped.as_deref(), Some("192.0.2.10:3306"));
        let v6 = address("B80D0120000000000000000001000000:1538").map(|address| address.ip());
        assert_eq!(
            v6,
            Some(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)))
        );
        assert_eq!(address("xyz"), None);
    }

    #[test]
    fn connections_of_this_process_on_other_ports_do_not_count() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let _client = std::net::TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        assert!(
            stores_of(&[std::process::id()])
                .iter()
                .all(|peer| peer.port() != port)
        );
    }
}
