//! Profilers, another allocator, and Ractors beside the agent and the sampler.

use super::{answers, check_with};
use crate::support::Puma;

/// Stacks are sampled ten times as often as in a run.
const SAMPLED: [(&str, &str); 1] = [("HAKARU_PROFILE", "wall 1000 request")];

#[test]
fn ruby_prof_counts_what_it_counts_without_us() {
    let app = r#"
require "ruby-prof"
require "sqlite3"
DB = SQLite3::Database.new(":memory:")
def work = DB.execute("SELECT 41 + 1 AS n").flatten
run ->(env) do
  profile = RubyProf::Profile.new
  profile.start
  5.times { work }
  result = profile.stop
  own = result.threads.flat_map(&:methods).select { |method| method.full_name.end_with?('#work') }
  [200, {}, [own.map(&:called).inspect]]
end
"#;
    check_with(
        &SAMPLED,
        app,
        &[("/a", "[5]"), ("/b", "[5]"), ("/c", "[5]")],
    );
}

/// Signals and jobs at safe points are stackprof's means and the sampler's.
#[test]
fn stackprof_profiles_in_each_of_its_modes() {
    let app = r#"
require "stackprof"
def work(until_cpu)
  strings = []
  strings = Array.new(100) { "x" * 10 } until Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) > until_cpu
  strings
end
run ->(env) do
  mode = env["PATH_INFO"].delete_prefix("/").to_sym
  interval = mode == :object ? 10 : 1_000
  result = StackProf.run(mode: mode, interval: interval, raw: true) do
    work(Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 0.1)
  end
  own = result[:frames].values.any? { |frame| frame[:name].end_with?('.work') && frame[:total_samples].positive? }
  [200, {}, [[result[:mode], own].inspect]]
end
"#;
    let modes = ["cpu", "wall", "object", "cpu"];
    let expected: Vec<(String, String)> = modes
        .iter()
        .map(|mode| (format!("/{mode}"), format!("[:{mode}, true]")))
        .collect();
    let expected: Vec<(&str, &str)> = expected
        .iter()
        .map(|(path, body)| (path.as_str(), body.as_str()))
        .collect();
    check_with(&SAMPLED, app, &expected);
}

/// The cluster forks after threads have allocated: there allocators differ.
#[test]
fn an_app_on_jemalloc_answers_as_on_the_c_librarys_allocator() {
    let app = r#"
require "json"
require "sqlite3"
DB = SQLite3::Database.new(":memory:")
run ->(env) do
  case env["PATH_INFO"]
  when "/allocator" then [200, {}, [File.read("/proc/self/maps").include?("libjemalloc").to_s]]
  when "/threads"
    threads = Array.new(50) { Thread.new { JSON.parse(JSON.generate(Array.new(500) { |n| { n: n } })).size } }
    [200, {}, [threads.sum(&:value).to_s]]
  when "/forks"
    children = Array.new(20) { |n| fork { Thread.new { "x" * 100_000 }.join; exit!(n) } }
    [200, {}, [children.sum { |pid| Process.wait2(pid)[1].exitstatus }.to_s]]
  else [200, {}, [DB.execute("SELECT 41 + 1 AS n").inspect]]
  end
end
"#;
    let expected = [
        ("/allocator", "true"),
        ("/", "[[42]]"),
        ("/threads", "25000"),
        ("/forks", "190"),
        ("/threads", "25000"),
        ("/", "[[42]]"),
    ];
    for flags in [&["-t", "3:3"][..], &["-w", "1", "--preload", "-t", "3:3"]] {
        let mut puma = Puma::start_under(&["with-jemalloc"], flags, app, &SAMPLED);
        answers(&mut puma, &expected);
        let processes = puma.rings.processes();
        let serving = processes.iter().filter(|process| process.requests > 0);
        let known: Vec<_> = serving
            .map(|process| process.setting("allocator"))
            .collect();
        assert_eq!(known, [Some("jemalloc")]);
    }
}

/// Methods before which the agent stands run in other Ractors too, which may touch no state of the
/// main one. Threads are not begun there: Ruby 3.3.8 stands still then without the agent too.
#[test]
fn ractors_use_what_is_watched_as_without_us() {
    let app = r#"
require "json"
Warning[:experimental] = false
# Debian 13's drivers refuse to be called in a Ractor by themselves; sqlite3 2 does not.
module PG
  Result = Class.new
  class Connection
    def user = "app"
    def pass = nil
    def host = "localhost"
    def port = 5432
    def db = "app"
    def prepare(name, sql) = [name, sql]
    def exec(sql) = [sql]
  end
end
def result_of(ractor) = ractor.respond_to?(:value) ? ractor.value : ractor.take
run ->(env) do
  ractors = case env["PATH_INFO"]
            when "/compute" then Array.new(4) { |n| Ractor.new(n) { |from| (from..2_000).sum { |m| m.to_s.size } } }
            when "/json" then [Ractor.new { JSON.parse(JSON.generate({ "a" => [1, nil] })) }]
            when "/marshal" then [Ractor.new { Marshal.load(Marshal.dump([1, "two"])) }]
            when "/sleep" then Array.new(4) { Ractor.new { sleep 0.002; 1 } }
            when "/constant" then [Ractor.new { Object.const_set(:Driver, Class.new).new.class.name }]
            when "/sql"
              [Ractor.new { PG::Connection.new.then { |one| one.prepare("a", "SELECT 1") + one.exec("SELECT 2") } }]
            end
  [200, {}, [ractors.map { |ractor| result_of(ractor) }.inspect]]
end
"#;
    let expected = [
        ("/compute", "[6894, 6893, 6892, 6891]"),
        ("/json", r#"[{"a"=>[1, nil]}]"#),
        ("/marshal", r#"[[1, "two"]]"#),
        ("/sleep", "[1, 1, 1, 1]"),
        ("/constant", r#"["Driver"]"#),
        ("/sql", r#"[["a", "SELECT 1", "SELECT 2"]]"#),
        ("/compute", "[6894, 6893, 6892, 6891]"),
    ];
    check_with(&SAMPLED, app, &expected);
}
