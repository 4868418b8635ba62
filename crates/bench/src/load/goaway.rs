//! A load over HTTP/2 against a server with a goodbye on every connection after a thousand
//! requests, with others under way: nothing may be lost, and nothing be answered twice.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{child, mark, tools};

/// Requests taken by a connection.
const EACH: u32 = 1_000;
const CONNECTIONS: u32 = 2;
const STREAMS: u32 = 50;
/// Requests of the whole load, and of a brief one.
const REQUESTS: (f64, f64) = (1e6, 1e4);
/// Seconds of the trial load, for an estimate of the length of the whole load.
const TRIAL_SECONDS: u32 = 2;

const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status: 200` of HPACK's static table.
const STATUS_200: u8 = 0x88;
const PREFACE_BYTES: usize = 24;
const HEAD_BYTES: usize = 9;

/// Runs the load on each engine; whether nothing was lost.
pub(super) fn run(brief: bool) -> Result<bool, Box<dyn Error>> {
    println!("\nGOAWAY after every {EACH} requests");
    let server = Server::start()?;
    let wanted = if brief { REQUESTS.1 } else { REQUESTS.0 };
    let mut met = true;
    for engine in tools::engines() {
        let trial = server.load(engine, TRIAL_SECONDS)?;
        let rate = trial.requests / f64::from(TRIAL_SECONDS);
        // A fifth more, since no two runs are equally fast.
        let seconds = (1.2 * wanted / rate).ceil().max(1.0) as u32;
        let Load {
            requests,
            unanswered,
            failed,
            answered,
            goodbyes,
        } = server.load(engine, seconds)?;
        let good = failed == 0.0
            && requests >= wanted
            && answered >= requests
            && answered <= requests + unanswered;
        met &= good;
        println!(
            "  {} {engine}: {requests:.0} requests, {failed:.0} of them failed, {unanswered:.0} unfinished at the end; \
             the server answered {answered:.0} on {goodbyes:.0} connections that it ended",
            mark(good)
        );
    }
    Ok(met)
}

/// What both sides counted.
struct Load {
    requests: f64,
    unanswered: f64,
    failed: f64,
    answered: f64,
    goodbyes: f64,
}

#[derive(Default)]
struct Counts {
    answered: AtomicU64,
    goodbyes: AtomicU64,
}

/// A server running until the process ends, with a thread for each connection.
struct Server {
    address: SocketAddr,
    counts: Arc<Counts>,
}

impl Server {
    fn start() -> io::Result<Server> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let counts = Arc::new(Counts::default());
        let told = Arc::clone(&counts);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let told = Arc::clone(&told);
                // A client that goes is no error of the server.
                std::thread::spawn(move || drop(talk(stream, &told)));
            }
        });
        Ok(Server { address, counts })
    }

    fn load(&self, engine: &str, seconds: u32) -> Result<Load, Box<dyn Error>> {
        let count = |count: &AtomicU64| count.swap(0, Ordering::Relaxed) as f64;
        // What the last load left.
        count(&self.counts.answered);
        count(&self.counts.goodbyes);
        let mut command = vec![tools::program().display().to_string()];
        let arguments = format!(
            "load http://{}/ --http2 --engine {engine} -c {CONNECTIONS} --streams {STREAMS} -d {seconds}s --json",
            self.address
        );
        command.extend(arguments.split(' ').map(str::to_owned));
        let ran = child::run(&command)?;
        let json: serde_json::Value = serde_json::from_str(&ran.output)?;
        let number = |value: &serde_json::Value| value.as_f64().unwrap_or(0.0);
        Ok(Load {
            requests: number(&json["requests"]),
            unanswered: number(&json["errors"]["unanswered"]),
            failed: number(&json["failed"]),
            answered: count(&self.counts.answered),
            goodbyes: count(&self.counts.goodbyes),
        })
    }
}

fn push(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    let length = (payload.len() as u32).to_be_bytes();
    out.extend_from_slice(&[length[1], length[2], length[3], kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// Answers the first requests of a connection, says goodbye with the last of the answers, and
/// passes over all later requests.
fn talk(mut stream: TcpStream, counts: &Counts) -> io::Result<()> {
    let last = 2 * EACH - 1;
    stream.set_nodelay(true)?;
    stream.read_exact(&mut [0; PREFACE_BYTES])?;
    let mut out = Vec::new();
    push(SETTINGS, 0, 0, &[], &mut out);
    stream.write_all(&out)?;
    let mut buffer = vec![0; 1 << 16];
    let mut held = Vec::new();
    loop {
        let bytes = match stream.read(&mut buffer)? {
            0 => return Ok(()),
            bytes => bytes,
        };
        held.extend_from_slice(&buffer[..bytes]);
        out.clear();
        let mut rest = held.as_slice();
        let mut answered = 0;
        while let Some(head) = rest.get(..HEAD_BYTES) {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let (kind, flags) = (head[3], head[4]);
            let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            let Some(behind) = rest.get(HEAD_BYTES + length..) else {
                break;
            };
            rest = behind;
            match kind {
                SETTINGS if flags & ACK == 0 => push(SETTINGS, ACK, 0, &[], &mut out),
                HEADERS if id <= last => {
                    answered += 1;
                    push(
                        HEADERS,
                        END_HEADERS | END_STREAM,
                        id,
                        &[STATUS_200],
                        &mut out,
                    );
                }
                _ => {}
            }
            if kind == HEADERS && id == last {
                counts.goodbyes.fetch_add(1, Ordering::Relaxed);
                let code = [last.to_be_bytes(), 0_u32.to_be_bytes()].concat();
                push(GOAWAY, 0, 0, &code, &mut out);
            }
        }
        let taken = held.len() - rest.len();
        held.drain(..taken);
        // Counted before they are sent: the client may end at once.
        counts.answered.fetch_add(answered, Ordering::Relaxed);
        stream.write_all(&out)?;
    }
}
