# frozen_string_literal: true

require_relative "bank"
require_relative "app"

Bank.start
run App
