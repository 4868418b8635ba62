# frozen_string_literal: true

require_relative "lib/carrier"
require_relative "app"

Carrier.start
run App
