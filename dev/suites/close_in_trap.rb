# frozen_string_literal: true

# Why Puma's own tests of systemd may not end on Ruby 3.3, without any agent: `ruby close_in_trap.rb [SECONDS]`.
#
# A trap handler writes to a pipe, and the thread that reads it closes both ends at once, as Puma's server does when
# SIGTERM stops it. IO#close waits until the writer has left the pipe, and is never told: the writer may not lock the
# closer's mutex in a trap handler. Ruby 4.0 allows it.

require "io/wait"

SECONDS = Float(ARGV.fetch(0, 30))
HUNG_S = 2

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def stops?
  reading, writing = IO.pipe
  server = Thread.new do
    reading.wait_readable
    reading.read_nonblock(1)
    [reading, writing].each(&:close)
  end
  Thread.pass until server.stop?
  told = false
  trap("TERM") do
    writing << "S"
  rescue IOError, ThreadError
    nil
  ensure
    told = true
  end
  Process.kill("TERM", Process.pid)
  Thread.pass until told
  server.join(HUNG_S)
rescue IOError
  # IO#close sends one to the writer, which may come late.
  server.join(HUNG_S)
end

ended = now + SECONDS
rounds = hung = 0
while now < ended && hung < 3
  rounds += 1
  hung += 1 unless stops?
end
puts "#{RUBY_VERSION}: #{hung} of #{rounds} closes did not end"
$stdout.flush
exit!(hung.zero? ? 0 : 1)
