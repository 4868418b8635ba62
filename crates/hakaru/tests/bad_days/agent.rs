//! Apps and Rubies with obstacles for the agent.

use std::fmt::Write;

use crate::support::{Ended, FullDisk, HELLO, Project};

/// Runs the project, and asserts an app-side record of every answered request.
fn run_seen_inside(project: &Project) -> Ended {
    let said = project.end(&["run", "--json"]);
    check_seen_inside(&said);
    said
}

/// Asserts an app-side record of every answered request of a run's JSON.
pub(crate) fn check_seen_inside(said: &Ended) {
    said.check(0, &[]);
    let json = said.json();
    assert_eq!(json["troubles"].to_string(), "[]", "{said}");
    let routes = json["routes"].as_array().expect("routes");
    assert!(!routes.is_empty(), "no route in{said}");
    for route in routes {
        let number = |key: &str| route[key].as_f64().unwrap_or_default();
        // Of a dense load, one that is missing stands for as many as one that was told of.
        let weight = (number("requests") - number("unseen")) / number("told").max(1.0);
        let missing = number("unseen") / weight.max(1.0);
        assert!(
            missing < 2.5,
            "{missing} unseen of {route}\n{}\nin{said}",
            json["agent"]
        );
        assert!(!route["balance_ms"].is_null(), "no balance in{said}");
    }
}

#[test]
fn an_ordinary_app_is_seen_inside() {
    let said = run_seen_inside(&Project::new(HELLO));
    assert!(
        said.json()["agent"]["cpu_us_per_request"].is_number(),
        "{said}"
    );
}

#[test]
fn a_dense_load_is_looked_at_in_part() {
    let project = Project::new(HELLO);
    project.configure(
        &format!("command = '{}'", project.puma("-t 2:2")),
        "[load]\nconnections = 8\nwarmup = '1s'\nduration = '3s'",
    );
    let said = run_seen_inside(&project);
    let json = said.json();
    let number = |key: &str| json["routes"][0][key].as_f64().expect(key);
    // Some 2,500 a second are wanted, and half as many more are not thinned out again.
    let (requests, told) = (number("requests"), number("told"));
    assert!(told < 3.0 * 2_500.0 * 1.8, "{told} of {requests} in{said}");
    let is_thinned = told + number("unseen") < requests;
    assert!(
        is_thinned || requests < 3.0 * 2_500.0 * 1.5,
        "{told} in{said}"
    );
    let page = project.end(&["report", "--full"]);
    match is_thinned {
        true => page.check(0, &["drawn at random"]),
        false => page.check_silent_on("drawn at random"),
    }
}

#[test]
fn a_preloaded_cluster_is_seen_inside_and_its_master_does_not_look_like_an_old_ruby() {
    let project = Project::with_puma("-w 2 --preload -t 1:1", HELLO);
    run_seen_inside(&project);
    project
        .end(&["report", "--full"])
        .check(0, &["2 × 1 threads"]);
    project
        .end(&["report", "--full"])
        .check_silent_on("Ruby 3.2");
}

#[test]
fn an_app_that_forks_is_seen_and_its_children_leave_no_trouble() {
    let app = "run ->(env) { Process.wait(fork { exit!(0) }); [200, {}, []] }\n";
    let project = Project::new(app);
    run_seen_inside(&project);
}

#[test]
fn a_ruby_that_the_app_executes_inherits_the_agent_and_is_left_alone() {
    let app = r#"
        run ->(env) do
          said = IO.popen(["ruby", "--disable-gems", "-e", "print RUBY_VERSION, $stderr.fileno"], &:read)
          [200, {}, [said]]
        end
    "#;
    let project = Project::new(app);
    project.write(
        "child.hurl",
        "GET /\nHTTP 200\n[Asserts]\nbody matches \"^3[.0-9]+2$\"\n",
    );
    let target = format!("command = '{}'", project.puma("-t 2:2"));
    project.configure(&target, "[[flow]]\nfile = 'child.hurl'");
    run_seen_inside(&project);
    project
        .end(&["report", "--full"])
        .check_silent_on("Ruby 3.2");
}

#[test]
fn an_app_that_executes_itself_anew_keeps_the_agent() {
    let project = Project::new(HELLO);
    let puma = project.puma("-t 2:2");
    project.write("boot.rb", &format!("exec(*{puma:?}.split)\n"));
    project.configure("command = 'ruby --disable-gems boot.rb'", "");
    run_seen_inside(&project);
}

#[test]
fn an_app_that_replaces_rubyopt_runs_and_the_page_says_what_to_do() {
    let project = Project::new(HELLO);
    let command = format!("env RUBYOPT=-W0 {}", project.puma("-t 2:2"));
    project.configure(&format!("command = '{command}'"), "");
    let parts = [
        "the agent was not loaded into any process",
        "replaces RUBYOPT",
        "let the command keep RUBYOPT",
    ];
    project.run().check(0, &parts);
    assert!(project.report()["requests"].as_u64() > Some(0));
}

#[test]
fn without_the_agent_the_page_says_why_nothing_is_seen_inside() {
    let project = Project::new(HELLO);
    project
        .end(&["run", "--no-agent"])
        .check(0, &["--no-agent", "no view from inside"]);
}

/// Digests of the stored run, each with the number of executions.
fn statements(project: &Project) -> Vec<(String, u64)> {
    let kept = project.report();
    let all = kept["sql"].as_array().expect("statements").iter();
    all.map(|sql| {
        let digest = sql["digest"].as_str().expect("a digest").to_owned();
        (digest, sql["count"].as_u64().expect("a count"))
    })
    .collect()
}

/// Loads the driver at the second request.
const LATE_DRIVER: &str = r#"
$mutex, $seen = Mutex.new, 0
def database
  $mutex.synchronize do
    return nil if ($seen += 1) < 2
    require "sqlite3"
    $database ||= SQLite3::Database.new(":memory:")
    $database.execute("SELECT 41 + 1")
  end
end
run ->(env) { database; [200, {}, []] }
"#;

#[test]
fn a_driver_that_is_loaded_late_is_seen() {
    let project = Project::new(LATE_DRIVER);
    let said = run_seen_inside(&project);
    let requests = said.json()["requests"].as_u64().expect("a count");
    let seen = statements(&project);
    let count = seen
        .iter()
        .find(|(digest, _)| digest.starts_with("SELECT"))
        .map(|(_, count)| *count);
    assert!(count >= Some(requests - 4), "{seen:?} of {requests}");
}

/// Chains the hooked method in the manner of old gems, after the agent's prepend.
const CHAINED: &str = r#"
require "sqlite3"
$mutex, $chained = Mutex.new, false
def chain
  SQLite3::Database.class_eval do
    alias_method :execute_unchained, :execute
    def execute(*arguments, &block)
      $calls = $calls.to_i + 1
      execute_unchained(*arguments, &block)
    end
  end
end
$database = SQLite3::Database.new(":memory:")
run ->(env) do
  $mutex.synchronize do
    $database.execute("SELECT 1")
    $chained or ($chained = true; chain)
    rows = $database.execute("SELECT 6 * 7")
    [200, {}, [rows.inspect]]
  end
end
"#;

#[test]
fn a_method_that_another_gem_chains_later_still_answers_and_counts_once() {
    let project = Project::new(CHAINED);
    project.write(
        "chain.hurl",
        "GET /\nHTTP 200\n[Asserts]\nbody == \"[[42]]\"\n",
    );
    let target = format!("command = '{}'", project.puma("-t 2:2"));
    project.configure(&target, "[[flow]]\nfile = 'chain.hurl'");
    let said = run_seen_inside(&project);
    let requests = said.json()["requests"].as_u64().expect("a count");
    let executed: u64 = statements(&project).iter().map(|(_, count)| count).sum();
    assert!(
        executed <= 2 * (requests + 2) && executed + 6 >= 2 * requests,
        "{executed} executions in {requests} requests of two each"
    );
}

#[test]
fn a_ring_that_overflows_is_counted_and_told() {
    let mut app = String::from("require 'sqlite3'\n$mutex = Mutex.new\n$count = 0\n");
    // Each request brings 200 statements never seen before, whose texts are 100 KB together.
    app.push_str(
        "$database = SQLite3::Database.new(':memory:')\n\
         def ask\n\
           200.times { $database.execute(\"SELECT 1 AS a#{'b' * 500}#{$count += 1}\") }\n\
         end\n",
    );
    let _ = writeln!(
        app,
        "run ->(env) {{ $mutex.synchronize {{ ask }}; [200, {{}}, []] }}"
    );
    let project = Project::new(&app);
    let target = format!(
        "command = '{}'\nenv = {{ HAKARU_RING_KIB = '64' }}",
        project.puma("-t 2:2")
    );
    project.configure(&target, "");
    project
        .run()
        .check(0, &["of the app's records were lost", "HAKARU_RING_KIB"]);
    let kept = project.report();
    assert!(kept["agent"]["dropped"].as_u64() > Some(0), "{kept:#}");
    assert!(kept["requests"].as_u64() > Some(0), "{kept:#}");
}

#[test]
fn rings_that_do_not_fit_are_told_and_the_run_goes_on() {
    let project = Project::new(HELLO);
    let target = format!(
        "command = '{}'\nenv = {{ HAKARU_RING_KIB = '65536' }}",
        project.puma("-t 2:2")
    );
    project.configure(&target, "");
    let disk = FullDisk {
        folder: std::path::Path::new("/dev/shm"),
        kib: 20 << 10,
        file_kib: 20 << 10,
    };
    let said = disk.start(&project, "\"$HAKARU\" run").end();
    said.check(0, &["cannot make a ring in /dev/shm", "make room there"]);
    said.check_silent_on("let hakaru start the app");
    said.check_silent_on("RUBYOPT");
    assert!(project.report()["requests"].as_u64() > Some(0));
}

#[test]
fn ruby_3_1_is_measured_without_the_gvl_part_and_told_so() {
    let wrapper = std::env::var("HAKARU_RUBY31").expect("HAKARU_RUBY31 is not set; run bin/test");
    let project = Project::new(HELLO);
    let command = format!("{wrapper} {}", project.puma("-t 2:2"));
    project.configure(&format!("command = '{command}'"), "");
    project
        .run()
        .check(0, &["ruby 3.1", "use Ruby 3.2 or later"]);
    let kept = project.report();
    let route = &kept["routes"][0];
    assert!(route["unseen"].as_u64() <= Some(2), "{kept:#}");
    assert_eq!(route["balance_ms"]["gvl_wait"], 0.0, "{kept:#}");
    assert!(
        route["balance_ms"]["queue"].as_f64() > Some(0.0),
        "{kept:#}"
    );
}
