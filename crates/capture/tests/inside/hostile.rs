//! Apps hostile to an agent: no crash, no changed response, and one record of every request.

mod company;
mod memory;
mod places;

use crate::support::Puma;

/// Requests each path in turn, expects the body, and waits until the agent has recorded all
/// requests.
fn answers(puma: &mut Puma, expected: &[(&str, &str)]) {
    let mut client = puma.connect();
    for (id, (path, body)) in (1..).zip(expected) {
        let answer = client.get(path, id);
        assert_eq!(answer, Some((200, (*body).to_owned())), "{path}");
    }
    puma.poll_until("all requests", |puma| puma.handled.len() >= expected.len());
    let mut seen: Vec<u64> = puma.handled.iter().map(|handled| handled.id.0).collect();
    seen.sort_unstable();
    let all: Vec<u64> = (1..=expected.len() as u64).collect();
    assert_eq!(seen, all, "each is seen once");
    assert_eq!(puma.troubles(), [""; 0]);
}

fn check(app: &str, expected: &[(&str, &str)]) {
    check_with(&[], app, expected);
}

fn check_with(env: &[(&str, &str)], app: &str, expected: &[(&str, &str)]) {
    answers(&mut Puma::start_with(&["-t", "3:3"], app, env), expected);
}

#[test]
fn a_collection_at_every_allocation_changes_no_answer() {
    let app = r#"
require "sqlite3"
DB = SQLite3::Database.new(":memory:")
run ->(env) do
  GC.stress = true
  rows = DB.execute("SELECT 41 + 1 AS n")
  Mutex.new.synchronize { sleep 0.001 }
  GC.stress = false
  [200, {}, [rows.inspect]]
ensure
  GC.stress = false
end
"#;
    check(app, &[("/a", "[[42]]"), ("/b", "[[42]]"), ("/c", "[[42]]")]);
}

#[test]
fn objects_that_move_between_and_during_requests_change_no_answer() {
    let app = r#"
require "sqlite3"
DB = SQLite3::Database.new(":memory:")
GC.auto_compact = true
run ->(env) do
  10.times { Array.new(1_000) { "x" * 50 }; GC.compact }
  [200, {}, [DB.execute("SELECT 41 + 1 AS n").inspect]]
end
"#;
    check(app, &[("/a", "[[42]]"), ("/b", "[[42]]"), ("/c", "[[42]]")]);
}

#[test]
fn trace_points_of_the_app_see_what_they_see_without_us() {
    let app = r#"
def work = [3, 1, 2].sort.sum
run ->(env) do
  seen = Hash.new(0)
  trace = TracePoint.new(:call, :return, :c_call, :thread_begin, :raise) do |point|
    seen[point.event] += 1 if point.path == __FILE__
  end
  trace.enable do
    5.times { work }
    begin
      raise "own"
    rescue RuntimeError
      :fine
    end
  end
  [200, {}, [seen.values_at(:call, :return, :raise).inspect]]
end
"#;
    check(app, &[("/a", "[5, 5, 1]"), ("/b", "[5, 5, 1]")]);
}

#[test]
fn a_statement_of_ten_megabytes_is_executed_and_counted() {
    let app = r#"
require "sqlite3"
DB = SQLite3::Database.new(":memory:")
run ->(env) do
  text = env["PATH_INFO"] == "/binary" ? "\xff\x00\x01".b * 1_000 : "a" * 10_000_000
  if env["PATH_INFO"] == "/binary"
    begin
      DB.execute("SELECT '" + text + "'")
    rescue => error
      next [200, {}, ["refused"]]
    end
    next [200, {}, ["taken"]]
  end
  [200, {}, [DB.execute("SELECT length('#{text}')").inspect]]
end
"#;
    let mut puma = Puma::start(&["-t", "1:1"], app);
    let mut client = puma.connect();
    let long = Some((200, "[[10000000]]".to_owned()));
    assert_eq!(client.get("/long", 1), long);
    let (status, _) = client.get("/binary", 2).expect("an answer");
    assert_eq!(status, 200);
    assert_eq!(client.get("/long", 3), long);
    puma.poll_until("all requests", |puma| puma.handled.len() == 3);
    let counts: Vec<u32> = puma.handled.iter().map(|one| one.statements).collect();
    assert_eq!((counts[0], counts[2]), (1, 1));
    assert!(
        puma.texts.iter().all(|(_, text)| text.len() < 100_000),
        "a digest does not hold the values"
    );
}

#[test]
fn ten_thousand_threads_leave_answers_and_rings() {
    let app = r#"
run ->(env) do
  count = 0
  lock = Mutex.new
  50.times do
    Array.new(200) { Thread.new { sleep 0; lock.synchronize { count += 1 } } }.each(&:join)
  end
  [200, {}, [count.to_s]]
end
"#;
    check(app, &[("/a", "10000")]);
}

#[test]
fn threads_killed_and_timed_out_anywhere_leave_the_rest_whole() {
    let app = r#"
require "sqlite3"
require "timeout"
DB = SQLite3::Database.new(":memory:")
LOCK = Mutex.new
WORK = proc { LOCK.synchronize { DB.execute("SELECT 41 + 1 AS n"); sleep 0.0005 } }
run ->(env) do
  case env["PATH_INFO"]
  when "/timeout"
    300.times do |turn|
      Timeout.timeout(0.00002 * (turn % 50 + 1)) { 20.times(&WORK) }
    rescue Timeout::Error
      :meant
    end
  when "/kill"
    300.times do |turn|
      thread = Thread.new { loop(&WORK) }
      (turn % 20).times { Thread.pass }
      thread.kill.join
    end
  end
  [200, {}, [LOCK.synchronize { DB.execute("SELECT 41 + 1 AS n") }.inspect]]
end
"#;
    let whole = "[[42]]";
    check(
        app,
        &[
            ("/timeout", whole),
            ("/kill", whole),
            ("/timeout", whole),
            ("/", whole),
        ],
    );
}

#[test]
fn a_storm_of_forks_leaves_parent_and_children_whole() {
    let app = r#"
run ->(env) do
  children = 150.times.map do |number|
    fork do
      Thread.new { sleep 0.001 }.join
      Process.wait(fork { exit!(number % 7) })
      exit!($?.exitstatus)
    end
  end
  right = children.each_with_index.count { |pid, number| Process.wait2(pid)[1].exitstatus == number % 7 }
  [200, {}, [right.to_s]]
end
"#;
    check(app, &[("/a", "150"), ("/b", "150")]);
}

/// Under `ulimit -v` a failed allocation of a library's thread-local variables ends the process, in
/// the C library itself. Ruby too may end where nothing is left, so that cannot be run.
#[test]
fn the_agent_allocates_no_thread_local_variables_in_a_thread() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let boot = capture::unpack_agent(&folder.path().join("agent")).expect("the agent unpacks");
    let output = std::process::Command::new("readelf")
        .arg("-d")
        .arg(boot.with_file_name("hakaru_agent.so"))
        .output()
        .expect("readelf, which comes with the C compiler");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("STATIC_TLS"), "{text}");
}

#[test]
fn an_app_with_a_limit_of_memory_answers_as_without_us() {
    let app = r#"
mapped = File.read("/proc/self/status")[/VmSize:\s+(\d+)/, 1].to_i * 1024
Process.setrlimit(:AS, mapped + (3 << 30))
run ->(env) do
  threads = Array.new(100) { Thread.new { sleep 0.01; 1 } }
  large = begin
    "x" * (8 << 30)
  rescue NoMemoryError
    "refused"
  end
  [200, {}, [[threads.sum(&:value), large[0, 10]].inspect]]
end
"#;
    let expected = r#"[100, "refused"]"#;
    check(app, &[("/a", expected), ("/b", expected)]);
}

#[test]
fn core_classes_that_an_app_patched_change_neither_answers_nor_times() {
    let app = r#"
require "sqlite3"
require "json"
class NilClass
  def method_missing(*) = nil
  def respond_to_missing?(*) = false
end
class Module
  alias_method :prepend_before, :prepend
  def prepend(*modules) = prepend_before(*modules)
end
module Kernel
  alias_method :require_before, :require
  def require(path) = require_before(path)
end
class String
  alias_method :bytesize_before, :bytesize
  def bytesize = bytesize_before
  def inspect = "patched"
end
class Hash
  alias_method :map_before, :map
  def map(...) = map_before(...)
end
# As in tests that stop the time.
module Still
  def clock_gettime(clock, unit = :float_second) = Thread.current[:still] ? 0 : super
end
Process.singleton_class.prepend(Still)
DB = SQLite3::Database.new(":memory:")
run ->(env) do
  Thread.current[:still] = true
  sleep 0.02
  [200, {}, [JSON.generate(DB.execute("SELECT 41 + 1 AS n"))]]
ensure
  Thread.current[:still] = false
end
"#;
    let mut puma = Puma::start(&["-t", "1:1"], app);
    answers(&mut puma, &[("/a", "[[42]]"), ("/b", "[[42]]")]);
    for handled in &puma.handled {
        assert_eq!(handled.statements, 1);
        assert!(handled.parts.sleep.0 >= 20_000_000, "{:?}", handled.parts);
    }
}

#[test]
fn classes_that_an_app_froze_answer_and_are_named() {
    let app = r#"
require "sqlite3"
require "net/http"
require "json"
DB = SQLite3::Database.new(":memory:")
[SQLite3::Database, SQLite3::Statement, Net::HTTP, JSON.singleton_class].each(&:freeze)
run ->(env) do
  statement = DB.prepare("SELECT 41 + 1 AS n")
  rows = [*DB.execute("SELECT 1"), *statement.execute!]
  statement.close
  [200, {}, [JSON.generate(rows)]]
end
"#;
    let mut puma = Puma::start(&["-t", "1:1"], app);
    let mut client = puma.connect();
    for id in 1..=3 {
        let answer = client.get("/", id);
        assert_eq!(answer, Some((200, "[[1],[42]]".to_owned())));
    }
    puma.poll_until("all requests", |puma| puma.handled.len() == 3);
    let troubles = puma.troubles();
    assert!(
        !troubles.is_empty() && troubles.iter().all(|text| text.contains("FrozenError")),
        "{troubles:?}"
    );
}
