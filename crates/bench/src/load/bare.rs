//! A closed load with nothing but system calls: for each request one blocking write and one read,
//! no clock read and no response parsed.
//!
//! A yardstick, no limit: a generator that waits for several responses together is woken less, and
//! may need less CPU for a request although it does more.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Requests between looks at the clock.
const AT_ONCE: usize = 1_000;
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// Loads a URL over so many connections for so many seconds; prints the number of requests.
pub(super) fn print(url: &str, connections: &str, seconds: &str) -> Result<bool, Box<dyn Error>> {
    let authority = url.strip_prefix("http://").ok_or("not http")?;
    let (authority, path) = authority.split_once('/').unwrap_or((authority, ""));
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    let count: usize = connections.parse()?;
    let length = Duration::from_secs_f64(seconds.parse()?);
    let mut bytes = [0; ANSWER_BYTES_MAX];
    let mut streams = Vec::new();
    let mut answer = 0;
    for _ in 0..count {
        let mut stream = TcpStream::connect(authority)?;
        stream.set_nodelay(true)?;
        stream.write_all(request.as_bytes())?;
        // All responses are the first one again.
        answer = stream.read(&mut bytes)?;
        stream.write_all(request.as_bytes())?;
        streams.push(stream);
    }
    let started = Instant::now();
    let mut requests = 0;
    let mut next = 0;
    while started.elapsed() < length {
        for _ in 0..AT_ONCE {
            let stream = &mut streams[next];
            next = (next + 1) % count;
            let mut left = answer;
            while left > 0 {
                let read = stream.read(&mut bytes[..left])?;
                if read == 0 {
                    return Err("the server closed a connection".into());
                }
                left -= read;
            }
            stream.write_all(request.as_bytes())?;
            requests += 1;
        }
    }
    println!("{requests} requests");
    Ok(true)
}
