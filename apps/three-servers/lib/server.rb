# frozen_string_literal: true

require_relative "burner"
require_relative "compressor"
require_relative "waiter"

# A handler with known parts. It answers what it measured itself, so that what others measure can be compared.
class Server
  HEADERS = { "content-type" => "text/plain", "cache-control" => "no-store" }.freeze

  def initialize(cpu_ms:, wait_ms:, locked_ms: 0, native_ms: 0)
    @cpu_ms = Float(ENV.fetch("CPU_MS", cpu_ms))
    @wait_ms = Float(ENV.fetch("WAIT_MS", wait_ms))
    @locked_ms = Float(ENV.fetch("LOCKED_MS", locked_ms))
    @native_ms = Float(ENV.fetch("NATIVE_MS", native_ms))
    @burner = Burner.new
    @waiter = Waiter.new
    @lock = Mutex.new
    @compressor = Compressor.new if @native_ms.positive?
    @text = @compressor&.text(@native_ms)
    warn "three-servers: #{@cpu_ms} ms of CPU (#{@burner.rounds_a_ms.round} rounds a ms), #{@wait_ms} ms of waiting"
  end

  def call(_env)
    started = [now_ms, Burner.cpu_ms]
    # Half of the work before the wait and half after it, as a handler prepares a query and shows its result.
    @burner.burn(@cpu_ms / 2)
    @compressor&.compress(@text)
    waited = wait(@wait_ms)
    @lock.synchronize { waited += wait(@locked_ms) } if @locked_ms.positive?
    @burner.burn(@cpu_ms / 2)
    whole = now_ms - started[0]
    [200, HEADERS.dup, [format("cpu %.3f ms, wait %.3f ms, whole %.3f ms\n", Burner.cpu_ms - started[1], waited, whole)]]
  end

  private

  def wait(milliseconds)
    return 0.0 unless milliseconds.positive?

    started = now_ms
    @waiter.wait(milliseconds)
    now_ms - started
  end

  def now_ms = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
end
