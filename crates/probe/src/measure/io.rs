//! Clocks, system calls, switches, wake-ups, loopback and writing to disk for good.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::client::AppRuby;
use super::{usual, wants_more, writes};

/// What is written at a time, and of how many such pages a file is.
const PAGE: usize = 4096;
const PAGES: usize = 16;
/// Longest wait for the other end of a connection.
const DEADLINE: Duration = Duration::from_secs(2);

/// Nanoseconds for each of `count` calls, the best of five rounds.
fn each(count: u32, mut call: impl FnMut()) -> Option<f64> {
    let mut round = || {
        let begin = Instant::now();
        for _ in 0..count {
            call();
        }
        begin.elapsed().as_nanos() as f64 / f64::from(count)
    };
    (0..5).map(|_| round()).reduce(f64::min)
}

/// Reading the monotonic clock.
pub(super) fn clock() -> Option<f64> {
    each(20_000, || {
        black_box(Instant::now());
    })
}

/// The smallest system call.
pub(super) fn syscall() -> Option<f64> {
    each(20_000, || {
        black_box(rustix::process::getppid());
    })
}

/// Returns the median lateness of the end of a sleep of 1 ms, ns.
pub(super) fn wake() -> Option<f64> {
    const ASKED: Duration = Duration::from_millis(1);
    let late = || {
        let begin = Instant::now();
        std::thread::sleep(ASKED);
        begin.elapsed().saturating_sub(ASKED).as_nanos() as f64
    };
    let times: Vec<f64> = (0..60).map(|_| late()).collect();
    stats::median(&times)
}

/// A round trip between two threads over pipes.
pub(super) fn switch() -> io::Result<f64> {
    let (mut from_other, mut to_me) = io::pipe()?;
    let (mut from_me, mut to_other) = io::pipe()?;
    let echo = std::thread::Builder::new().spawn(move || {
        let mut byte = [0];
        // Ends with the other end of the pipe.
        while from_me.read_exact(&mut byte).is_ok() && to_me.write_all(&byte).is_ok() {}
    })?;
    let time = round_trips(|| {
        to_other.write_all(b"x")?;
        from_other.read_exact(&mut [0])
    });
    drop(to_other);
    let _ = echo.join();
    time
}

/// A round trip over TCP on loopback.
pub(super) fn loopback() -> io::Result<f64> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    let mut client = TcpStream::connect_timeout(&address, DEADLINE)?;
    let (mut server, _) = listener.accept()?;
    for end in [&client, &server] {
        end.set_nodelay(true)?;
        end.set_read_timeout(Some(DEADLINE))?;
        end.set_write_timeout(Some(DEADLINE))?;
    }
    let echo = std::thread::Builder::new().spawn(move || {
        let mut byte = [0];
        while server.read_exact(&mut byte).is_ok() && server.write_all(&byte).is_ok() {}
    })?;
    let time = round_trips(|| {
        client.write_all(b"x")?;
        client.read_exact(&mut [0])
    });
    drop(client);
    let _ = echo.join();
    time
}

/// The median of many round trips.
fn round_trips(mut trip: impl FnMut() -> io::Result<()>) -> io::Result<f64> {
    const TRIPS: usize = 2000;
    let mut times = Vec::with_capacity(TRIPS);
    for _ in 0..TRIPS {
        let begin = Instant::now();
        trip()?;
        times.push(begin.elapsed().as_nanos() as f64);
    }
    Ok(stats::median(&times).unwrap_or_default())
}

/// A file without a name with 64 KB on the disk. What is written over them needs no new block.
fn written(folder: &Path) -> io::Result<File> {
    let file = tempfile::tempfile_in(folder)?;
    file.write_all_at(&[1; PAGE * PAGES], 0)?;
    file.sync_all()?;
    Ok(file)
}

/// Measures `fdatasync` of 4 KB overwritten in the folder: returns the usual and the longest time,
/// ns.
pub(super) fn sync(folder: &Path) -> io::Result<(f64, f64)> {
    let file = written(folder)?;
    let times = writes::<io::Error>(|turn| {
        let begin = Instant::now();
        file.write_all_at(&[turn as u8; PAGE], (turn % PAGES * PAGE) as u64)?;
        file.sync_data().map(|()| begin)
    })?;
    let longest = times.iter().copied().fold(0.0, f64::max);
    Ok((usual(&times), longest))
}

/// Measures what a binary log adds to a commit in the folder, ns: `fdatasync` of a record at the
/// end of a file, right after the redo log's.
///
/// A client waits for the commits, with and without the second sync by turns: the longer it waits,
/// the longer it takes to wake.
pub(super) fn append_sync(folder: &Path, ruby: AppRuby<'_>) -> io::Result<f64> {
    let logs = Logs::make(folder)?;
    let times = match commits_of_ruby(ruby, &logs) {
        Ok(times) => times,
        // No Ruby, or one that does not start; an error of the disk comes again.
        Err(_) => commits_of_a_thread(logs)?,
    };
    let of =
        |parity: usize| -> Vec<f64> { times.iter().skip(parity).step_by(2).copied().collect() };
    Ok((usual(&of(1)) - usual(&of(0))).max(0.0))
}

/// The two files of a commit.
struct Logs {
    redo: File,
    binary: File,
}

impl Logs {
    fn make(folder: &Path) -> io::Result<Logs> {
        Ok(Logs {
            redo: written(folder)?,
            binary: tempfile::tempfile_in(folder)?,
        })
    }

    /// Commits; every second time with the binary log.
    fn commit(&self, turn: usize) -> io::Result<()> {
        // What an update of one row adds to a binary log, of 0.2 to 0.5 KB. With a block each time
        // the file system would allocate one for each record, which costs a quarter more.
        const RECORD: usize = 300;
        const REDO: usize = 512;
        let place = (turn % PAGES * PAGE) as u64;
        self.redo.write_all_at(&[turn as u8; REDO], place)?;
        self.redo.sync_data()?;
        if turn % 2 == 1 {
            let end = (turn * RECORD) as u64;
            self.binary.write_all_at(&[1; RECORD], end)?;
            self.binary.sync_data()?;
        }
        Ok(())
    }
}

/// Times of commits as a Ruby sees them, ns.
fn commits_of_ruby(ruby: AppRuby<'_>, logs: &Logs) -> io::Result<Vec<f64>> {
    /// The first ones find cold code; even, since those with the second sync are every other one.
    const FIRST: usize = 10;
    const ENOUGH: Duration = Duration::from_millis(400);
    let mut client = ruby.commits()?;
    let mut times = Vec::new();
    // The first line has no time.
    client.line()?;
    let begin = Instant::now();
    while wants_more(begin.elapsed(), times.len(), ENOUGH) {
        logs.commit(times.len())?;
        client.send("")?;
        let took: Result<f64, _> = client.line()?.parse();
        times.push(took.map_err(io::Error::other)?);
    }
    // On a slow disk all are few, and what the code takes does not count.
    if times.len() >= 3 * FIRST {
        times.drain(..FIRST);
    }
    Ok(times)
}

/// The same as a thread of this program sees them.
fn commits_of_a_thread(logs: Logs) -> io::Result<Vec<f64>> {
    let (mut asked, mut to_server) = io::pipe()?;
    let (mut answers, mut to_client) = io::pipe()?;
    let server = std::thread::Builder::new().spawn(move || -> io::Result<()> {
        let mut turns = 0..;
        // Ends with the other end of the pipe.
        while let (Ok(()), Some(turn)) = (asked.read_exact(&mut [0]), turns.next()) {
            logs.commit(turn)?;
            to_client.write_all(b"x")?;
        }
        Ok(())
    })?;
    let times = writes::<io::Error>(|_| {
        let begin = Instant::now();
        to_server.write_all(b"x")?;
        answers.read_exact(&mut [0]).map(|()| begin)
    });
    drop(to_server);
    // The server's own error says more than the end of its pipe.
    server
        .join()
        .map_err(|_| io::Error::other("the thread that writes ended"))??;
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The client is a shell with the times of its own choice.
    #[test]
    fn what_a_client_saw_counts_and_one_that_ends_is_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ruby");
        let asked = |text: &str| {
            std::fs::write(&program, format!("#!/bin/sh\n{text}")).unwrap();
            std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
            let ruby = AppRuby {
                program: program.to_str().unwrap(),
                folder: folder.path(),
            };
            append_sync(folder.path(), ruby).unwrap()
        };
        let saw = asked("echo; while read x; do echo 5000; read x; echo 9000; done");
        assert_eq!(saw, 4000.0);
        // No more than a disk takes for good.
        assert!(asked("exit 1") < 1e9);
    }
}
