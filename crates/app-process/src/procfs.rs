//! Processes and listening sockets, read from `/proc`.
//!
//! Everything here is a snapshot of something that changes while it is read: a process or socket
//! that vanished in between is left out, never an error.

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::error::Holder;

/// Variable in the environment of every process of a run.
pub(crate) const MARK: &str = "HAKARU_RUN";

/// One line of `/proc/<pid>/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) zombie: bool,
    /// Clock ticks from boot to the start of the process; with the pid, a unique name.
    pub(crate) started: u64,
}

/// A listening TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    pub(crate) inode: u64,
}

pub(crate) fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(process)
        .collect()
}

pub(crate) fn process(pid: u32) -> Option<Process> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&text))
}

/// Returns whether the process has the run's mark in the environment.
pub(crate) fn has_mark(pid: u32, token: &str) -> bool {
    let wanted = format!("{MARK}={token}");
    environ(pid)
        .split(|byte| *byte == 0)
        .any(|pair| pair == wanted.as_bytes())
}

/// Returns the command line with blanks between the words; empty for a zombie or an ended process.
pub(crate) fn command_line(pid: u32) -> String {
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = text
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .collect();
    words
        .iter()
        .map(|word| String::from_utf8_lossy(word))
        .collect::<Vec<_>>()
        .join(" ")
        .trim()
        .to_owned()
}

pub(crate) fn listeners() -> Vec<Listener> {
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .flat_map(|text| parse_net_tcp(&text))
        .collect()
}

/// Returns the process listening where a connection to `address` arrives, if permissions allow.
pub(crate) fn holder_of(address: SocketAddr) -> Option<Holder> {
    let inodes: HashSet<u64> = listeners()
        .iter()
        .filter(|listener| listener.takes(address))
        .map(|listener| listener.inode)
        .collect();
    let mut pids: Vec<u32> = processes().iter().map(|process| process.pid).collect();
    // A cluster's workers share the socket with their master, which started first.
    pids.sort_unstable();
    let pid = pids.into_iter().find(|pid| holds_any(*pid, &inodes))?;
    let prefix = format!("{MARK}=");
    let ours = environ(pid)
        .split(|byte| *byte == 0)
        .any(|pair| pair.starts_with(prefix.as_bytes()));
    Some(Holder {
        pid,
        command: command_line(pid),
        ours,
    })
}

/// Returns the addresses on which at least one of `pids` listens.
pub(crate) fn listening_addresses(pids: &[u32]) -> Vec<SocketAddr> {
    let inodes: HashSet<u64> = pids.iter().flat_map(|pid| socket_inodes(*pid)).collect();
    listeners()
        .iter()
        .filter(|listener| inodes.contains(&listener.inode))
        .map(|listener| listener.address)
        .collect()
}

/// Returns `roots` and all descendants of `roots`; roots not among `all` count for nothing.
pub(crate) fn with_descendants(all: &[Process], roots: &HashSet<u32>) -> HashSet<u32> {
    let mut family: HashSet<u32> = all
        .iter()
        .map(|process| process.pid)
        .filter(|pid| roots.contains(pid))
        .collect();
    loop {
        let before = family.len();
        family.extend(
            all.iter()
                .filter(|process| family.contains(&process.parent))
                .map(|p| p.pid)
                .collect::<Vec<_>>(),
        );
        if family.len() == before {
            return family;
        }
    }
}

impl Listener {
    fn takes(&self, address: SocketAddr) -> bool {
        let ours = self.address.ip().to_canonical();
        let theirs = address.ip().to_canonical();
        // `[::]` takes IPv4 connections as well unless told otherwise.
        let any = ours.is_unspecified() && (self.address.is_ipv6() || theirs.is_ipv4());
        self.address.port() == address.port() && (any || ours == theirs)
    }
}

fn environ(pid: u32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()
}

fn holds_any(pid: u32, inodes: &HashSet<u64>) -> bool {
    !inodes.is_empty()
        && socket_inodes(pid)
            .iter()
            .any(|inode| inodes.contains(inode))
}

fn socket_inodes(pid: u32) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter_map(|link| {
            link.to_str()?
                .strip_prefix("socket:[")?
                .strip_suffix(']')?
                .parse()
                .ok()
        })
        .collect()
}

/// Reads one `stat` line. The name in brackets may hold blanks and brackets, so the last `)` ends
/// it.
fn parse_stat(text: &str) -> Option<Process> {
    const START_TIME: usize = 19;
    let (head, rest) = text.rsplit_once(')')?;
    let (pid, _name) = head.split_once('(')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some(Process {
        pid: pid.trim().parse().ok()?,
        zombie: matches!(*fields.first()?, "Z" | "X" | "x"),
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        started: fields.get(START_TIME)?.parse().ok()?,
    })
}

/// Reads `/proc/net/tcp` or `tcp6`: the sockets in state 0A (listening).
fn parse_net_tcp(text: &str) -> Vec<Listener> {
    const STATE: usize = 3;
    const INODE: usize = 9;
    let read = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if *fields.get(STATE)? != "0A" {
            return None;
        }
        let (ip, port) = fields.get(1)?.split_once(':')?;
        let address = SocketAddr::new(parse_ip(ip)?, u16::from_str_radix(port, 16).ok()?);
        Some(Listener {
            address,
            inode: fields.get(INODE)?.parse().ok()?,
        })
    };
    text.lines().skip(1).filter_map(read).collect()
}

/// The kernel prints each 32-bit word of an address as a number in the machine's byte order.
fn parse_ip(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        u32::from_str_radix(hex.get(at..at + 8)?, 16)
            .ok()
            .map(u32::to_ne_bytes)
    };
    match hex.len() {
        8 => Some(IpAddr::V4(Ipv4Addr::from(word(0)?))),
        32 => {
            let mut bytes = [0; 16];
            for (index, chunk) in bytes.chunks_exact_mut(4).enumerate() {
                chunk.copy_from_slice(&word(index * 8)?);
            }
            Some(IpAddr::V6(Ipv6Addr::from(bytes)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_a_stat_line_with_a_hostile_name() {
        let line = "12 (a) (b) c) Z 3 12 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";
        let expected = Process {
            pid: 12,
            parent: 3,
            group: 12,
            zombie: true,
            started: 987_654,
        };
        assert_eq!(parse_stat(line), Some(expected));
    }

    #[test]
    fn reads_listening_sockets_only() {
        let text = "  sl  local_address rem_address   st\n\
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4711 1 0 100 0 0 10 0\n\
            1: 0100007F:1F91 0100007F:1234 01 00000000:00000000 00:00000000 00000000 0 0 4712 1 0 100 0 0 10 0\n";
        let expected = Listener {
            address: ([127, 0, 0, 1], 8080).into(),
            inode: 4711,
        };
        assert_eq!(parse_net_tcp(text), [expected]);
        assert_eq!(
            parse_ip("00000000000000000000000001000000"),
            Some(Ipv6Addr::LOCALHOST.into())
        );
    }

    #[test]
    fn descendants_are_found_in_any_order() {
        let process = |pid, parent| Process {
            pid,
            parent,
            group: 1,
            zombie: false,
            started: 0,
        };
        let all = [process(5, 4), process(4, 2), process(2, 1), process(3, 1)];
        assert_eq!(
            with_descendants(&all, &HashSet::from([2, 99])),
            HashSet::from([2, 4, 5])
        );
    }

    #[test]
    fn this_process_holds_its_own_port() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let holder = holder_of(socket.local_addr().unwrap()).unwrap();
        assert_eq!(holder.pid, std::process::id());
        assert!(!holder.ours);
        assert!(listening_addresses(&[holder.pid]).contains(&socket.local_addr().unwrap()));
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in "[0-9A-F:() \\nZé]{0,200}") {
            let _ = parse_stat(&text);
            let _ = parse_net_tcp(&text);
            let _ = parse_ip(&text);
        }
    }
}
