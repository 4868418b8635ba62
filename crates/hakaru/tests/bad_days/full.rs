//! No room: on the disk of the recordings, in the shared memory of the agent's rings.

use std::path::Path;

use crate::support::{COUNTING, FullDisk, HELLO, Project};

/// Shell script of a run and a report, both on a disk unmounted with the shell.
const RUN_AND_REPORT: &str =
    "\"$HAKARU\" run >run.txt; code=$?; \"$HAKARU\" report --json >report.json; exit $code";

fn with_folder() -> Project {
    let project = Project::new(HELLO);
    std::fs::create_dir(project.path.join(".hakaru")).expect("a folder");
    project
}

#[test]
fn a_disk_that_is_full_before_the_run() {
    let project = with_folder();
    let disk = FullDisk {
        folder: &project.path.join(".hakaru"),
        kib: 8,
        file_kib: 8,
    };
    let said = disk.start(&project, "\"$HAKARU\" run --json").end();
    said.check(8, &["this run will not be kept", "hakaru.db"]);
    let json = said.json();
    assert!(json["requests"].as_u64() > Some(0), "{said}");
    assert!(json["number"].is_null(), "{said}");
    let troubles = json["troubles"].to_string();
    assert!(
        troubles.contains("this run is not kept") && troubles.contains("make room"),
        "{said}"
    );
}

#[test]
fn a_disk_that_fills_up_during_the_run() {
    let app = format!(
        "{COUNTING}
         def fill = File.open('.hakaru/filler', 'wb') {{ |file| loop {{ file.syswrite('x' * 1024) }} }} rescue nil
         run ->(env) {{ served(20) and fill; [200, {{}}, []] }}"
    );
    let project = with_folder();
    project.write("config.ru", &app);
    let disk = FullDisk {
        folder: &project.path.join(".hakaru"),
        kib: 256,
        // Tables and the run's row fit, its first second does not.
        file_kib: 40,
    };
    let said = disk.start(&project, RUN_AND_REPORT).end();
    said.check(8, &["the run goes on in memory"]);
    let page = project.read("run.txt");
    assert!(
        page.contains("this run is not kept") && page.contains("GET /"),
        "{page}"
    );
    let kept = project.read("report.json");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("what was kept until then");
    assert_eq!(kept["ended_early"], "cut off", "{kept:#}");
}

#[test]
fn a_database_that_is_damaged_in_its_middle_is_noticed_before_the_load() {
    let project = Project::new(HELLO);
    project.run().check(0, &["HAKARU RUN 1"]);
    // Opening the store folds the log of the last commits into the file when the last reader closes
    // it.
    project.end(&["log"]).check(0, &[]);
    let path = project.path.join(".hakaru/hakaru.db");
    let mut bytes = std::fs::read(&path).expect("the database");
    let (first, last) = (bytes.len() / 3, bytes.len() * 2 / 3);
    bytes[first..last].fill(0x5a);
    std::fs::write(&path, &bytes).expect("it is damaged");
    let said = project.run();
    said.check(
        8,
        &["is damaged", "move it aside", "this run will not be kept"],
    );
    let warned = said.stderr.find("is damaged");
    assert!(warned < said.stderr.find("loading"), "{said}");
    let after = std::fs::read(&path).expect("the database");
    assert!(after == bytes, "it is left as it was");
}

#[test]
fn a_folder_that_cannot_be_written() {
    let project = Project::new(HELLO);
    project.write(".hakaru", "a file where the folder should be");
    let said = project.run();
    said.check(8, &["this run will not be kept", ".hakaru", "GET /"]);
}

#[test]
fn shared_memory_without_room_for_rings_is_passed_by() {
    let project = Project::new(HELLO);
    let disk = FullDisk {
        folder: Path::new("/dev/shm"),
        kib: 64,
        // What the app and the recording need; it is the room that is asked for here.
        file_kib: 1 << 20,
    };
    let said = disk.start(&project, "\"$HAKARU\" run --json").end();
    said.check(0, &[]);
    assert!(said.json()["requests"].as_u64() > Some(0), "{said}");
    assert_eq!(said.json()["troubles"].to_string(), "[]", "{said}");
}
