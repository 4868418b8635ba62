# frozen_string_literal: true

Rails.application.configure do
  config.enable_reloading = false
  config.eager_load = true
  config.consider_all_requests_local = false
  config.action_controller.perform_caching = true
  # What goes wrong is told; a line for each request is what a proxy in front would write.
  config.log_level = :warn
  config.logger = ActiveSupport::Logger.new($stderr)
  config.active_record.dump_schema_after_migration = false
end
