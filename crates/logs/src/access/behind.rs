//! Servers behind a proxy, by the proxy's log.

use serde::{Deserialize, Serialize};

use super::OTHERS;
use super::entry::Entry;
use crate::Times;

/// Servers kept apart; further ones are counted together as [`OTHERS`].
const SERVERS_MAX: usize = 64;
/// Ends of paths of static files.
const FILES: [&[u8]; 12] = [
    b".css", b".js", b".png", b".jpg", b".jpeg", b".gif", b".svg", b".ico", b".woff", b".woff2",
    b".webp", b".map",
];

/// Requests answered by one server behind the proxy.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Behind {
    /// Address as in the log; empty where the log has none, `others` of servers beyond the limit.
    pub address: String,
    /// Waits of the proxy.
    pub waited: Times,
    /// Durations by the app's own account, where the log has one.
    pub own: Times,
    /// Requests for static files, by the ends of paths.
    pub files: u64,
}

impl Behind {
    /// How many requests there were.
    pub fn requests(&self) -> u64 {
        self.waited.count()
    }

    /// Whether one server is meant, by the address.
    pub fn is_named(&self) -> bool {
        !self.address.is_empty() && self.address != OTHERS
    }

    pub(super) fn sort(&mut self) {
        self.waited.sort();
        self.own.sort();
    }
}

/// Counts a request passed on; others have no server behind.
pub(super) fn add(all: &mut Vec<Behind>, entry: &Entry) {
    let Some(waited) = entry.upstream_micros else {
        return;
    };
    let one = of(all, &String::from_utf8_lossy(&entry.upstream_address));
    one.waited.add(waited);
    if let Some(own) = entry.own_micros {
        one.own.add(own);
    }
    one.files += u64::from(is_file(&entry.uri));
}

pub(super) fn merge(all: &mut Vec<Behind>, others: Vec<Behind>) {
    for other in others {
        let one = of(all, &other.address);
        one.waited.merge(&other.waited);
        one.own.merge(&other.own);
        one.files += other.files;
    }
}

fn of<'a>(all: &'a mut Vec<Behind>, address: &str) -> &'a mut Behind {
    if let Some(index) = place(all, address) {
        return &mut all[index];
    }
    let apart = all.iter().filter(|one| one.address != OTHERS).count();
    let address = match apart < SERVERS_MAX {
        true => address,
        false => OTHERS,
    };
    let index = place(all, address).unwrap_or(all.len());
    if index == all.len() {
        all.push(Behind {
            address: address.to_owned(),
            ..Behind::default()
        });
    }
    &mut all[index]
}

fn place(all: &[Behind], address: &str) -> Option<usize> {
    all.iter().position(|one| one.address == address)
}

fn is_file(uri: &[u8]) -> bool {
    let path = uri.split(|byte| *byte == b'?').next().unwrap_or(uri);
    FILES.iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Access, Format, Grouping};

    fn read(lines: &[&str]) -> Access {
        let mut access = Access::new(Format::Ltsv, Grouping::Routes);
        for (number, line) in (1..).zip(lines) {
            access.add(number, line.as_bytes());
        }
        access
    }

    #[test]
    fn requests_are_counted_by_the_server_that_answered() {
        let mut access = read(&[
            "uri:/a\tapptime:0.100\tupstream_addr:10.0.0.2:80\truntime:0.090",
            "uri:/b\tapptime:0.001, 0.300\tupstream_addr:10.0.0.2:80, 10.0.0.3:80\truntime:-",
            "uri:/c.css?v=1\tapptime:0.010\tupstream_addr:10.0.0.2:80\truntime:0.001",
            "uri:/d.css\tapptime:-\tupstream_addr:-",
        ]);
        access.merge(read(&["uri:/e\tapptime:0.200\tupstream_addr:10.0.0.3:80"]));
        let figures = access.behind().into_iter().map(|one| {
            let (waited, own) = (one.waited.sum(), one.own.count());
            (one.address.clone(), one.requests(), waited, own, one.files)
        });
        assert_eq!(
            figures.collect::<Vec<_>>(),
            [
                ("10.0.0.2:80".to_owned(), 2, 0.11, 2, 1),
                ("10.0.0.3:80".to_owned(), 2, 0.501, 0, 0)
            ]
        );
        assert_eq!(access.total().0, 5);
    }

    #[test]
    fn a_log_without_addresses_has_one_server_behind() {
        let access = read(&["uri:/a\tapptime:0.1", "uri:/a\tapptime:0.2"]);
        let behind = access.behind();
        assert_eq!((behind.len(), behind[0].requests()), (1, 2));
        assert_eq!(behind[0].address, "");
    }

    #[test]
    fn servers_beyond_the_limit_are_counted_as_others() {
        let line =
            |server: usize| format!("uri:/a\tapptime:0.001\tupstream_addr:10.0.1.{server}:80");
        let lines: Vec<String> = (0..70).chain([0, 69]).map(line).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut access = read(&lines);
        let requests = |access: &Access, address: &str| {
            let behind = access.behind();
            let one = behind.iter().find(|one| one.address == address);
            one.map(Behind::requests)
        };
        assert_eq!(access.behind().len(), SERVERS_MAX + 1);
        assert_eq!(requests(&access, "10.0.1.0:80"), Some(2));
        assert_eq!(requests(&access, "10.0.1.63:80"), Some(1));
        assert_eq!(requests(&access, "10.0.1.64:80"), None);
        assert_eq!(requests(&access, OTHERS), Some(7));
        // Those of another log are no server of this one.
        let mut few = read(&lines[..2]);
        few.merge(access);
        access = few;
        assert_eq!(access.behind().len(), SERVERS_MAX + 1);
        assert_eq!(requests(&access, "10.0.1.0:80"), Some(3));
        assert_eq!(requests(&access, OTHERS), Some(7));
    }
}
