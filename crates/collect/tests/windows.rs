//! Random changes to logs under observation: each line of the window is read once, and no other.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use collect::window::LogWindow;
use fastrand::Rng;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Number of windows tried.
const WINDOWS: u64 = 200;
/// Things done in each.
const STEPS: usize = 60;

/// A server writing a log, and the tools rotating the log.
struct Server {
    rng: Rng,
    path: PathBuf,
    log: File,
    number: u64,
    /// A line whose second half is not written yet.
    half: Option<String>,
    /// Whether all lines present only in the log were read.
    is_looked_at: bool,
    /// Since the last look.
    rotations: u32,
}

/// Rotations between two looks at most; with more, files would be removed unread.
const ROTATIONS_MAX: u32 = 4;

impl Server {
    fn new(folder: &Path, seed: u64) -> Server {
        let path = folder.join("access.log");
        Server {
            rng: Rng::with_seed(seed),
            log: append(&path),
            path,
            number: 0,
            half: None,
            is_looked_at: false,
            rotations: 0,
        }
    }

    fn write(&mut self, phase: &str) {
        for _ in 0..self.rng.usize(0..40) {
            self.finish_line();
            self.number += 1;
            let filling = "x".repeat(self.rng.usize(0..3000));
            let line = format!("{phase} {} {filling}\n", self.number);
            let cut = match self.rng.u8(0..20) {
                0 => self.rng.usize(1..line.len() - 1),
                _ => line.len(),
            };
            self.log
                .write_all(&line.as_bytes()[..cut])
                .expect("written");
            self.half = (cut < line.len()).then(|| line[cut..].to_owned());
        }
        self.is_looked_at = false;
    }

    fn finish_line(&mut self) {
        if let Some(rest) = self.half.take() {
            self.log.write_all(rest.as_bytes()).expect("written");
            self.is_looked_at = false;
        }
    }

    fn numbered(&self, number: u32, packed: bool) -> PathBuf {
        let ending = if packed { ".gz" } else { "" };
        PathBuf::from(format!("{}.{number}{ending}", self.path.display()))
    }

    /// Moves all older files up by one, and drops the oldest.
    fn make_room(&mut self) {
        self.rotations += 1;
        for number in (1..6).rev() {
            for packed in [false, true] {
                let old = self.numbered(number, packed);
                if old.exists() && number == 5 {
                    fs::remove_file(&old).expect("removed");
                } else if old.exists() {
                    fs::rename(&old, self.numbered(number + 1, packed)).expect("renamed");
                }
            }
        }
    }

    fn rotate(&mut self, phase: &str) {
        self.make_room();
        fs::rename(&self.path, self.numbered(1, false)).expect("renamed");
        if self.rng.bool() {
            // The server goes on for a while before it opens the new one.
            File::create(&self.path).expect("made");
            self.write(phase);
        }
        self.finish_line();
        self.log = append(&self.path);
    }

    fn copy_and_truncate(&mut self) {
        self.finish_line();
        self.make_room();
        fs::copy(&self.path, self.numbered(1, false)).expect("copied");
        self.truncate();
    }

    fn truncate(&mut self) {
        OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&self.path)
            .expect("truncated");
    }

    fn pack(&mut self) {
        self.finish_line();
        let number = self.rng.u32(1..6);
        let plain = self.numbered(number, false);
        let Ok(text) = fs::read(&plain) else {
            return;
        };
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&text).expect("packed");
        fs::write(
            self.numbered(number, true),
            packed.finish().expect("packed"),
        )
        .expect("written");
        fs::remove_file(plain).expect("removed");
    }

    fn step(&mut self, phase: &str) {
        match self.rng.u8(0..14) {
            0..=2 if self.rotations == ROTATIONS_MAX => {}
            0 | 1 => self.rotate(phase),
            2 => self.copy_and_truncate(),
            3 | 4 => self.pack(),
            // What was not taken is lost here, for us as for everybody.
            5 if self.is_looked_at && self.half.is_none() => self.truncate(),
            6 => {
                self.finish_line();
                self.log = append(&self.path);
            }
            _ => self.write(phase),
        }
    }
}

fn append(path: &Path) -> File {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .expect("opened")
}

#[test]
fn each_line_of_a_window_is_taken_once_and_no_other_whatever_is_done_to_the_log() {
    for seed in 0..WINDOWS {
        let folder = tempfile::tempdir().expect("a folder");
        let mut server = Server::new(folder.path(), seed);
        for _ in 0..server.rng.usize(0..20) {
            server.step("before");
        }
        let mut window = LogWindow::begin(&server.path).expect("begun");
        let first_whole = server.number;
        server.rotations = 0;
        let mut taken: Vec<u8> = Vec::new();
        for _ in 0..STEPS {
            server.step("within");
            if server.rng.u8(0..4) == 0 {
                look(&mut window, &mut taken);
                (server.is_looked_at, server.rotations) = (true, 0);
            }
        }
        let is_cut = server.half.is_some();
        let seen = window
            .end(&mut |lines| {
                taken.extend_from_slice(lines);
                Ok(())
            })
            .expect("ended");
        let last_whole = server.number - u64::from(is_cut);
        for _ in 0..10 {
            server.step("after");
        }
        let mut counts = BTreeMap::new();
        for line in String::from_utf8(taken).expect("text").lines() {
            let mut words = line.split(' ');
            assert_eq!(words.next(), Some("within"), "seed {seed}: {line:.40}");
            let number: u64 = words.next().expect("a number").parse().expect("a number");
            *counts.entry(number).or_insert(0) += 1;
        }
        let expected: BTreeMap<u64, i32> = (first_whole + 1..=last_whole)
            .map(|number| (number, 1))
            .collect();
        let wrong: Vec<_> = expected
            .keys()
            .chain(counts.keys())
            .filter(|number| expected.get(number) != counts.get(number))
            .collect();
        assert!(
            wrong.is_empty(),
            "seed {seed}: {wrong:?} of {first_whole}..={last_whole}, {seen:?}"
        );
        assert_eq!(seen.incomplete, u64::from(is_cut), "seed {seed}");
    }
}

fn look(window: &mut LogWindow, taken: &mut Vec<u8>) {
    let mut keep = |lines: &[u8]| {
        taken.extend_from_slice(lines);
        Ok(())
    };
    window.look(&mut keep).expect("looked");
}

#[test]
fn a_log_that_is_not_there_yet_is_of_the_window_from_its_first_line_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("slow.log");
    let mut window = LogWindow::begin(&path).expect("begun");
    fs::write(&path, "one\ntwo").expect("written");
    let mut taken = Vec::new();
    look(&mut window, &mut taken);
    assert_eq!(taken, b"one\n");
}

#[test]
fn a_file_with_several_names_is_read_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("access.log");
    let target = folder.path().join("access.log.2026-11-25");
    append(&target).write_all(b"before\n").expect("written");
    fs::hard_link(&target, &path).expect("a link");
    std::os::unix::fs::symlink(&target, folder.path().join("access.log-now")).expect("a link");
    let mut window = LogWindow::begin(&path).expect("begun");
    append(&target).write_all(b"within\n").expect("written");
    let mut taken = Vec::new();
    look(&mut window, &mut taken);
    assert_eq!(taken, b"within\n");
}

#[test]
fn a_log_that_may_not_be_read_or_whose_folder_is_missing_is_an_error() {
    assert!(LogWindow::begin(Path::new("/nowhere/access.log")).is_err());
}

/// Returns a pipe with a name; nobody has the other end.
fn pipe(path: PathBuf) -> PathBuf {
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    path
}

#[test]
fn a_folder_and_a_pipe_are_no_logs_and_a_pipe_beside_a_log_stops_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |name: &str| folder.path().join(name);
    for no_log in [folder.path().to_owned(), pipe(of("access.log"))] {
        let error = LogWindow::begin(&no_log).expect_err("no log");
        assert!(error.to_string().contains("no regular file"), "{error}");
    }
    fs::write(of("slow.log"), "before\n").expect("written");
    pipe(of("slow.log.1"));
    let window = LogWindow::begin(&of("slow.log")).expect("begun");
    append(&of("slow.log"))
        .write_all(b"within\n")
        .expect("written");
    let mut taken = Vec::new();
    let mut keep = |lines: &[u8]| {
        taken.extend_from_slice(lines);
        Ok(())
    };
    window.end(&mut keep).expect("ended");
    assert_eq!(taken, b"within\n");
}
