# frozen_string_literal: true

# Asks other services for everything it answers. Three things are planted: README.md lists them.

require_relative "lib/fetcher"

run Fetcher.new
