# frozen_string_literal: true

# Small pieces of what profilers fear, for `cargo xtask valgrind`. Checks its own answers.
def down(depth) = depth.zero? ? Array.new(1000) { |i| (i * 7919 % 1000).to_s }.sort.size : down(depth - 1)

def check(name, got, wanted) = got == wanted || raise("#{name}: #{got.inspect} instead of #{wanted.inspect}")

lock = Mutex.new
queue = Queue.new
sum = 0
threads = 2.times.map { Thread.new { 100.times { |i| lock.synchronize { sum += i }; queue << i; Thread.pass if i.odd? } } }
check("queue", 200.times.sum { queue.pop }, 9900)
threads.each(&:join)
check("sum", sum, 9900)
check("deep", down(600), 1000)
sleep 0.01

endless = Thread.new { loop { [3, 1, 2].sort } }
sleep 0.05
endless.kill.join
raised = Thread.new do
  sleep
rescue RuntimeError
  :raised
end
Thread.pass until raised.status == "sleep"
raised.raise("out")
check("raise", raised.value, :raised)

GC.stress = true
3.times { |i| check("stress", [i.to_s, "b"].join, "#{i}b") }
GC.stress = false
GC.start(full_mark: false)
GC.compact
check("after compaction", down(5), 1000)

if defined?(HakaruAgent)
  3.times do
    HakaruAgent::Native.profile_stop
    HakaruAgent::Native.profile_start
    check("between", down(2), 1000)
  end
end
child = fork do
  check("child", down(50), 1000)
  exit!(3)
end
check("fork", Process.wait2(child)[1].exitstatus, 3)
exec(ENV.fetch("RUBY"), "--disable-gems", "-e", "exit [43, 42].min") if ARGV.include?("exec")
exit 42
