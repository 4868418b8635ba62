# frozen_string_literal: true

require "mysql2"
require "uri"

module ChatDatabase
  # One connection a request.
  #
  # Planted: connecting anew for every request, and never closing a prepared statement, so that
  # each stays on the server until its connection goes.
  #
  # The driver's garbage-collected objects talk to the server: a forgotten statement is closed, a
  # forgotten result without rows is drained, and if that happens on one thread while another
  # awaits an answer on the same connection, the answer is lost ("Commands out of sync", or no
  # rows). So statements are held as long as the connection, and results are freed at once.
  class Mysql
    DUPLICATE_ENTRY = 1062

    def self.for_request(url) = new(url)

    def initialize(url)
      @client = Mysql2::Client.new(options(URI.parse(url)))
      @statements = []
    end

    def rows(sql, *values)
      result = execute(sql, values)
      result.to_a
    ensure
      result&.free
    end

    def first(sql, *values) = rows(sql, *values).first

    def run(sql, *values)
      execute(sql, values)
      nil
    end

    # Runs an INSERT and returns the new row's id.
    def insert(sql, *values)
      execute(sql, values)
      @client.last_id
    rescue Mysql2::Error => error
      raise unless error.error_number == DUPLICATE_ENTRY

      raise Duplicate, error.message
    end

    # The end of an INSERT that updates `columns` where a key is taken.
    def on_conflict(_key, columns)
      "ON DUPLICATE KEY UPDATE #{columns.map { |name| "#{name} = VALUES(#{name})" }.join(', ')}"
    end

    def restart_ids(table, last_id) = @client.query("ALTER TABLE #{table} AUTO_INCREMENT = #{last_id + 1}")

    def filling = yield

    def end_request = close

    def close = @client.close

    private

    def execute(sql, values)
      return @client.query(sql) if values.empty?

      statement = @client.prepare(sql)
      @statements << statement
      statement.execute(*values)
    end

    def options(uri)
      query = URI.decode_www_form(uri.query.to_s).to_h
      {
        host: uri.host, port: uri.port, socket: query["socket"],
        username: decoded(uri.user), password: decoded(uri.password),
        database: uri.path.delete_prefix("/"), encoding: "utf8mb4", connect_timeout: 10
      }.compact
    end

    def decoded(text) = text && URI.decode_www_form_component(text)
  end
end
