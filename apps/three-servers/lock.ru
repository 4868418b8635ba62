# frozen_string_literal: true

# Waits 5 ms on its own, then 3 ms with a lock that all requests share, and burns 1 ms of CPU.

require_relative "lib/server"

run Server.new(cpu_ms: 1, wait_ms: 5, locked_ms: 3)
