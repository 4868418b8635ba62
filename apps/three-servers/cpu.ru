# frozen_string_literal: true

# Only burns CPU.

require_relative "lib/server"

run Server.new(cpu_ms: 5, wait_ms: 0)
