# frozen_string_literal: true

require "sqlite3"

module ChatDatabase
  # One connection a thread.
  #
  # The sqlite3 gem keeps the GVL during a statement, so a writer that waits for another
  # writer's lock also keeps that one from running. Hence every statement commits by itself, and
  # an INSERT has no RETURNING (which would hold the lock until the row is fetched).
  class Sqlite
    # For writers in other processes only; see above.
    BUSY_TIMEOUT_MS = 5_000

    def self.for_request(file)
      thread = Thread.current
      thread.thread_variable_get(:chat_database) ||
        new(file).tap { |database| thread.thread_variable_set(:chat_database, database) }
    end

    def initialize(file)
      @connection = SQLite3::Database.new(file, results_as_hash: true)
      @connection.busy_timeout(BUSY_TIMEOUT_MS)
      @connection.execute("PRAGMA journal_mode = WAL")
      @connection.execute("PRAGMA synchronous = NORMAL")
    end

    def rows(sql, *values) = @connection.execute(sql, values)

    def first(sql, *values) = rows(sql, *values).first

    def run(sql, *values)
      @connection.execute(sql, values)
      nil
    end

    # Runs an INSERT and returns the new row's id.
    def insert(sql, *values)
      @connection.execute(sql, values)
      @connection.last_insert_row_id
    rescue SQLite3::ConstraintException => error
      raise Duplicate, error.message
    end

    # The end of an INSERT that updates `columns` where `key` is taken.
    def on_conflict(key, columns)
      "ON CONFLICT (#{key}) DO UPDATE SET #{columns.map { |name| "#{name} = excluded.#{name}" }.join(', ')}"
    end

    # The next row's id is the highest one plus 1 anyway.
    def restart_ids(_table, _last_id) = nil

    # Trades safety against a power cut for speed, while a database is being filled.
    def filling
      @connection.execute("PRAGMA synchronous = OFF")
      yield
    ensure
      @connection.execute("PRAGMA synchronous = NORMAL")
    end

    def end_request = nil

    def close = @connection.close
  end
end
