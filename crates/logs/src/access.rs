//! Access logs: one request a line.

mod behind;
mod entry;
mod format;
mod json;
mod moment;
mod pattern;
mod stamps;

use std::collections::HashMap;

use fnv::FnvBuildHasher;
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use crate::{Sizes, Times, Unread};
pub use behind::Behind;
use entry::Entry;
pub use format::Format;
pub use stamps::Stamps;

/// Number of paths with a remembered route, so a repeated path costs one look-up.
const KNOWN_MAX: usize = 100_000;
/// Bytes of a path by which requests are put together; servers take 8 KiB as a rule.
const PATH_BYTES_MAX: usize = 2_048;
/// Most groups before they become routes, so endlessly varying paths take no more memory.
pub const GROUPS_MAX: usize = 100_000;
/// In place of a route or a server: what lies beyond a limit.
pub const OTHERS: &str = "others";

/// How requests are put together.
#[derive(Clone, Debug)]
pub enum Grouping {
    /// By routes, derived from the paths.
    Routes,
    /// By paths as written.
    Paths,
    /// By the first expression to match a path; the others by routes.
    Matching(Vec<Regex>),
}

/// Index of each group by name.
type Names = HashMap<String, usize, FnvBuildHasher>;

/// What an access log says.
#[derive(Debug)]
pub struct Access {
    format: Format,
    grouping: Grouping,
    entry: Entry,
    groups: Vec<Row>,
    /// Index of the group of a method and path.
    known: HashMap<Vec<u8>, usize, FnvBuildHasher>,
    names: Names,
    key: Vec<u8>,
    behind: Vec<Behind>,
    /// Ends of the requests, where asked for.
    stamps: Option<Stamps>,
    /// Lines not read.
    pub unread: Unread,
}

/// The requests of one route.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    /// Such as `GET /channel/:id`.
    pub route: String,
    /// How many there were.
    pub requests: u64,
    /// Requests by the first digit of the status, 1 to 5; at 0 other statuses.
    pub statuses: [u64; 6],
    /// Time from the first byte of the request to the last of the response, where the log has one.
    pub times: Times,
    /// Time of waiting for the app, where the log has one.
    pub upstream: Times,
    /// Sizes of the responses' bodies.
    pub sizes: Sizes,
}

impl Access {
    pub(crate) fn new(format: Format, grouping: Grouping) -> Access {
        Access {
            format,
            grouping,
            entry: Entry::default(),
            groups: Vec::new(),
            known: HashMap::default(),
            names: Names::default(),
            key: Vec::new(),
            behind: Vec::new(),
            stamps: None,
            unread: Unread::default(),
        }
    }

    /// From now on stores when each request ended.
    pub(crate) fn with_stamps(mut self) -> Access {
        self.stamps = Some(Stamps::default());
        self
    }

    /// Returns a log of stored facts.
    pub(crate) fn of_facts(
        groups: Vec<Row>,
        behind: Vec<Behind>,
        stamps: Option<Stamps>,
        unread: Unread,
    ) -> Access {
        let names = groups.iter().enumerate();
        Access {
            names: names
                .map(|(index, row)| (row.route.clone(), index))
                .collect(),
            groups,
            behind,
            stamps,
            unread,
            ..Access::new(Format::Ltsv, Grouping::Routes)
        }
    }

    /// Returns the requests by method and path, in which ids are named already.
    pub(crate) fn groups(&self) -> &[Row] {
        &self.groups
    }

    /// Returns when requests ended, by the clock of the log; `None` where nobody asked.
    pub fn stamps(&self) -> Option<&Stamps> {
        self.stamps.as_ref()
    }

    pub(crate) fn add(&mut self, number: u64, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        self.entry.clear();
        if !self.format.read(line, &mut self.entry) || self.entry.uri.is_empty() {
            self.unread.add(number, line);
            return;
        }
        let index = self.group();
        let (entry, row) = (&self.entry, &mut self.groups[index]);
        row.requests += 1;
        row.statuses[status_class(entry.status)] += 1;
        if let Some(micros) = entry.micros {
            row.times.add(micros);
        }
        if let Some(micros) = entry.upstream_micros {
            row.upstream.add(micros);
        }
        if let Some(bytes) = entry.bytes {
            row.sizes.add(bytes);
        }
        behind::add(&mut self.behind, &self.entry);
        if let Some(stamps) = &mut self.stamps {
            stamps.add(&self.entry);
        }
    }

    /// The group of the entry in hand.
    fn group(&mut self) -> usize {
        let path_end = self.entry.uri.iter().position(|byte| *byte == b'?');
        let path_end = path_end.unwrap_or(self.entry.uri.len());
        let path = &self.entry.uri[..path_end.min(PATH_BYTES_MAX)];
        self.key.clear();
        self.key.extend_from_slice(&self.entry.method);
        self.key.push(b' ');
        self.key.extend_from_slice(path);
        if let Some(index) = self.known.get(&self.key) {
            return *index;
        }
        let method = String::from_utf8_lossy(&self.entry.method);
        let path = String::from_utf8_lossy(path);
        let name = format!("{method} {}", self.grouping.name(&path))
            .trim()
            .to_owned();
        let index = place(&mut self.groups, &mut self.names, name);
        if self.known.len() < KNOWN_MAX {
            self.known.insert(self.key.clone(), index);
        }
        index
    }

    /// Returns the routes by total time, the largest first; where the log has no times, by
    /// requests.
    pub fn rows(&self) -> Vec<Row> {
        let is_fixed = |line: &str| line == OTHERS || self.grouping.is_fixed(line);
        let all = self.groups.iter().map(|row| row.route.as_str());
        let varying = all.clone().filter(|line| !is_fixed(line));
        let mut clustered = routes::cluster(&varying.collect::<Vec<_>>()).into_iter();
        let names = all.map(|line| match is_fixed(line) {
            true => line.to_owned(),
            false => clustered.next().unwrap_or_else(|| line.to_owned()),
        });
        let mut merged: HashMap<String, Row> = HashMap::new();
        for (name, row) in names.zip(&self.groups) {
            merged
                .entry(name.clone())
                .or_insert_with(|| Row {
                    route: name,
                    ..Row::default()
                })
                .merge(row);
        }
        let mut rows: Vec<Row> = merged.into_values().collect();
        rows.iter_mut().for_each(Row::sort);
        rows.sort_by(|a, b| {
            (b.times.sum().total_cmp(&a.times.sum()))
                .then_with(|| b.requests.cmp(&a.requests))
                .then_with(|| a.route.cmp(&b.route))
        });
        rows
    }

    /// Returns the number of requests in the row [`OTHERS`].
    pub fn others(&self) -> u64 {
        let index = self.names.get(OTHERS);
        index.map_or(0, |index| self.groups[*index].requests)
    }

    /// Returns the number of requests passed on to the app, as far as the log has the times.
    pub fn passed_on(&self) -> u64 {
        self.groups.iter().map(|row| row.upstream.count()).sum()
    }

    /// Returns the servers to which requests were passed on, each once, by address.
    pub fn behind(&self) -> Vec<Behind> {
        let mut behind = self.behind.clone();
        behind.iter_mut().for_each(Behind::sort);
        behind.sort_by(|a, b| a.address.cmp(&b.address));
        behind
    }

    /// Returns the number of requests, and the sum of the durations, seconds.
    pub fn total(&self) -> (u64, f64) {
        let rows = self.groups.iter();
        rows.fold((0, 0.0), |(requests, seconds), row| {
            (requests + row.requests, seconds + row.times.sum())
        })
    }

    /// Adds the counts of another log read with the same settings. Stamps of two clocks do not
    /// become one series: the first log's stay.
    pub fn merge(&mut self, other: Access) {
        for row in other.groups {
            let index = place(&mut self.groups, &mut self.names, row.route.clone());
            self.groups[index].merge(&row);
        }
        behind::merge(&mut self.behind, other.behind);
        self.unread.merge(other.unread);
    }
}

/// One request of an access log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Number of the line, from 1.
    pub line: u64,
    /// Empty where the line has none.
    pub method: String,
    /// Path and query.
    pub uri: String,
    /// 0 where the line has none.
    pub status: u16,
    /// When the request arrived, in microseconds since 1970: the line's time, less the duration
    /// where lines are written at the end of requests.
    pub began_micros: Option<i64>,
    /// Duration of the request, in microseconds.
    pub took_micros: Option<u32>,
    /// Of the response's body.
    pub bytes: Option<u64>,
    /// Client of the request, an address as a rule; empty where the line has none.
    pub client: String,
    /// The request's cookies; empty where the line has none.
    pub cookie: String,
    /// The kind of the request's body; empty where the line has none.
    pub content_type: String,
    /// The request's body; empty where the line has none.
    pub body: Vec<u8>,
}

/// Reads a line; `None` for a line in another format or without a request.
pub(crate) fn request(format: &Format, number: u64, line: &[u8]) -> Option<Request> {
    let mut entry = Entry::default();
    if !format.read(line, &mut entry) || entry.uri.is_empty() {
        return None;
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let took = match entry.moment_is_begin {
        true => 0,
        false => i64::from(entry.micros.unwrap_or(0)),
    };
    Some(Request {
        line: number,
        method: text(&entry.method),
        uri: text(&entry.uri),
        status: entry.status,
        began_micros: moment::micros_since_1970(&entry.moment).map(|moment| moment - took),
        took_micros: entry.micros,
        bytes: entry.bytes,
        client: text(&entry.client),
        cookie: text(&plain(format, &entry.cookie)),
        content_type: text(&plain(format, &entry.content_type)),
        body: plain(format, &entry.body),
    })
}

/// Returns a value without the escapes of nginx and Apache: `\x22`, `\"`, `\\`,
/// `\n` and the like. JSON has escapes of its own, which are gone already. `-` stands for nothing.
fn plain(format: &Format, value: &[u8]) -> Vec<u8> {
    if value == b"-" {
        return Vec::new();
    }
    if *format == Format::Json || !value.contains(&b'\\') {
        return value.to_owned();
    }
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((byte, behind)) = rest.split_first() {
        let (byte, taken) = match (byte, behind) {
            (b'\\', [b'x', high, low, ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => (*byte, 1),
            },
            (b'\\', [letter, ..]) => match letter {
                b'n' => (b'\n', 2),
                b'r' => (b'\r', 2),
                b't' => (b'\t', 2),
                b'"' | b'\\' => (*letter, 2),
                _ => (*byte, 1),
            },
            _ => (*byte, 1),
        };
        out.push(byte);
        rest = &rest[taken..];
    }
    out
}

fn digit(letter: u8) -> Option<u8> {
    char::from(letter).to_digit(16).map(|digit| digit as u8)
}

impl Row {
    fn merge(&mut self, other: &Row) {
        self.requests += other.requests;
        for (mine, others) in self.statuses.iter_mut().zip(other.statuses) {
            *mine += others;
        }
        self.times.merge(&other.times);
        self.upstream.merge(&other.upstream);
        self.sizes.merge(other.sizes);
    }

    fn sort(&mut self) {
        self.times.sort();
        self.upstream.sort();
    }
}

impl Grouping {
    /// Returns the name of a path's group, as far as the path alone determines the name.
    fn name(&self, path: &str) -> String {
        let matching = match self {
            Grouping::Paths => return path.to_owned(),
            Grouping::Routes => None,
            Grouping::Matching(all) => all.iter().find(|one| one.is_match(path.as_bytes())),
        };
        match matching {
            Some(expression) => expression.as_str().to_owned(),
            None => {
                let segments = path.split('/');
                let named: Vec<&str> = segments
                    .map(|segment| routes::shape(segment).unwrap_or(segment))
                    .collect();
                named.join("/")
            }
        }
    }

    /// Whether the name of a group, with the method before, is final: an expression is no path with
    /// varying segments.
    fn is_fixed(&self, name: &str) -> bool {
        let path = name.split_once(' ').map_or(name, |(_, path)| path);
        match self {
            Grouping::Paths => true,
            Grouping::Routes => false,
            Grouping::Matching(all) => {
                let mut expressions = all.iter().map(|one| one.as_str().trim());
                expressions.any(|one| one == path.trim() || one == name)
            }
        }
    }
}

/// Returns the index of the group of a name; of one too many, the index of the others.
fn place(groups: &mut Vec<Row>, names: &mut Names, name: String) -> usize {
    let name = match groups.len() < GROUPS_MAX || names.contains_key(&name) {
        true => name,
        false => OTHERS.to_owned(),
    };
    *names.entry(name).or_insert_with_key(|name| {
        groups.push(Row {
            route: name.clone(),
            ..Row::default()
        });
        groups.len() - 1
    })
}

fn status_class(status: u16) -> usize {
    match status / 100 {
        class @ 1..=5 => usize::from(class),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: &Format, grouping: Grouping, lines: &[&str]) -> Access {
        let mut access = Access::new(format.clone(), grouping);
        for (number, line) in (1..).zip(lines) {
            access.add(number, line.as_bytes());
        }
        access
    }

    fn ltsv(uri: &str, time: &str) -> String {
        format!("method:GET\turi:{uri}\tstatus:200\tsize:10\treqtime:{time}\tapptime:-")
    }

    #[test]
    fn requests_are_put_together_by_route() {
        let lines = [
            ltsv("/a/1?x=2", "0.100"),
            ltsv("/a/22", "0.300"),
            ltsv("/b", "0.200"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let rows = read(&Format::Ltsv, Grouping::Routes, &lines).rows();
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (rows[0].route.as_str(), rows[0].requests),
            ("GET /a/:id", 2)
        );
        assert_eq!(rows[0].times.sum(), 0.4);
        assert_eq!(rows[0].statuses, [0, 0, 2, 0, 0, 0]);
        assert_eq!(rows[0].sizes.sum, 20);
        assert_eq!(rows[0].upstream.count(), 0);
        let rows = read(&Format::Ltsv, Grouping::Paths, &lines).rows();
        assert_eq!(rows.len(), 3);
        let expression = Regex::new("^/(a|b)").expect("an expression");
        let rows = read(&Format::Ltsv, Grouping::Matching(vec![expression]), &lines).rows();
        assert_eq!((rows.len(), rows[0].route.as_str()), (1, "GET ^/(a|b)"));
    }

    #[test]
    fn an_expression_is_no_path() {
        let long = "^/(?:login|register|message|fetch|profile|logout) *$";
        let lines = [
            ltsv("/login", "0.300"),
            ltsv("/c/1", "0.200"),
            ltsv("/x/1", "0.1"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let expressions = [long, "^/c/[0-9]"].map(|one| Regex::new(one).expect("an expression"));
        let grouping = Grouping::Matching(expressions.to_vec());
        let rows = read(&Format::Ltsv, grouping, &lines).rows();
        let routes: Vec<&str> = rows.iter().map(|row| row.route.as_str()).collect();
        let first = format!("GET {long}");
        assert_eq!(routes, [first.as_str(), "GET ^/c/[0-9]", "GET /x/:id"]);
    }

    #[test]
    fn lines_that_cannot_be_read_are_counted_and_named() {
        let good = ltsv("/", "0.1");
        let access = read(&Format::Ltsv, Grouping::Routes, &[&good, "hello", "", "x"]);
        assert_eq!(access.unread.lines, 2);
        assert_eq!(access.unread.first, Some((2, "hello".to_owned())));
    }

    #[test]
    fn logs_of_several_hosts_add_up() {
        let (a, b) = (ltsv("/a", "0.1"), ltsv("/b", "0.2"));
        let mut both = read(&Format::Ltsv, Grouping::Routes, &[&a]);
        both.merge(read(&Format::Ltsv, Grouping::Routes, &[&a, &b]));
        let requests: Vec<u64> = both.rows().iter().map(|row| row.requests).collect();
        assert_eq!(requests, [2, 1]);
    }

    #[test]
    fn paths_without_end_are_counted_as_others() {
        let mut access = Access::new(Format::Ltsv, Grouping::Paths);
        let add = |access: &mut Access, path: usize| {
            let line = format!("method:GET\turi:/{path}\treqtime:0.001");
            access.add(1, line.as_bytes());
        };
        (0..GROUPS_MAX + 5).for_each(|path| add(&mut access, path));
        add(&mut access, 0);
        assert_eq!((access.groups.len(), access.others()), (GROUPS_MAX + 1, 5));
        let rows = access.rows();
        let requests = |route: &str| {
            let row = rows.iter().find(|row| row.route == route);
            row.map(|row| row.requests)
        };
        assert_eq!((requests("others"), requests("GET /0")), (Some(5), Some(2)));
        let mut few = read(&Format::Ltsv, Grouping::Paths, &["method:GET\turi:/0"]);
        few.merge(access);
        assert_eq!((few.groups.len(), few.others()), (GROUPS_MAX + 1, 5));
        assert_eq!(few.total().0, GROUPS_MAX as u64 + 7);
    }

    #[test]
    fn long_paths_are_put_together_by_their_beginnings() {
        let long = "a/".repeat(PATH_BYTES_MAX);
        let lines = [
            ltsv(&format!("/{long}1"), "0.1"),
            ltsv(&format!("/{long}2"), "0.1"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let access = read(&Format::Ltsv, Grouping::Paths, &lines);
        assert_eq!((access.groups.len(), access.groups[0].requests), (1, 2));
        assert_eq!(access.groups[0].route.len(), "GET ".len() + PATH_BYTES_MAX);
    }

    #[test]
    fn what_a_request_carried_is_read_without_the_escapes_of_the_log() {
        let check = |format: &str, line: &str, cookie: &str, body: &[u8]| {
            let format = Format::parse(format).expect("a format");
            let request = request(&format, 1, line.as_bytes()).expect("a request");
            assert_eq!(
                (request.cookie.as_str(), request.body.as_slice()),
                (cookie, body)
            );
        };
        let nginx = "$request \"$http_cookie\" \"$request_body\"";
        check(nginx, r#"GET /a "-" "-""#, "", b"");
        check(
            nginx,
            r#"POST /a "s=1; t=\x22q\x22" "a=1\x5Cn\xFF""#,
            "s=1; t=\"q\"",
            b"a=1\\n\xff",
        );
        let apache = r#"%m %U "%{Cookie}i""#;
        check(apache, r#"GET /a "s=\"1\"\t\\x""#, "s=\"1\"\t\\x", b"");
        let ltsv = "method:POST\turi:/a\tcookie:s=1\tbody:\\x7B\\x7D\\xz";
        check("ltsv", ltsv, "s=1", b"{}\\xz");
        let json =
            r#"{"method":"POST","uri":"/a","request_body":"{\"a\":\"\\n\"}","http_cookie":""}"#;
        check("json", json, "", br#"{"a":"\n"}"#);
    }
}
