//! Programs whose answer is known. They measure themselves, so a busy host changes the answer and
//! the truth alike.

use crate::support::Place;

#[test]
fn two_methods_share_the_time_as_they_say() {
    let place = Place::new(
        r#"
def seventy = spin(0.07)
def thirty = spin(0.03)
30.times do
  timed("Object#seventy") { seventy }
  timed("Object#thirty") { thirty }
end
"#,
    );
    place
        .profile(&["--mode", "wall"])
        .check_shares(&["Object#seventy", "Object#thirty"]);
}

#[test]
fn methods_in_c_are_seen_and_code_with_many_safe_points_is_not_favoured() {
    let place = Place::new(
        r#"
NUMBERS = Array.new(200_000) { rand }
BIG = 7**50_000
DATA = Array.new(20_000) { |i| { "id" => i, "name" => "name #{i}" } }
def sorting = NUMBERS.sort
def digits = BIG.to_s
def json = JSON.generate(DATA)
def looping = 200_000.times { |i| i + 1 }
36.times do
  timed("Object#sorting") { sorting }
  timed("Object#digits") { 3.times { digits } }
  timed("Object#json") { 2.times { json } }
  timed("Object#looping") { 2.times { looping } }
end
"#,
    );
    let seen = place.profile(&["--mode", "wall"]);
    seen.check_shares(&[
        "Object#sorting",
        "Object#digits",
        "Object#json",
        "Object#looping",
    ]);
    for (caller, method) in [
        ("Object#sorting", "Array#sort"),
        ("Object#digits", "Integer#to_s"),
    ] {
        let (own, all) = (seen.own(method), seen.inclusive(caller));
        assert!(own > 0.95 * all, "{method} holds {own} of {all} ms");
    }
}

#[test]
fn deep_recursion_keeps_its_weight_and_says_what_it_cut() {
    let place = Place::new(
        r#"
def down(depth) = depth.zero? ? spin(0.05) : down(depth - 1)
def shallow = down(200)
def deep = down(3000)
30.times do
  timed("Object#shallow") { shallow }
  timed("(deeper)") { deep }
end
"#,
    );
    let seen = place.profile(&["--mode", "wall"]);
    seen.check_shares(&["Object#shallow", "(deeper)"]);
    let folded = place.hakaru(&["profile", "show", "LAST", "--json", "--fold-recursion"]);
    let json: serde_json::Value = serde_json::from_slice(&folded.stdout).expect("JSON");
    assert_eq!(json["samples"], seen.json["samples"]);
}

#[test]
fn who_allocates_is_told_apart_from_who_only_runs() {
    let place = Place::new(
        r#"
def making = Array.new(1000) { Object.new }
def running = 100_000.times { |i| i + 1 }
before = GC.stat(:total_allocated_objects)
200.times { making; running }
told("objects", GC.stat(:total_allocated_objects) - before)
"#,
    );
    let seen = place.profile(&["--mode", "alloc"]);
    let fact = |name: &str| seen.json["runtime"][name].as_f64().unwrap_or_default();
    assert!(
        fact("gc_minor_count") >= 1.0 && fact("gc_allocated_count") > 200_000.0,
        "{}",
        seen.json["runtime"]
    );
    let causes: f64 = ["newobj", "malloc", "method", "capi", "stress"]
        .iter()
        .map(|cause| fact(&format!("gc_minor_by_{cause}_count")))
        .sum();
    assert_eq!(causes, fact("gc_minor_count"), "{}", seen.json["runtime"]);
    assert!(
        fact("rss_bytes") > 5e6 && fact("threads_count") >= 1.0,
        "{}",
        seen.json["runtime"]
    );
    assert!(
        fact("code_bytes") > 1e6 && fact("code_large_pages_count") >= 1.0,
        "{}",
        seen.json["runtime"]
    );
    let objects = seen.row("inclusive", "Object#making", "objects");
    let truth = seen.truth("objects");
    assert!((objects / truth - 1.0).abs() < 0.05, "{objects} of {truth}");
    assert!(seen.row("inclusive", "Object#running", "share") < 0.01);
    // An `Object` has a slot of 40 bytes.
    let bytes = seen.row("inclusive", "Object#making", "bytes");
    assert!((bytes / objects - 40.0).abs() < 4.0, "{bytes} bytes");
}

#[test]
fn collections_are_told_with_their_causes() {
    let place = Place::new(
        r#"
5.times { GC.start }
3.times { GC.start(full_mark: false) }
GC.start
GC.stress = true
4.times { |i| [i] }
GC.stress = false
"#,
    );
    let seen = place.profile(&["--mode", "cpu"]);
    let fact = |name: &str| seen.json["runtime"][name].as_f64().unwrap_or_default();
    let told = &seen.json["runtime"];
    assert!(fact("gc_major_by_force_count") >= 6.0, "{told}");
    assert!(fact("gc_minor_by_method_count") >= 2.0, "{told}");
    assert!(
        fact("gc_minor_by_stress_count") + fact("gc_major_by_force_count") >= 10.0,
        "{told}"
    );
}

#[test]
fn deep_stacks_are_looked_at_no_oftener_than_the_budget_allows() {
    let place = Place::new(
        r#"
def down(depth) = depth.zero? ? spin(3) : down(depth - 1)
down(600)
"#,
    );
    let seen = place.profile(&["--mode", "wall", "--rate", "10000"]);
    // The sampler's account is CPU time, and what it slows itself down by: a busy host changes
    // neither.
    let share = seen.json["cost"]["cpu_share"].as_f64().expect("a share");
    assert!(
        (0.0005..=0.0105).contains(&share),
        "{share}: {}",
        seen.json["notes"]
    );
    assert!(
        seen.json["notes"].to_string().contains("slowed down to"),
        "{}",
        seen.json["notes"]
    );
    let spun = seen.inclusive("Object#spin");
    assert!((2_900.0..3_400.0).contains(&spun), "{spun} ms");
}

#[test]
fn waiting_for_the_gvl_adds_up_to_what_the_others_ran() {
    let place = Place::new(
        r#"
begun = now
ends = begun + 2
threads = 3.times.map do
  Thread.new do
    started = now
    1000.times { |i| i + 1 } while now < ends
    told("lived", (now - started) * 1000)
  end
end
threads.each(&:join)
told("window", (now - begun) * 1000)
"#,
    );
    let seen = place.profile(&["--mode", "wall"]);
    // At each moment one of them has the GVL, and all others wait.
    let truth = seen.truth("lived") - seen.truth("window");
    seen.check_state("gvl_wait", truth);
}

#[test]
fn waits_are_named_and_measured() {
    let place = Place::new(
        r#"
class ConnectionPool
  def initialize(size) = (@free = Queue.new; size.times { @free << Object.new })
  def checkout = @free.pop
  def checkin(connection) = @free << connection
end
pool = ConnectionPool.new(1)
lock = Mutex.new
queue = Queue.new
reader, writer = IO.pipe
held = Queue.new
threads = []
threads << Thread.new { lock.synchronize { held << 1; timed("sleep") { sleep 0.7 } } }
held.pop
2.times { threads << Thread.new { timed("lock") { lock.lock }; lock.unlock } }
threads << Thread.new { timed("lock") { queue.pop } }
threads << Thread.new { timed("other_io") { reader.read(1) } }
3.times do
  threads << Thread.new do
    connection = nil
    timed("pool") { connection = pool.checkout }
    timed("sleep") { sleep 0.2 }
    pool.checkin(connection)
  end
end
timed("sleep") { sleep 0.9 }
queue << 1
writer << "x"
timed("lock") { threads.each(&:join) }
"#,
    );
    let seen = place.profile(&["--mode", "wall"]);
    for state in ["sleep", "lock", "other_io", "pool"] {
        seen.check_state(state, seen.truth(state));
    }
}

#[test]
fn the_busy_timeout_of_sqlite_lasts_as_long_as_without_the_sampler() {
    let place = Place::new(
        r#"
require "sqlite3"
holder = SQLite3::Database.new("busy.db")
holder.execute("CREATE TABLE t (a)")
holder.execute("BEGIN EXCLUSIVE")
other = SQLite3::Database.new("busy.db")
other.busy_timeout(1000)
def insert(database)
  database.execute("INSERT INTO t VALUES (1)")
rescue SQLite3::BusyException
  :busy
end
timed("Object#insert") { raise "not busy" unless insert(other) == :busy }
"#,
    );
    let seen = place.profile(&["--mode", "wall"]);
    // SQLite counts the lengths of its sleeps, whatever ends them: 1 ms, 2, 5, … up to 100. A tick
    // that meets the first just begun may end that one.
    let (waited, told) = (seen.truth("Object#insert"), seen.inclusive("Object#insert"));
    assert!(waited >= 998.0, "gave up after {waited} ms of 1000");
    assert!(
        (told / waited - 1.0).abs() < 0.05,
        "seen {told} ms of {waited} ms"
    );
}

#[test]
fn short_waits_are_weighed_by_their_length() {
    let place = Place::new(
        r#"
def short = sleep(0.0002)
def long = sleep(0.0006)
1500.times do
  timed("Object#short") { short }
  timed("Object#long") { long }
end
"#,
    );
    let seen = place.profile(&["--mode", "wall", "--rate", "100"]);
    let truth = seen.truth("Object#short") + seen.truth("Object#long");
    let slept = seen.inclusive("Object#short") + seen.inclusive("Object#long");
    assert!(
        (slept / truth - 1.0).abs() < 0.05,
        "seen {slept} ms of {truth} ms"
    );
    let share = seen.truth("Object#short") / truth;
    let seen_share = seen.inclusive("Object#short") / slept;
    assert!(
        (seen_share - share).abs() < 0.12,
        "seen {seen_share}, in truth {share}"
    );
}

#[test]
fn a_statement_waits_in_the_driver() {
    let url = std::env::var("HAKARU_TEST_MARIADB_URL")
        .expect("HAKARU_TEST_MARIADB_URL; `cargo xtask with-servers` sets it");
    let place = Place::new(&format!(
        r#"
require "mysql2"
require "uri"
uri = URI("{url}")
client = Mysql2::Client.new(host: uri.host, port: uri.port, username: uri.user, password: uri.password)
timed("sql") {{ client.query("SELECT SLEEP(0.7)") }}
"#
    ));
    let seen = place.profile(&["--mode", "wall"]);
    seen.check_state("sql", seen.truth("sql"));
}

#[test]
fn cpu_time_is_what_the_kernel_says() {
    let place = Place::new(
        r#"
def burning = spin(0.5)
cpu = -> { Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) * 1000 }
before = cpu.call
burning
told("Object#burning", cpu.call - before)
sleep 0.3
"#,
    );
    let seen = place.profile(&["--mode", "cpu"]);
    let (burned, truth) = (
        seen.inclusive("Object#burning"),
        seen.truth("Object#burning"),
    );
    assert!(
        (burned - truth).abs() < truth * 0.05 + 10.0,
        "{burned} of {truth} ms"
    );
    assert_eq!(seen.inclusive("Kernel#sleep"), 0.0, "{}", seen.json["self"]);
}
