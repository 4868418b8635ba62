//! Both ends of a session, for the tests: without arguments the far end, which does as asked; with
//! `near CONFIG HOST` a near end, which waits to be killed.

use std::path::PathBuf;
use std::time::Duration;

use remote::{Far, Host, Program, Session, Shift};

/// Replies with the same body.
const ECHO: u8 = 16;
/// Replies with the process id.
const PID: u8 = 17;
/// Sends so many frames of 64 KiB, numbered.
const FLOOD: u8 = 18;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [near, config, host] if near == "near" => wait(config, host),
        _ => serve(),
    }
}

fn serve() {
    let millis = std::env::var("HAKARU_CLOCK_SHIFT_MS").ok();
    let millis: i64 = millis.and_then(|text| text.parse().ok()).unwrap_or(0);
    let shift = Shift {
        nanos: millis * 1_000_000,
    };
    let far = Far::start(shift).expect("standard input and output");
    let speaker = far.speaker();
    while let Some(frame) = far.receive() {
        let sent = match frame.kind {
            ECHO => speaker.send(ECHO, &frame.body),
            PID => speaker.send(PID, &std::process::id().to_le_bytes()),
            FLOOD => {
                let count = u32::from_le_bytes(frame.body.try_into().expect("a number"));
                (0..count).try_for_each(|number| {
                    let mut body = vec![0; 65536];
                    body[..4].copy_from_slice(&number.to_le_bytes());
                    speaker.send(FLOOD, &body)
                })
            }
            other => panic!("kind {other}"),
        };
        if sent.is_err() {
            return;
        }
    }
}

fn wait(config: &str, host: &str) {
    let host = Host {
        config: Some(PathBuf::from(config)),
        ..Host::new(host, host)
    };
    let program = Program::own().expect("this program");
    let wait = Duration::from_secs(60);
    let session = Session::open(&host, &program, &["far"], wait).expect("a session");
    session.send(PID, &[], wait).expect("sent");
    let frame = session.receive(wait).expect("a reply").expect("in time");
    let pid = u32::from_le_bytes(frame.body.try_into().expect("a number"));
    #[expect(clippy::print_stdout, reason = "the test reads it")]
    {
        println!("{pid} {}", session.ssh_pid());
    }
    loop {
        let _ = session.receive(wait);
    }
}
