# frozen_string_literal: true

# One small face for three database drivers.
#
# `DATABASE_URL` chooses: `mysql2://user:password@host/name` (also `mysql://`, `mariadb://`;
# `?socket=/path` for a socket), `postgres://…`, or nothing for the SQLite file at `CHAT_DB`.
# Statements use `?` for values. A driver is required only when it is the chosen one.
#
# It is laid out as a vendored gem so that tools which name "the line in the application that
# issued this statement" name the line in app.rb, not this layer.
module ChatDatabase
  # A row with the same unique key is there already.
  class Duplicate < StandardError; end

  DEFAULT_SQLITE_FILE = File.expand_path("../../../../chat.db", __dir__)
  ADAPTERS = {
    nil => %w[sqlite Sqlite],
    "mysql2" => %w[mysql Mysql],
    "mysql" => %w[mysql Mysql],
    "mariadb" => %w[mysql Mysql],
    "postgres" => %w[postgres Postgres],
    "postgresql" => %w[postgres Postgres]
  }.freeze

  # "sqlite", "mysql" or "postgres".
  def self.kind = ADAPTERS.fetch(scheme) { raise ArgumentError, unknown_scheme }.first

  # A connection for the request that is being handled; each driver says whose it is.
  def self.for_request = adapter.for_request(place)

  # A connection of the caller's own, to be closed by the caller.
  def self.open = adapter.new(place)

  # The SQLite file, or nil on a database server.
  def self.file = kind == "sqlite" ? place : nil

  def self.adapter
    require_relative "chat_database/#{kind}"
    const_get(ADAPTERS.fetch(scheme).last)
  end
  private_class_method :adapter

  def self.url
    value = ENV["DATABASE_URL"].to_s
    value.empty? ? nil : value
  end
  private_class_method :url

  def self.scheme = url&.slice(/\A[a-z0-9]+(?=:)/) || (url ? "?" : nil)
  private_class_method :scheme

  def self.place = url || ENV.fetch("CHAT_DB", DEFAULT_SQLITE_FILE)
  private_class_method :place

  def self.unknown_scheme
    "DATABASE_URL begins with none of #{ADAPTERS.keys.compact.join(', ')}; leave it empty for SQLite"
  end
  private_class_method :unknown_scheme
end
