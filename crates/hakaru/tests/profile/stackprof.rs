//! Dumps of the real stackprof.

use std::process::Command;

use serde_json::Value;

use crate::support::Place;

/// Inclusive share of each method, by the method's row.
fn shares(place: &Place, file: &str, methods: [&str; 3]) -> [f64; 3] {
    let output = place.hakaru(&["profile", "show", file, "--json"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{file}: {stderr}");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = json["inclusive"].as_array().expect("rows");
    methods.map(|method| {
        let row = rows.iter().find(|row| row["frame"] == method);
        let share = row.and_then(|row| row["share"].as_f64());
        share.unwrap_or_else(|| panic!("{file} has no {method}: {rows:?}"))
    })
}

#[test]
fn dumps_of_stackprof_say_what_stackprof_says() {
    let place = Place::new(
        r#"
require "stackprof"
def heavy = spin(0.6)
def light = spin(0.2)
def both = (heavy; light)
results = StackProf.run(mode: :cpu, interval: 1000, raw: true) { both }
File.binwrite("raw.dump", Marshal.dump(results))
File.write("raw.json", JSON.generate(results))
%w[both heavy light].each do |name|
  frame = results[:frames].values.find { |one| one[:name] == "Object##{name}" }
  told(name, frame[:total_samples].fdiv(results[:samples]))
end
StackProf.run(mode: :wall, interval: 1000, raw: true, out: "wall.dump") { sleep 0.05; light }
"#,
    );
    let ran = Command::new("ruby")
        .arg("program.rb")
        .current_dir(place.folder.path())
        .output()
        .expect("ruby runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.success(),
        "{said}; `cargo xtask test` installs stackprof"
    );
    let truth = std::fs::read(place.folder.path().join("truth.json")).expect("told");
    let truth: Value = serde_json::from_slice(&truth).expect("JSON");
    let methods = ["Object#both", "Object#heavy", "Object#light"];
    let wanted = ["both", "heavy", "light"].map(|name| truth[name].as_f64().expect("a share"));
    for file in ["raw.dump", "raw.json"] {
        let read = shares(&place, file, methods);
        for (index, method) in methods.iter().enumerate() {
            assert!(
                (read[index] - wanted[index]).abs() < 1e-9,
                "{file}: {method} has {}, stackprof says {}",
                read[index],
                wanted[index]
            );
        }
    }
    let wall = place.hakaru(&["profile", "show", "wall.dump"]);
    let page = String::from_utf8_lossy(&wall.stdout);
    // Which of its callers the small page has room for is not said; who spins is.
    for part in ["mode wall", "Object#spin"] {
        assert!(page.contains(part), "{page}");
    }
}
