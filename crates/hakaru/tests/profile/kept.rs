//! Commands on a stored profile, and a process on standby.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::Place;

const PROGRAM: &str = r#"
def early = spin(0.3)
def late = spin(0.3)
def common = spin(0.3)
ARGV.first == "b" ? late : early
common
"#;

#[test]
fn profiles_are_kept_shown_compared_and_exported() {
    let place = Place::new(PROGRAM);
    for argument in ["a", "b"] {
        let output = place.hakaru(&["profile", "--", "ruby", "program.rb", argument]);
        let page = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            page.contains("FLAME GRAPH") && page.contains("Kept as profile"),
            "{page}"
        );
    }
    let output = place.hakaru(&["profile", "diff", "1", "2", "--json"]);
    let diff: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let changed = |name: &str| {
        let mut frames = diff["frames"].as_array().expect("frames").iter();
        frames
            .find(|frame| frame["frame"] == name)
            .cloned()
            .expect("it changed")
    };
    assert_eq!(changed("Object#early")["sure"], true);
    assert_eq!(changed("Object#late")["sure"], true);
    assert_eq!(changed("Object#early")["after"]["share"], 0.0);
    let exported = |format: &str| {
        place
            .hakaru(&["profile", "export", "LAST", "--format", format])
            .stdout
    };
    let collapsed = String::from_utf8(exported("collapsed")).expect("text");
    assert!(
        collapsed.lines().any(|line| line.contains("Object#late;")),
        "{collapsed}"
    );
    let speedscope: Value = serde_json::from_slice(&exported("speedscope")).expect("JSON");
    assert_eq!(speedscope["profiles"][0]["type"], "sampled");
    let firefox: Value = serde_json::from_slice(&exported("firefox")).expect("JSON");
    assert!(
        firefox["threads"][0]["samples"]["length"]
            .as_u64()
            .is_some_and(|length| length > 10)
    );
    assert!(
        exported("pprof").starts_with(&[0x1f, 0x8b]),
        "it is gzipped"
    );
    let file = place.folder.path().join("other.txt");
    std::fs::write(&file, &collapsed).expect("written");
    let output = place.hakaru(&["profile", "show", "other.txt", "--around", "Object#late"]);
    let around = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        around.contains("called by") && around.contains("Object#spin"),
        "{around}"
    );
}

#[test]
fn a_process_that_stands_by_is_profiled_when_asked_and_only_then() {
    let place = Place::new(
        "$stdout.puts Process.pid\n$stdout.flush\nThread.new { $stdin.read; exit!(0) }\nloop { spin(0.01) }\n",
    );
    let mut standing = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(["profile", "--standby", "--", "ruby", "program.rb"])
        .current_dir(place.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("hakaru runs");
    let mut pid = String::new();
    let stdout = standing.stdout.take().expect("piped");
    BufReader::new(stdout)
        .read_line(&mut pid)
        .expect("the program's number");
    for _ in 0..2 {
        let output = place.hakaru(&["profile", "--json", "--pid", pid.trim(), "--for", "500ms"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let length = json["duration_s"].as_f64().unwrap_or_default();
        assert!((0.5..2.0).contains(&length), "{length} s");
        let fact = |name: &str| json["runtime"][name].as_f64().unwrap_or_default();
        assert!(
            fact("gc_live_slots_count") > 1e4 && fact("pss_bytes") > 1e6,
            "{}",
            json["runtime"]
        );
        let rows = json["inclusive"].as_array().expect("a table");
        assert!(
            rows.iter().any(|row| row["frame"] == "Object#spin"),
            "{rows:?}"
        );
    }
    // Its end of the pipe closes, and the program ends.
    drop(standing.stdin.take());
    assert_eq!(standing.wait().expect("it ends").code(), Some(0));
}
