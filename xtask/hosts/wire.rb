# frozen_string_literal: true

# A wire between two network devices that delays each frame, where the kernel has no sch_netem:
#
#   ruby wire.rb DEVICE DEVICE MILLISECONDS
#
# Makes both devices (tap), says "up" on standard output, and carries frames until standard input
# ends. The devices go with the process.

# A device that goes with its host ends the reading of it.
Thread.report_on_exception = false

TUNSETIFF = 0x400454ca
IFF_TAP = 0x0002
IFF_NO_PI = 0x1000
# More than a frame of a network of 1,500 bytes has.
FRAME_BYTES = 4_096

def device(name)
  file = File.open("/dev/net/tun", "r+b")
  file.sync = true
  file.ioctl(TUNSETIFF, [name, IFF_TAP | IFF_NO_PI].pack("a16sx22"))
  file
end

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# Frames keep their order: all wait for the same time.
def carry(from, to, seconds)
  waiting = Thread::Queue.new
  Thread.new do
    loop do
      # The clock is read after the frame has come: before it, an idle wire would not delay.
      frame = from.sysread(FRAME_BYTES)
      waiting << [now + seconds, frame]
    rescue Errno::EFAULT
      # The kernel could not hand this one frame over; so would a bad wire lose it.
    end
  end
  Thread.new do
    loop do
      due, frame = waiting.pop
      left = due - now
      sleep(left) if left.positive?
      begin
        to.syswrite(frame)
      rescue SystemCallError
        # The other device is down; so would a cut wire lose the frame.
      end
    end
  end
end

one, other = ARGV.first(2).map { |name| device(name) }
seconds = Float(ARGV.fetch(2)) / 1000
carry(one, other, seconds)
carry(other, one, seconds)
$stdout.puts "up"
$stdout.flush
$stdin.read
