# frozen_string_literal: true

# Compresses for 4 ms, which native code does without the GVL, waits 4 ms and burns 1 ms of CPU.

require_relative "lib/server"

run Server.new(cpu_ms: 1, wait_ms: 4, native_ms: 4)
