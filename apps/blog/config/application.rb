# frozen_string_literal: true

require_relative "boot"

require "rails"
require "action_controller/railtie"
require "action_view/railtie"
require "active_record/railtie"

Bundler.require(*Rails.groups)

module Blog
  # The application; what differs from Rails' defaults is here and in environments/.
  class Application < Rails::Application
    config.load_defaults 7.2
    config.api_only = false
    # Guards nothing but the cookies of an example.
    config.secret_key_base = "the blog's cookies are worth nothing" * 4
  end
end
