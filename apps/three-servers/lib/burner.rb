# frozen_string_literal: true

# Burns an exact amount of CPU, by the clock of its own thread: on a slow and on a fast machine, and also where other
# programs slow a core down. How many rounds of a fixed computation a small step takes is found at boot.
class Burner
  # So long is each sample of the calibration: long beside a clock read, short beside a scheduler's turn.
  SAMPLE_ROUNDS = 20_000
  SAMPLES = 41
  # As far as it may burn too much. Reading the clock takes a fortieth of it.
  STEP_MS = 0.02

  attr_reader :rounds_a_ms

  # With ROUNDS_A_MS several starts do the same work, also on a host that was slow during one of them.
  def initialize
    @same_work = ENV.key?("ROUNDS_A_MS")
    @rounds_a_ms = Float(ENV.fetch("ROUNDS_A_MS") { calibrated })
  end

  def burn(milliseconds)
    return spin((milliseconds * @rounds_a_ms).round) if @same_work

    rounds = (STEP_MS * @rounds_a_ms).round
    finish = Burner.cpu_ms + milliseconds
    spin(rounds) while Burner.cpu_ms < finish
  end

  def self.cpu_ms = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :float_millisecond)

  private

  def calibrated
    SAMPLES.times { sample } # a JIT and the caches get their share first
    # The median: a sample that was interrupted or shared its core must not count.
    SAMPLE_ROUNDS / Array.new(SAMPLES) { sample }.sort[SAMPLES / 2]
  end

  def sample
    started = Burner.cpu_ms
    spin(SAMPLE_ROUNDS)
    Burner.cpu_ms - started
  end

  # Small integers only: no allocation, so no garbage collection.
  def spin(rounds)
    value = 1
    while rounds.positive?
      value = ((value * 16_807) % 2_147_483_647) ^ rounds
      rounds -= 1
    end
    value
  end
end
