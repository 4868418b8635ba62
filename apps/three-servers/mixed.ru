# frozen_string_literal: true

# 30 % CPU, 70 % waiting.

require_relative "lib/server"

run Server.new(cpu_ms: 3, wait_ms: 7)
