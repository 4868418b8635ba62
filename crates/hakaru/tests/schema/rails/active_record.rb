# frozen_string_literal: true

# Loads a schema file into a database, or dumps a database: ruby active_record.rb load|dump URL FILE
require "active_record"

action, url, file = ARGV
ActiveRecord::Base.establish_connection(url)
ActiveRecord::Schema.verbose = false

case action
when "load"
  load File.expand_path(file)
when "dump"
  File.open(file, "w") { |out| ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection_pool, out) }
end
