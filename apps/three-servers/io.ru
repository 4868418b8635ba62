# frozen_string_literal: true

# Only waits.

require_relative "lib/server"

run Server.new(cpu_ms: 0, wait_ms: 50)
