# frozen_string_literal: true

# Runs the methods of an app before and after a wait of 20 ms.

require_relative "lib/pages"

run Pages.new(wait_ms: 20)
