# frozen_string_literal: true

require "zlib"
require_relative "burner"

# Computes in native code, without the GVL: compresses text for so long, by the clock of its own thread.
class Compressor
  SAMPLE_BYTES = 200_000
  SAMPLES = 9

  attr_reader :bytes_a_ms

  # With NATIVE_BYTES_A_MS several starts do the same work, also on a host that was slow during one of them.
  def initialize
    @random = Random.new(1)
    @bytes_a_ms = Float(ENV.fetch("NATIVE_BYTES_A_MS") { calibrated })
  end

  # Text of which compressing takes that long.
  def text(milliseconds) = letters((milliseconds * @bytes_a_ms).round)

  def compress(text) = Zlib.deflate(text, Zlib::BEST_COMPRESSION)

  private

  def calibrated
    text = letters(SAMPLE_BYTES)
    # The median: a sample that was interrupted must not count.
    SAMPLE_BYTES / Array.new(SAMPLES) { sample(text) }.sort[SAMPLES / 2]
  end

  def sample(text)
    started = Burner.cpu_ms
    compress(text)
    Burner.cpu_ms - started
  end

  def letters(bytes) = Array.new(bytes) { (97 + @random.rand(16)).chr }.join
end
