# frozen_string_literal: true

# The chat as `cargo xtask hosts` starts it: with its own account of each request for the proxy's
# log, slower by SLOW_MS where that is planted, and with COMPUTE_ROUNDS of work for the database.

require "rack/runtime"
require_relative "../../apps/chat/app"

# Holds each request for some milliseconds.
class Slow
  def initialize(app, seconds)
    @app = app
    @seconds = seconds
  end

  def call(env)
    sleep(@seconds)
    @app.call(env)
  end
end

# Has the database compute for each request.
class Compute
  def initialize(app, rounds)
    @app = app
    @rounds = rounds
  end

  def call(env)
    db = ChatDatabase.open
    db.first("SELECT BENCHMARK(#{@rounds}, MD5('x'))")
    db.close
    @app.call(env)
  end
end

use Rack::Runtime
use Slow, Float(ENV["SLOW_MS"]) / 1000 if ENV["SLOW_MS"]
use Compute, Integer(ENV["COMPUTE_ROUNDS"]) if ENV["COMPUTE_ROUNDS"]
run Chat
