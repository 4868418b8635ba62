//! Memory stays flat.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::support::{PATIENCE, Puma};

const REQUESTS: u64 = 200_000;
/// Requests sent in one piece.
const BATCH: u64 = 400;
/// How often memory is looked at.
const LOOKS: u64 = 10;

/// Every tenth request has a new statement, so the agent's memory of statements fills up.
const APP: &str = r#"
require "json"
require "sqlite3"
DB = SQLite3::Database.new(":memory:")
LOCK = Mutex.new
$count = 0
run ->(env) do
  if env["PATH_INFO"] == "/memory"
    GC.start
    next [200, {}, [File.read("/proc/self/status")[/RssAnon:\s+(\d+)/, 1]]]
  end
  count = LOCK.synchronize { $count += 1 }
  DB.execute("SELECT 1 AS n#{count}") if (count % 10).zero?
  [200, {}, [JSON.generate([])]]
end
"#;

/// A client with many requests under way on one connection.
struct Pipeline {
    reader: BufReader<TcpStream>,
}

impl Pipeline {
    fn connect(port: u16) -> Pipeline {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("puma listens");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a socket option");
        stream.set_nodelay(true).expect("a socket option");
        let reader = BufReader::new(stream);
        Pipeline { reader }
    }

    fn send(&mut self, path: &str, ids: std::ops::Range<u64>) {
        let request = |id| {
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nHakaru-Request: {id:016x}\r\n\r\n")
        };
        let text: String = ids.map(request).collect();
        self.reader
            .get_mut()
            .write_all(text.as_bytes())
            .expect("requests are taken");
    }

    fn receive(&mut self) -> String {
        let mut length = 0;
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("an answer");
        assert!(line.starts_with("HTTP/1.1 200"), "{line:?}");
        while line != "\r\n" {
            line.clear();
            self.reader.read_line(&mut line).expect("a header");
            let header = line.to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).expect("a body");
        String::from_utf8(body).expect("text")
    }
}

/// A leak of one word a request would be 800 KB in the second half, one of 32 bytes a statement
/// 320 KB. Ruby's own heap moves a little, so each half is judged by its lowest look.
#[test]
fn two_hundred_thousand_requests_leave_memory_flat() {
    const GROWTH_KB_MAX: u64 = 256;
    let env = [("HAKARU_PROFILE", "wall 100 request")];
    let mut puma = Puma::start_with(&["-t", "1:1"], APP, &env);
    let mut client = Pipeline::connect(puma.port);
    let mut looks = Vec::new();
    let mut next = 1;
    for _ in 0..LOOKS {
        for _ in 0..REQUESTS / LOOKS / BATCH {
            client.send("/", next..next + BATCH);
            (0..BATCH).for_each(|_| assert_eq!(client.receive(), "[]"));
            next += BATCH;
            puma.poll();
        }
        client.send("/memory", 0..1);
        looks.push(client.receive().parse::<u64>().expect("kilobytes"));
    }
    puma.poll();
    println!("anonymous memory after each tenth, KB: {looks:?}");
    let seen = puma.handled.iter().filter(|one| one.id.0 > 0).count() as u64;
    let dropped = puma.rings.processes()[0].dropped;
    assert!(seen + dropped >= REQUESTS, "{seen} seen, {dropped} dropped");
    let lowest = |looks: &[u64]| looks.iter().copied().min().unwrap_or(0);
    let (before, after) = looks.split_at(looks.len() / 2);
    // The first look may be at memory that Ruby has yet to ask for.
    let growth = lowest(after).saturating_sub(lowest(&before[before.len() - 2..]));
    assert!(growth <= GROWTH_KB_MAX, "{growth} KB more: {looks:?}");
}
