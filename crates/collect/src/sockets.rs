//! Established TCP connections with round-trip times, asked of the kernel over netlink
//! (`sock_diag(7)`), which needs no rights.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use serde::{Deserialize, Serialize};

/// Longest wait for the kernel.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of one answer of the kernel, which sends at most 32 KiB at once.
const ANSWER_BYTES: usize = 64 * 1024;
/// Pairs of addresses passed on for most connections, and as many for most bytes. A host with more
/// serves browsers, of which each has few of both; apps that open a connection for each request
/// have many connections, those that keep them have many bytes.
const LINKS_MAX_EACH: usize = 128;

/// Numbers of `linux/netlink.h`, `linux/sock_diag.h` and `linux/inet_diag.h`.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const REQUEST_DUMP: u16 = 0x301;
const MESSAGE_DONE: u16 = 3;
const MESSAGE_ERROR: u16 = 2;
const HEADER_BYTES: usize = 16;
const REQUEST_BYTES: usize = 56;
const TCP: u8 = 6;
const WITH_TCP_INFO: u8 = 1 << 1;
const TCP_INFO: u16 = 2;
const ESTABLISHED: u32 = 1 << 1;
const FAMILIES: [u8; 2] = [2, 10];
/// Places within a message about a socket, and within `struct tcp_info`.
const SOURCE_AT: usize = 8;
const DESTINATION_AT: usize = 24;
const ATTRIBUTES_AT: usize = 72;
const BYTES_ACKED_AT: usize = 120;
const BYTES_RECEIVED_AT: usize = 128;
const MIN_RTT_AT: usize = 148;

/// Connections between two addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Address of the own host.
    pub local: IpAddr,
    /// Address of the other end.
    pub peer: IpAddr,
    /// The shortest round trip of all connections, microseconds.
    pub rtt_min_us: u32,
}

/// Returns the links to other addresses, by address, each once, those with most traffic where there
/// are many, and the number of connections; none where the kernel has no `sock_diag`.
pub fn links() -> (Vec<Link>, usize) {
    let (mut pairs, mut count) = (Pairs::new(), 0);
    for family in FAMILIES {
        // A kernel without IPv6 or without the module has nothing to say.
        count += ask(family, &mut pairs).unwrap_or(0);
    }
    (busiest(pairs), count)
}

/// All connections between two addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    /// The shortest round trip, microseconds.
    rtt_min_us: u32,
    connections: u64,
    /// Bytes in both directions since the connections were opened.
    bytes: u64,
}

/// By the two addresses.
type Pairs = BTreeMap<(IpAddr, IpAddr), Pair>;

/// Returns the pairs with most connections and the pairs with most bytes.
fn busiest(pairs: Pairs) -> Vec<Link> {
    let mut all: Vec<((IpAddr, IpAddr), Pair)> = pairs.into_iter().collect();
    all.sort_by_key(|(_, pair)| Reverse(pair.connections));
    let mut others = all.split_off(all.len().min(LINKS_MAX_EACH));
    others.sort_by_key(|(_, pair)| Reverse(pair.bytes));
    all.extend(others.into_iter().take(LINKS_MAX_EACH));
    all.sort_by_key(|(addresses, _)| *addresses);
    let links = all.into_iter().map(|((local, peer), pair)| Link {
        local,
        peer,
        rtt_min_us: pair.rtt_min_us,
    });
    links.collect()
}

/// Returns the number of connections.
fn ask(family: u8, pairs: &mut Pairs) -> io::Result<usize> {
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(SOCK_DIAG),
    )?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    let kernel = SocketAddrNetlink::new(0, 0);
    rustix::net::sendto(&socket, &request(family), SendFlags::empty(), &kernel)?;
    let (mut answer, mut connections) = (vec![0; ANSWER_BYTES], 0);
    loop {
        let (count, _) = rustix::net::recv(&socket, answer.as_mut_slice(), RecvFlags::empty())?;
        if count == 0 || !read(&answer[..count], pairs, &mut connections) {
            return Ok(connections);
        }
    }
}

fn request(family: u8) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + REQUEST_BYTES);
    bytes.extend(((HEADER_BYTES + REQUEST_BYTES) as u32).to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([family, TCP, WITH_TCP_INFO, 0]);
    bytes.extend(ESTABLISHED.to_ne_bytes());
    bytes.resize(HEADER_BYTES + REQUEST_BYTES, 0);
    bytes
}

/// Reads an answer and counts connections; returns whether more may follow.
fn read(mut answer: &[u8], pairs: &mut Pairs, connections: &mut usize) -> bool {
    while answer.len() >= HEADER_BYTES {
        let length = u32_at(answer, 0).map_or(0, |length| length as usize);
        let kind = u16_at(answer, 4);
        if kind == Some(MESSAGE_DONE) || kind == Some(MESSAGE_ERROR) || length < HEADER_BYTES {
            return false;
        }
        *connections += 1;
        let end = length.min(answer.len());
        if let Some((addresses, one)) = of_socket(&answer[HEADER_BYTES..end]) {
            let known = pairs.entry(addresses).or_insert(Pair {
                connections: 0,
                bytes: 0,
                ..one
            });
            known.rtt_min_us = one.rtt_min_us.min(known.rtt_min_us);
            known.connections += one.connections;
            known.bytes = known.bytes.saturating_add(one.bytes);
        }
        answer = &answer[length.next_multiple_of(4).min(answer.len())..];
    }
    true
}

/// Returns the addresses and what is known of a connection to another address.
fn of_socket(message: &[u8]) -> Option<((IpAddr, IpAddr), Pair)> {
    let family = *message.first()?;
    let local = address(message.get(SOURCE_AT..)?, family)?;
    let peer = address(message.get(DESTINATION_AT..)?, family)?;
    let mut rest = message.get(ATTRIBUTES_AT..)?;
    while let (Some(length), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let length = usize::from(length);
        if kind == TCP_INFO {
            let info = rest.get(4..length)?;
            // The kernel says its largest number before the first measurement.
            let rtt_min_us =
                u32_at(info, MIN_RTT_AT).filter(|rtt_us| (1..u32::MAX).contains(rtt_us))?;
            let bytes =
                u64_at(info, BYTES_ACKED_AT)?.saturating_add(u64_at(info, BYTES_RECEIVED_AT)?);
            let one = Pair {
                rtt_min_us,
                connections: 1,
                bytes,
            };
            return (!peer.is_loopback() && peer != local).then_some(((local, peer), one));
        }
        rest = rest.get(length.max(4).next_multiple_of(4)..)?;
    }
    None
}

fn address(bytes: &[u8], family: u8) -> Option<IpAddr> {
    match family == FAMILIES[0] {
        true => Some(Ipv4Addr::from(*bytes.first_chunk::<4>()?).into()),
        // An IPv4 connection of a socket for both.
        false => Some(Ipv6Addr::from(*bytes.first_chunk::<16>()?).to_canonical()),
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of the kernel about a connection.
    fn message(peer: [u8; 4], rtt_us: u32) -> Vec<u8> {
        let mut body = vec![0; ATTRIBUTES_AT];
        body[0] = FAMILIES[0];
        body[SOURCE_AT..SOURCE_AT + 4].copy_from_slice(&[10, 0, 0, 1]);
        body[DESTINATION_AT..DESTINATION_AT + 4].copy_from_slice(&peer);
        // Another attribute of five bytes before the one that counts.
        body.extend([5, 0, 8, 0, 1, 0, 0, 0]);
        let mut info = vec![0; MIN_RTT_AT];
        info[BYTES_ACKED_AT..BYTES_ACKED_AT + 8].copy_from_slice(&1_000u64.to_ne_bytes());
        info[BYTES_RECEIVED_AT..BYTES_RECEIVED_AT + 8].copy_from_slice(&20u64.to_ne_bytes());
        info.extend(rtt_us.to_ne_bytes());
        body.extend(((info.len() + 4) as u16).to_ne_bytes());
        body.extend(TCP_INFO.to_ne_bytes());
        body.extend(info);
        let mut all = ((HEADER_BYTES + body.len()) as u32).to_ne_bytes().to_vec();
        all.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        all.extend([0; 10]);
        all.extend(body);
        all
    }

    #[test]
    fn the_shortest_round_trip_of_each_pair_of_addresses_is_taken() {
        let mut pairs = Pairs::new();
        let mut answer = message([10, 0, 0, 2], 900);
        answer.extend(message([10, 0, 0, 2], 300));
        answer.extend(message([127, 0, 0, 1], 5));
        answer.extend(message([10, 0, 0, 3], u32::MAX));
        let mut connections = 0;
        assert!(read(&answer, &mut pairs, &mut connections));
        assert_eq!(connections, 4);
        let link = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let pair = Pair {
            rtt_min_us: 300,
            connections: 2,
            bytes: 2 * (1_000 + 20),
        };
        assert_eq!(pairs, Pairs::from([(link, pair)]));
        let done = [
            &16u32.to_ne_bytes()[..],
            &MESSAGE_DONE.to_ne_bytes(),
            &[0; 10],
        ]
        .concat();
        assert!(!read(&done, &mut pairs, &mut 0));
        // A message that was cut off ends the reading.
        for end in 0..answer.len() {
            read(&answer[..end], &mut Pairs::new(), &mut 0);
        }
    }

    #[test]
    fn the_kernel_names_connections_with_round_trips() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let here = listener.local_addr().expect("an address");
        let _client = std::net::TcpStream::connect(here).expect("a connection");
        let mut pairs = Pairs::new();
        let count = ask(FAMILIES[0], &mut pairs).expect("sock_diag");
        assert!(count >= 2, "{count}");
        // Loopback is no link; the dump itself must have been understood to its end.
        let is_loopback = |(local, peer): &(IpAddr, IpAddr)| local.is_loopback() || local == peer;
        assert!(!pairs.keys().any(is_loopback), "{pairs:?}");
    }

    #[test]
    fn of_many_links_those_with_most_connections_and_most_bytes_are_kept() {
        let local = IpAddr::from([10, 0, 0, 1]);
        let pair = |connections, bytes| Pair {
            rtt_min_us: 100,
            connections,
            bytes,
        };
        let browser = |one: u32| (IpAddr::from((one << 8).to_be_bytes()), pair(6, 50_000));
        let (app, database) = (IpAddr::from([200, 0, 0, 2]), IpAddr::from([200, 0, 0, 3]));
        let own = [(app, pair(40, 9_000)), (database, pair(1, 900_000_000))];
        let all = (1..2_000).map(browser).chain(own);
        let links = busiest(all.map(|(peer, pair)| ((local, peer), pair)).collect());
        assert_eq!(links.len(), 2 * LINKS_MAX_EACH);
        let peers: Vec<IpAddr> = links.iter().map(|link| link.peer).collect();
        assert!(peers.is_sorted());
        assert!(
            peers.contains(&app) && peers.contains(&database),
            "{peers:?}"
        );
        let few = [((local, app), pair(1, 1))];
        assert_eq!(busiest(few.into()).len(), 1);
    }
}
