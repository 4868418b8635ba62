//! Agents on standby in an app started by somebody else: readers come, go and come back.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use capture::{Rings, standby_folders};
use recording::TextId;

use crate::support::{PATIENCE, Puma};

/// An app with everything to be reported once: a statement with a line, named work, a database.
const APP: &str = r##"
require "json"
require "sqlite3"
Thread.report_on_exception = true
PATH = File.join(__dir__, "test.db")
run ->(env) do
  db = Thread.current.thread_variable_get(:db)
  unless db
    db = SQLite3::Database.new(PATH)
    Thread.current.thread_variable_set(:db, db)
  end
  db.execute("SELECT 1 WHERE 2 = #{rand(10)}")
  200.times { JSON.generate({ "seen" => "HTTP_HAKARU_REQUEST", "list" => [1, 2, 3] }) }
  [200, {}, [env.key?("HTTP_HAKARU_REQUEST").to_s]]
end
"##;

/// A running app with agents on standby.
struct App {
    puma: Puma,
    rings: PathBuf,
    _parent: tempfile::TempDir,
    next: u64,
}

impl App {
    fn start(flags: &[&str]) -> App {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let rings = parent.path().join("rings");
        let named = rings.to_str().expect("a plain path").to_owned();
        let puma = Puma::start_with(flags, APP, &[("HAKARU_STANDBY", &named)]);
        App {
            puma,
            rings,
            _parent: parent,
            next: 1,
        }
    }

    /// Sends requests over separate connections, for each thread and worker to have a part; returns
    /// the numbers.
    fn send(&mut self, count: usize) -> Vec<u64> {
        let mut numbers = Vec::new();
        for _ in 0..count {
            let answer = self.puma.connect().get("/", self.next);
            // No agent lets the number through, whether somebody reads or not.
            assert_eq!(answer, Some((200, "false".to_owned())));
            numbers.push(self.next);
            self.next += 1;
        }
        numbers
    }

    fn read(&mut self) {
        self.read_by(Rings::of_running(&self.rings));
    }

    /// Reads as a run does, and checks for everything of the reader's own requests, and nothing
    /// else.
    fn read_by(&mut self, mut rings: Rings) {
        let (mut handled, mut texts) = (Vec::new(), Vec::new());
        let mut sent = Vec::new();
        for _ in 0..6 {
            let polled = rings.poll();
            handled.extend(polled.handled);
            texts.extend(polled.texts);
            sent.extend(self.send(10));
        }
        let deadline = Instant::now() + PATIENCE;
        // A request is counted after its record.
        let counted = |rings: &Rings| {
            let processes = rings.processes().into_iter();
            processes.map(|process| process.requests).sum::<u64>()
        };
        while handled.len() < sent.len() || counted(&rings) < sent.len() as u64 {
            assert!(
                Instant::now() < deadline,
                "{} of {} read: {:?} {:?}",
                handled.len(),
                sent.len(),
                rings.running(),
                rings.processes()
            );
            let polled = rings.poll();
            handled.extend(polled.handled);
            texts.extend(polled.texts);
        }
        let mut numbers: Vec<u64> = handled.iter().map(|one| one.id.0).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, sent, "those of this reader's time, each once");
        let text = |id: TextId| texts.iter().find(|(known, _)| *known == id);
        for one in &handled {
            assert!(one.pid > 0 && one.end > one.start);
            let sql = one.sql.first().expect("a statement");
            assert_eq!(
                text(sql.digest).expect("its digest").1,
                "SELECT ? WHERE ? = ?"
            );
            let site = &text(sql.site).expect("its line").1;
            assert!(site.starts_with("config.ru:"), "{site}");
            let works: Vec<_> = one.acts.iter().filter_map(|act| text(act.what)).collect();
            let is_told = works.iter().any(|(_, name)| name == "JSON.generate");
            assert!(is_told, "{works:?}");
        }
        let server = rings.server().expect("the server's facts");
        assert!(server.server.starts_with("puma "), "{server:?}");
        let serving: Vec<_> = (rings.processes().into_iter())
            .filter(|process| process.requests > 0)
            .collect();
        assert!(!serving.is_empty());
        for process in &serving {
            assert!(process.ruby.starts_with("ruby "), "{process:?}");
            assert_eq!(process.troubles, [""; 0]);
            assert_eq!(process.dropped, 0);
            let has = |name: &str| process.settings.iter().any(|one| one.name == name);
            assert!(has("RACK_ENV") && has("app root"), "{process:?}");
        }
        assert_eq!(counted(&rings), sent.len() as u64);
        assert!(
            rings
                .database_url()
                .is_some_and(|url| url.ends_with("test.db"))
        );
        assert!(!rings.samples().is_empty());
        assert!(self.ring_files() > 0);
    }

    fn ring_files(&self) -> usize {
        let entries = fs::read_dir(&self.rings).expect("the rings' folder");
        let is_ring = |path: &Path| path.extension().is_some_and(|ending| ending == "ring");
        entries
            .flatten()
            .filter(|entry| is_ring(&entry.path()))
            .count()
    }
}

fn check(flags: &[&str]) {
    let mut app = App::start(flags);
    assert!(!app.rings.exists(), "before the first request");
    for _ in 0..2 {
        app.send(20);
        assert_eq!(app.ring_files(), 0, "nobody reads");
        app.read();
        assert_eq!(app.ring_files(), 0, "the reader has left");
    }
    assert!(standby_folders(&[app.puma.pid()]).contains(&app.rings));
}

#[test]
fn a_single_puma_records_for_each_reader_and_for_nobody_else() {
    check(&["-t", "2:2"]);
}

#[test]
fn so_do_the_workers_of_a_cluster() {
    check(&["-w", "2", "-t", "2:2"]);
    check(&["-w", "2", "--preload", "-t", "1:1"]);
}

#[test]
fn a_reader_may_come_before_the_first_request() {
    let mut app = App::start(&["-t", "2:2"]);
    let mut rings = Rings::of_running(&app.rings);
    rings.poll();
    assert!(rings.running().is_some_and(|(_, unread)| unread.is_some()));
    app.send(1);
    rings.poll();
    assert!(rings.running().is_some_and(|(_, unread)| unread.is_none()));
    app.read_by(rings);
}

/// `systemd-logind` removes what is in `/dev/shm` of a user who logs out.
#[test]
fn rings_that_were_removed_are_there_again_for_the_next_reader() {
    let mut app = App::start(&["-t", "2:2"]);
    app.send(1);
    app.read();
    fs::remove_dir_all(&app.rings).expect("removed");
    let deadline = Instant::now() + PATIENCE;
    while !app.rings.exists() {
        assert!(Instant::now() < deadline, "they stay away");
        app.send(1);
        std::thread::sleep(Duration::from_millis(20));
    }
    app.read();
}

#[test]
fn what_somebody_planted_in_place_of_the_rings_is_not_touched() {
    let mut app = App::start(&["-t", "1:1"]);
    let precious = app.rings.with_file_name("precious");
    fs::create_dir(&precious).expect("made");
    fs::write(precious.join("7-0.ring"), "kept").expect("written");
    symlink(&precious, &app.rings).expect("linked");
    app.send(5);
    let mut rings = Rings::of_running(&app.rings);
    rings.poll();
    assert!(rings.running().is_some_and(|(_, unread)| unread.is_some()));
    drop(rings);
    let left = fs::read_dir(&precious).expect("read").count();
    assert_eq!(left, 1);
}

/// As from a user whose rings a reader with more rights reads.
#[test]
fn links_among_the_rings_are_not_followed() {
    let mut app = App::start(&["-t", "1:1"]);
    app.send(1);
    let mut rings = Rings::of_running(&app.rings);
    let secret = app.rings.with_file_name("secret");
    fs::write(&secret, "trouble: a secret").expect("written");
    symlink(&secret, app.rings.join("7.agent")).expect("linked");
    symlink(&secret, app.rings.join("7-0.ring")).expect("linked");
    fs::hard_link(&secret, app.rings.join("8.agent")).expect("linked");
    rings.poll();
    let told = format!("{:?}", rings.troubles());
    assert!(!told.contains("secret"), "{told}");
    drop(rings);
    assert_eq!(
        fs::read_to_string(&secret).expect("read"),
        "trouble: a secret"
    );
}
