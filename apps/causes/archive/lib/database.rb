# frozen_string_literal: true

require "mysql2"
require "uri"

# The database that `DATABASE_URL` names.
module Database
  def self.connect
    url = URI(ENV.fetch("DATABASE_URL"))
    Mysql2::Client.new(host: url.host, port: url.port, username: url.user, password: url.password, database: url.path[1..])
  end
end
