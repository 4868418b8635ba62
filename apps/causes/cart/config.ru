# frozen_string_literal: true

require_relative "lib/store_server"
require_relative "app"

StoreServer.start
run App
