//! Programs hostile to profilers. Each checks its own results and fails otherwise.

use crate::support::Place;

#[test]
fn a_thousand_starts_and_stops_under_load_leave_answers_and_memory_as_they_are() {
    let place = Place::new(
        r#"
rss = -> { File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i }
stopped = false
workers = 3.times.map { Thread.new { n = 0; (n += [1, 2, 3].sort.sum; Thread.pass) until stopped; n } }
cycle = lambda do |_|
  HakaruAgent::Native.profile_stop
  HakaruAgent::Native.profile_start
  sleep 0.0005
end
200.times(&cycle)
before = rss.call
800.times(&cycle)
grown = rss.call - before
stopped = true
raise "wrong sums" unless workers.all? { |thread| (thread.value % 6).zero? }
raise "grew by #{grown} kB" if grown > 8_000
"#,
    );
    let seen = place.profile(&["--mode", "wall"]);
    assert!(
        seen.json["samples"]
            .as_u64()
            .is_some_and(|samples| samples > 100)
    );
}

#[test]
fn forks_threads_signals_and_collections_change_no_answer() {
    let place = Place::new(
        r#"
traps = Hash.new(0)
%w[USR1 URG WINCH].each { |name| trap(name) { traps[name] += 1 } }
10.times { Process.kill("USR1", Process.pid); Process.kill("WINCH", Process.pid); sleep 0.002 }
raise "traps: #{traps}" unless traps["USR1"].between?(1, 10) && traps["URG"].zero?

pids = 60.times.map do |i|
  fork do
    spin(0.005)
    i.even? ? exit!(i) : exit(i)
  end
end
pids.each_with_index do |pid, i|
  _, status = Process.wait2(pid)
  raise "child #{i}: #{status}" unless status.exitstatus == i
end
victim = fork { loop { spin(0.01) } }
sleep 0.1
Process.kill("KILL", victim)
raise "not killed" unless Process.wait2(victim)[1].termsig == 9
Process.wait(fork { Process.wait(fork { spin(0.05); exit!(0) }); exit!(0) })

200.times do
  thread = Thread.new { loop { [3, 1, 2].sort } }
  sleep 0.001
  thread.kill.join
end
raised = 0
50.times do
  thread = Thread.new { begin; loop { "x" * 10 }; rescue RuntimeError; raised += 1; end }
  sleep 0.002
  thread.raise("out")
  thread.join
rescue RuntimeError
  raised += 1
end
raise "raised #{raised}" unless raised == 50
begin
  def endless = endless + 1
  endless
rescue SystemStackError
  :fine
end

GC.stress = true
300.times { |i| raise "stress" unless [i.to_s, "b"].join.end_with?("b") }
GC.stress = false
20.times do
  Array.new(2000) { |i| i.to_s }
  eval("def made_#{rand(1 << 30)} = 1.upto(300).sum; spin(0.002)")
  GC.start
  GC.compact
end
"#,
    );
    let seen = place.profile(&["--mode", "wall"]);
    let threads = seen.json["threads"].as_u64().unwrap_or(0);
    assert!(threads > 60, "children are sampled too: {threads} threads");
}

#[test]
fn memory_stays_flat_while_threads_children_and_compaction_come_and_go() {
    let place = Place::new(
        r#"
rss = -> { File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i }
GC.auto_compact = true
churn = lambda do |_|
  6.times { Process.wait(fork { spin(0.002); exit!(0) }) }
  40.times do
    thread = Thread.new { loop { [3, 1, 2].sort } }
    Thread.pass
    thread.kill.join
  end
  20.times { Thread.new { raise "out" }.tap { |thread| thread.report_on_exception = false }.join rescue :fine }
  Array.new(3000) { |i| i.to_s }
  GC.start
end
5.times(&churn)
before = rss.call
15.times(&churn)
grown = rss.call - before
raise "grew by #{grown} kB" if grown > 8_000
"#,
    );
    place.profile(&["--mode", "wall"]);
}

#[test]
fn killed_workers_of_a_server_lose_no_answer() {
    let place = Place::new(
        r#"
require "socket"
File.write("app.ru", <<~APP)
  run ->(_env) { [200, { "content-type" => "text/plain" }, ["\#{Process.pid} \#{(1..20_000).sum}"]] }
APP
port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
puma = spawn("puma", "-q", "-w", "2", "-t", "2:2", "-b", "tcp://127.0.0.1:#{port}", "app.ru", out: :err)
ask = lambda do
  TCPSocket.open("127.0.0.1", port) do |socket|
    socket.write("GET / HTTP/1.0\r\n\r\n")
    socket.read[/^(\d+) 200010000$/, 1] || raise("a lost answer")
  end
end
deadline = now + 60
begin
  ask.call
rescue Errno::ECONNREFUSED
  raise if now > deadline
  Thread.pass
  retry
end
dead = lambda do |pid|
  state = File.read("/proc/#{pid}/stat")[/\) (\w)/, 1]
  state == "Z"
rescue SystemCallError
  true
end
workers = []
4.times do
  15.times { workers << ask.call; told("answers", 1) }
  Process.kill("KILL", workers.last.to_i)
  Thread.pass until dead.call(workers.last)
end
15.times { workers << ask.call; told("answers", 1) }
told("workers", workers.uniq.size)
Process.kill("TERM", puma)
Process.wait(puma)
"#,
    );
    let seen = place.profile(&["--mode", "wall"]);
    assert_eq!(seen.truth("answers"), 75.0);
    assert!(seen.truth("workers") >= 4.0, "{}", seen.truth("workers"));
    assert!(
        seen.json["threads"]
            .as_u64()
            .is_some_and(|threads| threads > 10),
        "the workers are sampled too: {}",
        seen.json["threads"]
    );
}

#[test]
fn fibers_ractors_children_and_exec_are_survived() {
    let place = Place::new(
        r#"
fiber = Fiber.new { loop { spin(0.01); Fiber.yield } }
10.times { fiber.resume }
Ractor.new { x = 0; 200_000.times { x += 1 }; x }.take == 200_000 || raise("ractor")
raise "system" unless system("ruby", "-e", "exit 0")
exec("ruby", "-e", "2_000_000.times { |i| i.to_s }; exit 0")
"#,
    );
    let seen = place.profile(&["--mode", "wall"]);
    assert!(
        // It spins for ten times 10 ms; a look of 1 ms may fall to either side of the first and the
        // last.
        seen.inclusive("Object#spin") > 97.0,
        "{}",
        seen.json["inclusive"]
    );
    assert!(
        seen.own("Integer#to_s") > 10.0,
        "the program that took its place is sampled: {}",
        seen.json["self"]
    );
}

#[test]
fn a_process_without_ruby_or_with_another_rubyopt_is_told_plainly() {
    let place = Place::new("");
    let output = place.hakaru(&["profile", "--", "true"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("no Ruby process loaded the agent"),
        "{stderr}"
    );
    let output = place.hakaru(&["profile", "--", "no-such-command"]);
    assert_eq!(output.status.code(), Some(5));
    let output = place.hakaru(&["profile", "--pid", &std::process::id().to_string()]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("hakaru profile --standby"), "{stderr}");
}
