# frozen_string_literal: true

require "pg"

module ChatDatabase
  # One connection a thread.
  class Postgres
    # Type ids are fixed by PostgreSQL. What is not listed arrives as text.
    INT8 = 20
    INT4 = 23
    BYTEA = 17

    def self.for_request(url)
      thread = Thread.current
      thread.thread_variable_get(:chat_database)&.then { |database| return database.renewed }
      new(url).tap { |database| thread.thread_variable_set(:chat_database, database) }
    end

    def initialize(url)
      @connection = PG.connect(url)
      prepare_session
    end

    # Itself, connected again if the server went away.
    def renewed
      return self if @connection.status == PG::CONNECTION_OK

      @connection.reset
      prepare_session
      self
    end

    def rows(sql, *values) = execute(sql, values).to_a

    def first(sql, *values) = rows(sql, *values).first

    def run(sql, *values)
      execute(sql, values)
      nil
    end

    # Runs an INSERT and returns the new row's id.
    def insert(sql, *values)
      execute("#{sql} RETURNING id", values).getvalue(0, 0)
    rescue PG::UniqueViolation => error
      raise Duplicate, error.message
    end

    # The end of an INSERT that updates `columns` where `key` is taken.
    def on_conflict(key, columns)
      "ON CONFLICT (#{key}) DO UPDATE SET #{columns.map { |name| "#{name} = excluded.#{name}" }.join(', ')}"
    end

    def restart_ids(table, last_id)
      @connection.exec_params("SELECT setval(pg_get_serial_sequence($1, 'id'), $2)", [table, last_id])
    end

    def filling = yield

    def end_request = nil

    def close = @connection.close

    private

    def prepare_session
      @connection.exec("SET client_min_messages = warning")
      types = PG::TypeMapByOid.new
      [[INT4, PG::TextDecoder::Integer], [INT8, PG::TextDecoder::Integer], [BYTEA, PG::TextDecoder::Bytea]]
        .each { |oid, decoder| types.add_coder(decoder.new(oid: oid)) }
      @connection.type_map_for_results = types
    end

    def execute(sql, values)
      return @connection.exec(sql) if values.empty?

      @connection.exec_params(numbered(sql), values.map { |value| encoded(value) })
    end

    # `?` becomes `$1`, `$2`, …
    def numbered(sql)
      count = 0
      sql.gsub("?") { "$#{count += 1}" }
    end

    # Raw bytes travel as they are, all else as text.
    def encoded(value)
      return value unless value.is_a?(String) && value.encoding == Encoding::BINARY

      { value: value, format: 1 }
    end
  end
end
