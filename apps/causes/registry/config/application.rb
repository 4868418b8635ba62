# frozen_string_literal: true

require "bundler/setup"
require "rails"
require "action_controller/railtie"
require "action_view/railtie"
require "active_record/railtie"

Bundler.require

module Registry
  class Application < Rails::Application
    config.load_defaults 7.2
  end
end
