//! `hakaru bench`: the real program with the Ruby in PATH, on files, scripts and commands.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Two ways, of which the first does the work ten times.
const TEN: &str =
    "prelude: |\n  x = 3\nbenchmark:\n  ten: 100.times { x + x }\n  one: 10.times { x + x }\n";

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .arg("bench")
        .args(arguments)
        .current_dir(folder)
        .env_remove("RUBYOPT")
        .output()
        .expect("hakaru runs")
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("it is written");
    }
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = run(folder, &[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)))
}

#[test]
fn scripts_of_one_ruby_are_compared_with_each_other() {
    let folder = folder(&[("app.yml", TEN)]);
    let bench = json(
        folder.path(),
        &["app.yml", "--run-duration", "2", "--repeat-count", "20"],
    );
    assert_eq!(
        (bench["format"].as_str(), bench["version"].as_u64()),
        (Some("hakaru-bench"), Some(1))
    );
    let row = &bench["rows"][0];
    let pair = &row["pairs"][0];
    assert_eq!(
        (pair["a"].as_str(), pair["b"].as_str()),
        (Some("ten"), Some("one"))
    );
    // Pairs are of seconds per turn.
    assert_eq!(pair["verdict"], "lower", "{pair}");
    let rate = |index: usize| {
        row["contenders"][index]["value"]
            .as_f64()
            .expect("a figure")
    };
    let ratio = rate(1) / rate(0);
    assert!((4.0..12.0).contains(&ratio), "{ratio}");
    assert_eq!(row["clock"], "cpu");
    let process = &row["contenders"][0]["processes"][0];
    assert!(
        process["loop_s"].as_f64().expect("a loop") > 0.0,
        "{process}"
    );
}

#[test]
fn failing_contenders_are_rows_that_say_so() {
    let scripts = "benchmark:\n  raises: raise 'planted'\n  ends: exit\n  breaks: break\n  hangs: sleep\n  works: '[3, 1, 2].sort'\n";
    let folder = folder(&[("app.yml", scripts)]);
    let output = run(
        folder.path(),
        &["app.yml", "--repeat-count", "2", "--timeout", "3s"],
    );
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{page}");
    for line in [
        "raises: failed: line 2:in `block in <main>': planted",
        "ends: failed: the script ended the process (exit)",
        "breaks: failed: the script leaves the loop it is measured in (break)",
        "hangs: did not end within 3 s",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    assert!(
        page.lines()
            .any(|line| line.trim_start().starts_with("works") && line.contains("i/s")),
        "{page}"
    );
}

#[test]
fn doubts_are_said_aloud() {
    let scripts = "prelude: |\n  grown = []\nbenchmark:\n  dropped: grown; nil\n  folded: x = 3 * 7\n  growing: grown.unshift(*Array.new(20, 1)); grown.sum\n";
    let folder = folder(&[("app.yml", scripts)]);
    let output = run(
        folder.path(),
        &["app.yml", "--run-duration", "2", "--repeat-count", "4"],
    );
    let page = text(&output.stdout)
        .replace("\n    ", " ")
        .replace("\n  ", " ");
    assert!(
        page.contains("dropped: the compiler drops the script"),
        "{page}"
    );
    assert!(
        page.contains("folded: all the script works on are literals"),
        "{page}"
    );
    assert!(
        page.contains("growing: becomes slower from turn to turn"),
        "{page}"
    );
}

#[test]
fn values_that_differ_between_contenders_are_named() {
    let folder = folder(&[]);
    let arguments = [
        "--script",
        "$VERBOSE.inspect",
        "-e",
        "quiet=ruby -W0",
        "-e",
        "loud=ruby -W2",
        "--budget",
        "2s",
    ];
    let bench = json(folder.path(), &arguments);
    let doubts = bench["doubts"].to_string();
    assert!(
        doubts.contains("quiet gives") && doubts.contains("loud gives"),
        "{doubts}"
    );
}

#[test]
fn benchmark_drivers_forms_have_its_rows_and_columns() {
    let folder = folder(&[("app.yml", TEN)]);
    let both = [
        "app.yml",
        "-e",
        "a::ruby;b::ruby --disable-gems",
        "--run-duration",
        "0.5",
    ];
    let form = |form: &str| {
        let output = run(folder.path(), &[&both[..], &["-o", form]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let shape = |expected: &str, printed: &str| {
        let expected = regex::Regex::new(expected).expect("a pattern");
        assert!(expected.is_match(printed), "{printed}");
    };
    shape(
        r"^Warming up -+\n +ten +[\d.]+k i/s - .* times in \d+\.\d{6}s \([\d.]+.s/i\)\n +one .*\nCalculating -+\n +a +b \n +ten +[\d.]+k +[\d.]+k i/s.*\n +one .*\n\nComparison:\n +ten\n +[ab]: +[\d.]+ i/s \n +[ab]: +[\d.]+ i/s - \d+\.\d\dx  slower\n\n",
        &form("compare"),
    );
    shape(
        r"^Iteration per second \(i/s\):\n +a +b  \nten +[\d.]+k +[\d.]+[kM]  \none .*\n$",
        &form("simple"),
    );
    shape(
        r"^# Iteration per second \(i/s\)\n\n\|     \| +a\| +b\|\n\|:----\|:-+\|:-+\|\n\|ten  \| *[\d.]+k\|",
        &form("markdown"),
    );
    form("record");
    let again = run(
        folder.path(),
        &["benchmark_driver.record.yml", "-o", "simple"],
    );
    shape(
        r"^Iteration per second \(i/s\):\n +a +b  \nten ",
        &text(&again.stdout),
    );
    form("gruff");
    let picture = std::fs::read_to_string(folder.path().join("graph.svg")).expect("a picture");
    assert!(
        picture.starts_with("<svg") && picture.contains(">ten<"),
        "{picture}"
    );
}

#[test]
fn programs_that_print_their_own_figure_are_measured() {
    let file = "type: ruby_stdout\nname: printer\ncommand: printer.rb\nworking_directory: .\nmetrics:\n  fps:\n    unit: fps\n    from_stdout: stdout[/fps (.*)/, 1].to_f\nenvironment:\n  sum:\n    from_stdout: stdout[/sum (.*)/, 1]\n";
    let printer = "puts \"fps 59.5\", \"sum 0x1f\"\n";
    let folder = folder(&[("app.yml", file), ("printer.rb", printer)]);
    let page = run(folder.path(), &["app.yml", "--repeat-count", "2"]);
    let page = text(&page.stdout);
    assert!(page.contains(": sum 0x1f\n"), "{page}");
    let bench = json(folder.path(), &["app.yml", "--repeat-count", "2"]);
    let row = &bench["rows"][0];
    assert_eq!(row["contenders"][0]["trial"]["environment"]["sum"], "0x1f");
    assert_eq!(row["metric"]["unit"], "fps");
    let value = row["contenders"][0]["value"].as_f64().expect("a figure");
    assert!((value - 59.5).abs() < 1e-9, "{value}");
}

#[test]
fn every_runner_measures() {
    let folder = folder(&[("app.yml", "loop_count: 2000\nbenchmark: '[3, 1, 2].sort'\n")]);
    for (runner, unit) in [
        ("time", "s"),
        ("memory", "bytes"),
        ("once", "s"),
        ("block", "i/s"),
        ("ips", "i/s"),
    ] {
        let bench = json(
            folder.path(),
            &["app.yml", "-r", runner, "--repeat-count", "2"],
        );
        let row = &bench["rows"][0];
        assert_eq!(row["metric"]["unit"], unit);
        assert!(
            row["contenders"][0]["value"]
                .as_f64()
                .is_some_and(|value| value > 0.0),
            "{runner}: {row}"
        );
    }
}

#[test]
fn commands_are_measured_as_hyperfine_does() {
    let folder = folder(&[]);
    let output = run(
        folder.path(),
        &[
            "--budget",
            "6s",
            "-L",
            "seconds",
            "0.01,0.03",
            "--prepare",
            "echo {seconds} >> log",
            "--export-json",
            "out.json",
            "--export-markdown",
            "out.md",
            "--",
            "sleep {seconds}",
        ],
    );
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{page}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    let results: Value = serde_json::from_str(&read("out.json")).expect("JSON");
    let mean = |index: usize| results["results"][index]["mean"].as_f64().expect("a mean");
    assert!(mean(0) >= 0.01 && mean(1) >= 0.03, "{results}");
    assert_eq!(results["results"][1]["command"], "sleep 0.03");
    let times = results["results"][0]["times"]
        .as_array()
        .expect("times")
        .len();
    assert!(
        read("log").lines().filter(|line| *line == "0.01").count() > times,
        "prepare runs before each"
    );
    assert!(
        read("out.md").contains("| `sleep 0.03` |"),
        "{}",
        read("out.md")
    );
}

#[test]
fn what_is_wrong_ends_with_a_message() {
    let folder = folder(&[("app.yml", "benchmark: x\nprelud: y\n")]);
    let check = |arguments: &[&str], expected: &str| {
        let output = run(folder.path(), arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
    };
    check(
        &["app.yml"],
        "app.yml:2:1: unknown key `prelud`; did you mean `prelude`?",
    );
    check(&["app.yml"], "  2 | prelud: y\n    | ^");
    check(&[], "nothing to measure");
    check(&["nothing.yml"], "cannot read nothing.yml");
    check(
        &["--script", "x", "-r", "fast"],
        "no runner is called `fast`",
    );
    check(
        &["--script", "x", "-e", "/no/ruby"],
        "/no/ruby is not a program",
    );
}

#[test]
fn the_name_benchmark_driver_prints_its_form() {
    let folder = folder(&[("app.yml", TEN)]);
    let hakaru = env!("CARGO_BIN_EXE_hakaru");
    let links = Command::new(hakaru)
        .args(["links", "bin"])
        .current_dir(folder.path())
        .output()
        .expect("hakaru runs");
    assert!(links.status.success(), "{}", text(&links.stderr));
    let driver = |arguments: &[&str]| {
        let output = Command::new(folder.path().join("bin/benchmark-driver"))
            .args(arguments)
            .current_dir(folder.path())
            .env_remove("RUBYOPT")
            .output()
            .expect("the name runs");
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, form, talk) = driver(&[
        "app.yml",
        "-r",
        "ips",
        "-eruby::ruby;bare::ruby --disable-gems",
        "--filter",
        "one",
        "--filter",
        "^o",
        "--repeat-count=2",
        "--repeat-result",
        "best",
        "--run-duration",
        "0.3",
        "--timeout",
        "60",
        "--alternate",
        "-vv",
    ]);
    assert_eq!(code, Some(0), "{form}{talk}");
    assert!(form.starts_with("Warming up ----"), "{form}{talk}");
    let header = form
        .lines()
        .any(|line| line.split_whitespace().eq(["ruby", "bare"]));
    assert!(header && form.contains("Comparison:"), "{form}");
    let (_, form, _) = driver(&[
        "app.yml",
        "--run-duration",
        "0.2",
        "--repeat-count",
        "2",
        "-o",
        "simple",
    ]);
    assert!(!form.contains("Comparison:"), "{form}");
    assert_eq!(driver(&["--version"]).1, "0.17.0\n");
    assert!(driver(&[]).1.contains("Usage:"));
    let (code, _, talk) = driver(&["app.yml", "--ridkuse", "3.3"]);
    assert_eq!(code, Some(2));
    assert!(talk.contains("Windows"), "{talk}");
}

/// A gem of two versions, stored like RubyGems does.
fn gems() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    for (version, turns) in [("1.0.0", 100), ("2.0.0", 1000)] {
        let lib = home.path().join(format!("gems/planted-{version}/lib"));
        let specifications = home.path().join("specifications");
        std::fs::create_dir_all(&lib).expect("a folder");
        std::fs::create_dir_all(&specifications).expect("a folder");
        std::fs::write(lib.join("planted.rb"), format!("PLANTED = {turns}\n")).expect("a file");
        let specification = format!(
            "Gem::Specification.new do |s|\n  s.name = 'planted'\n  s.version = '{version}'\n  s.summary = s.name\n  s.authors = ['test']\n  s.require_paths = ['lib']\nend\n"
        );
        let path = specifications.join(format!("planted-{version}.gemspec"));
        std::fs::write(path, specification).expect("a file");
    }
    home
}

#[test]
fn contexts_load_their_own_version_of_a_gem() {
    let file = "contexts:\n  - name: old\n    gems: { planted: 1.0.0 }\n  - gems: { planted: 2.0.0 }\nprelude: turns = PLANTED\nbenchmark:\n  turns: i = 0; i += 1 while i < turns; turns\n";
    let home = gems();
    // An unpacked Ruby sets GEM_HOME itself.
    let paths = format!(
        "Gem.paths = %w[GEM_HOME GEM_PATH].to_h {{ |name| [name, {:?}] }}\n",
        home.path()
    );
    let folder = folder(&[("app.yml", file), ("home.rb", &paths)]);
    let ruby = format!("ruby -r{}", folder.path().join("home.rb").display());
    let arguments = [
        "app.yml",
        "-e",
        &ruby,
        "--run-duration",
        "0.3",
        "--repeat-count",
        "16",
    ];
    let bench = json(folder.path(), &arguments);
    let row = &bench["rows"][0];
    let seen = [0, 1].map(|index| {
        let contender = &row["contenders"][index];
        [&contender["name"], &contender["trial"]["value"]].map(|one| one.as_str().unwrap_or("?"))
    });
    assert_eq!(seen, [["old", "100"], ["planted 2.0.0", "1000"]], "{row}");
    assert_eq!(row["pairs"][0]["verdict"], "higher", "{row}");
}

#[test]
fn objects_that_stay_are_told_beside_those_of_the_others() {
    let file = "prelude: kept = []\nloop_count: 20000\nbenchmark:\n  keeps: kept << Object.new\n  drops: Object.new\n";
    let folder = folder(&[("app.yml", file)]);
    let page = run(folder.path(), &["app.yml", "--repeat-count", "2"]);
    let page = text(&page.stdout);
    assert!(
        page.contains("keeps keeps 1.00 objects per turn more than drops"),
        "{page}"
    );
    let bench = json(folder.path(), &["app.yml", "--repeat-count", "2"]);
    let pair = &bench["rows"][0]["pairs"][0];
    let more = pair["retained_more_per_turn"].as_f64().expect("a figure");
    assert!((more.abs() - 1.0).abs() < 0.01, "{pair}");
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    use std::io::Read;
    let folder = folder(&[]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args([
            "bench",
            "--budget",
            "100s",
            "--prepare",
            "echo x >> log",
            "--",
            "true",
            "true 1",
        ])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("hakaru runs");
    let log = folder.path().join("log");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    // Twenty commands are several blocks.
    while std::fs::read_to_string(&log)
        .unwrap_or_default()
        .lines()
        .count()
        < 20
    {
        assert!(std::time::Instant::now() < deadline, "nothing was measured");
        std::thread::yield_now();
    }
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let mut page = String::new();
    child
        .stdout
        .take()
        .expect("a pipe")
        .read_to_string(&mut page)
        .expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{page}");
    assert!(
        page.contains("interrupted after") && page.contains("true 1"),
        "{page}"
    );
}

#[test]
fn ctrl_c_before_any_figure_says_so_of_every_row() {
    let folder = folder(&[]);
    let scripts = ["a", "b"].map(|name| format!("{name}=File.write('began', ''); sleep"));
    let child = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(["bench", "--script", &scripts[0], "--script", &scripts[1]])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("hakaru runs");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !folder.path().join("began").exists() {
        assert!(std::time::Instant::now() < deadline, "no script began");
        std::thread::yield_now();
    }
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{page}");
    let rows = page.matches("not measured before the end").count();
    assert_eq!(rows, 2, "{page}");
}

#[test]
fn the_page_is_one_file_in_both_languages() {
    let folder = folder(&[("app.yml", TEN)]);
    let output = run(
        folder.path(),
        &[
            "app.yml", "--budget", "3s", "--html", "out.html", "--lang", "ja",
        ],
    );
    assert!(
        text(&output.stdout).contains("最良との比"),
        "{}",
        text(&output.stdout)
    );
    let page = std::fs::read_to_string(folder.path().join("out.html")).expect("a page");
    assert!(
        page.contains("<svg")
            && page.contains("lang=\"ja\"")
            && !page.contains("http://")
            && !page.contains("https://"),
        "{page}"
    );
}

#[test]
fn every_workload_gives_its_answer() {
    let folder = folder(&[]);
    let bench = json(
        folder.path(),
        &["workloads", "--run-duration", "0.1", "--repeat-count", "2"],
    );
    let rows = bench["rows"].as_array().expect("rows");
    assert!(rows.len() >= 18, "{}", rows.len());
    for row in rows {
        let contender = &row["contenders"][0];
        assert!(
            contender["missing"].is_null(),
            "{}: {}",
            row["name"],
            contender["missing"]
        );
        assert!(
            contender["value"].as_f64().is_some_and(|value| value > 0.0),
            "{row}"
        );
    }
}

#[test]
fn what_was_kept_can_be_compared_with_and_listed() {
    let folder = folder(&[("app.yml", TEN)]);
    let short = [
        "app.yml",
        "--filter",
        "one",
        "-e",
        "ruby --disable-gems",
        "--run-duration",
        "0.5",
        "--repeat-count",
        "12",
    ];
    let with = |more: &[&str]| run(folder.path(), &[&short[..], more].concat());
    assert_eq!(with(&["--save", "base"]).status.code(), Some(0));
    let again = with(&["--against", "base", "--record"]);
    let page = text(&again.stdout);
    assert!(page.contains("beside base of 20"), "{page}");
    // The machine may have drifted meanwhile; then nothing is claimed, and said so.
    assert!(page.contains("  one, ruby --disable-gems: "), "{page}");
    let log = text(&run(folder.path(), &["log"]).stdout);
    assert_eq!(
        log.lines().filter(|line| line.contains("i/s")).count(),
        2,
        "{log}"
    );
    let missing = with(&["--against", "nothing"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        text(&missing.stderr).contains("no bench was kept as nothing in this folder (base)"),
        "{}",
        text(&missing.stderr)
    );
}

/// A stored bench of a job with a given time.
fn kept_bench(number: usize, seconds: f64) -> store::StoredBench {
    let seconds = seconds * (1.0 + 0.002 * (number * 7 % 5) as f64);
    let processes =
        vec![serde_json::json!({"cpu_s": seconds, "wall_s": seconds, "core_pace_ns": 100.0}); 12];
    let contender =
        serde_json::json!({"name": "ruby", "value": 1.0 / seconds, "processes": processes});
    let metric = serde_json::json!({"unit": "i/s", "larger_is_better": true});
    let row = serde_json::json!({"name": "join", "clock": "cpu", "metric": metric, "contenders": [contender]});
    store::StoredBench {
        started_at_unix_ms: 1_700_000_000_000 + number as i64 * 86_400_000,
        name: String::new(),
        commit: format!("{number:040x}"),
        dirty: String::new(),
        machine: "a machine".into(),
        document: serde_json::json!({"rows": [row]}).to_string(),
    }
}

#[test]
fn the_log_says_where_the_level_changed() {
    let folder = folder(&[]);
    let kept = store::Store::open(folder.path()).expect("a store");
    for number in 0..24 {
        let seconds = if (8..16).contains(&number) { 1.2 } else { 1.0 };
        kept.put_bench(&kept_bench(number, seconds))
            .expect("it is kept");
    }
    let page = text(&run(folder.path(), &["log", "--html", "log.html"]).stdout);
    let lines: Vec<&str> = page.lines().collect();
    let at = |sentence: &str| lines.iter().position(|line| line.contains(sentence));
    // The title, eight benches, then the change.
    assert_eq!(at("▼ 1.20x worse from here on"), Some(9), "{page}");
    assert_eq!(at("▲ 1.20x better from here on"), Some(18), "{page}");
    let html = std::fs::read_to_string(folder.path().join("log.html")).expect("the page");
    assert_eq!(html.matches("<circle").count(), 24);
    assert_eq!(html.matches("<li>").count(), 2, "{html}");
    let json = text(&run(folder.path(), &["log", "--json"]).stdout);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let contender = &json["contenders"][0];
    assert_eq!(
        (&json["format"], &contender["job"]),
        (&"hakaru-bench-log".into(), &"join".into())
    );
    assert_eq!(contender["benches"][8]["level"], 1, "{json:#}");
    let worse = contender["levels"][1]["ratio"].as_f64().expect("a ratio");
    assert!((worse - 1.0 / 1.2).abs() < 0.01, "{worse}");
}

/// Five commits, of which the fourth makes the work three times as much.
fn repository() -> tempfile::TempDir {
    let folder = folder(&[("app.yml", "prelude: require './work'\nbenchmark: work\n")]);
    let git = |arguments: &[&str]| {
        let name = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
        let done = Command::new("git")
            .args(name)
            .args(arguments)
            .current_dir(folder.path())
            .output();
        assert!(done.expect("git runs").status.success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    for commit in 0..5 {
        let times = if commit < 3 { 100 } else { 300 };
        let code = format!("# {commit}\ndef work = {times}.times {{ |number| number * 3 }}\n");
        std::fs::write(folder.path().join("work.rb"), code).expect("it is written");
        git(&["add", "work.rb"]);
        git(&["commit", "--quiet", "-m", &format!("change {commit}")]);
    }
    folder
}

#[test]
fn the_commit_that_made_it_slower_is_found() {
    let folder = repository();
    let output = run(
        folder.path(),
        &[
            "app.yml",
            "--git",
            "HEAD~4..HEAD",
            "-e",
            "ruby --disable-gems",
            "--run-duration",
            "1",
            "--repeat-count",
            "16",
        ],
    );
    let page = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{page}{}",
        text(&output.stderr)
    );
    assert!(
        page.contains("the first commit that differs: ") && page.contains("change 3"),
        "{page}"
    );
    let left = Command::new("git")
        .args(["worktree", "list"])
        .current_dir(folder.path())
        .output()
        .expect("git runs");
    assert_eq!(
        text(&left.stdout).lines().count(),
        1,
        "worktrees are taken back"
    );
}

#[test]
fn scripts_with_benchmark_drivers_interface_are_read() {
    let script = "require 'benchmark_driver'\n\nBenchmark.driver do |x|\n  x.prelude <<-EOS\n    array = []\n  EOS\n  x.report 'Array#empty?', %{ array.empty? }\n  x.report %{ array.size }\n  x.output 'markdown'\n  x.loop_count 20_000\n  x.executable name: 'quick', command: ['ruby', '--disable-gems']\nend\n";
    let folder = folder(&[("empty.rb", script)]);
    let output = run(folder.path(), &["empty.rb", "--repeat-count", "2"]);
    let table = text(&output.stdout);
    assert!(
        table.starts_with("# Iteration per second (i/s)"),
        "{table}{}",
        text(&output.stderr)
    );
    assert!(
        table.contains("quick|") && table.contains("|Array#empty?"),
        "{table}"
    );
}

#[test]
fn the_two_fastest_are_profiled() {
    let folder = folder(&[("app.yml", TEN)]);
    let output = run(
        folder.path(),
        &[
            "app.yml",
            "--run-duration",
            "0.3",
            "--repeat-count",
            "2",
            "--profile",
            "--html",
            "out.html",
        ],
    );
    let page = text(&output.stdout);
    // Which of its lines grew, or whether one did, is the host's affair.
    let has_difference = page.contains("(95 % bounds)") && page.contains("script.rb:");
    assert!(has_difference, "{page}{}", text(&output.stderr));
    assert!(
        !page.contains("+100.0"),
        "frames of both are the same: {page}"
    );
    let stderr = text(&output.stderr);
    assert!(stderr.contains("hakaru profile diff 1 2"), "{stderr}");
    let written = std::fs::read_to_string(folder.path().join("out.html")).expect("a page");
    let flames = written.split("<iframe").nth(1).unwrap_or_default();
    let is_of_both = flames.contains("hakaru-profile-diff") && flames.contains("script.rb");
    assert!(is_of_both, "{stderr}");
}
