# frozen_string_literal: true

# The way of a request through the agent, for `cargo xtask valgrind`: classes of the names that it hooks, but without a
# server, whose start would take longer than all the rest. Checks its own answers.
module Puma
  class Configuration
    class ConfigMiddleware
      def initialize(config, app)
        @config = config
        @app = app
      end

      def call(env) = @app.call(env)
    end
  end

  class ThreadPool
    def <<(work) = work
  end

  class Client
    def initialize(env) = @env = env
  end
end

module SQLite3
  class Database
    def execute(sql) = [[sql.bytesize]]
  end
end

REFUSED = Class.new(StandardError)
LOCK = Mutex.new
DATABASE = SQLite3::Database.new

def answer(env)
  number = env["n"]
  raise REFUSED if number % 5 == 4

  rows = 3.times.sum { |i| DATABASE.execute("SELECT * FROM t WHERE id = #{number + i} AND name = 'x'")[0][0] }
  LOCK.synchronize { sleep 0.001 }
  throw :done, [302, {}, []] if number % 5 == 3
  [200, {}, [rows.to_s * 40]]
end

server = Puma::Configuration::ConfigMiddleware.new(nil, ->(env) { answer(env) })
pool = Puma::ThreadPool.new
statuses = Queue.new
serve = lambda do |from|
  30.times do |i|
    env = { "n" => i, "HTTP_HAKARU_REQUEST" => format("%016x", from + i), "REQUEST_METHOD" => "GET" }
    pool << Puma::Client.new(env) if i.even?
    statuses << catch(:done) { server.call(env) }[0]
    raise "the app sees the header" if env.key?("HTTP_HAKARU_REQUEST")
  rescue REFUSED
    statuses << 500
  end
  HakaruAgent.request("GET /socket tick") { [3, 1, 2].sort } if defined?(HakaruAgent)
end
2.times.map { |thread| Thread.new { serve.call(1000 * (thread + 1)) } }.each(&:join)
GC.start
serve.call(9000)
child = fork do
  statuses.clear
  serve.call(20_000)
  exit!(statuses.size == 30 ? 3 : 4)
end
raise "the child's answers" unless Process.wait2(child)[1].exitstatus == 3

told = Array.new(statuses.size) { statuses.pop }.tally
raise "answers: #{told}" unless told == { 200 => 54, 302 => 18, 500 => 18 }

exit 42
