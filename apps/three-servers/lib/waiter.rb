# frozen_string_literal: true

require "uri"

# Waits: in the database that DATABASE_URL names (mysql2://, mariadb://, postgres://), or with a timer. Every
# thread has a connection of its own, so that no pool is measured.
class Waiter
  MYSQL = %w[mysql mysql2 mariadb trilogy].freeze
  POSTGRES = %w[postgres postgresql].freeze

  def initialize(url = ENV["DATABASE_URL"].to_s)
    @uri = URI(url) unless url.empty?
    return if @uri.nil? || (MYSQL + POSTGRES).include?(@uri.scheme)

    raise ArgumentError, "DATABASE_URL names #{@uri.scheme.inspect}; known are #{(MYSQL + POSTGRES).join(', ')}"
  end

  def wait(milliseconds)
    seconds = milliseconds / 1000.0
    return sleep(seconds) unless @uri

    MYSQL.include?(@uri.scheme) ? mysql.query("SELECT SLEEP(#{seconds})") : postgres.exec("SELECT pg_sleep(#{seconds})")
  end

  private

  def mysql
    mine do
      require "mysql2"
      Mysql2::Client.new(host: @uri.host, port: @uri.port || 3306, username: text(@uri.user),
                         password: text(@uri.password), database: @uri.path.delete_prefix("/"))
    end
  end

  def postgres
    mine do
      require "pg"
      PG.connect(@uri.to_s)
    end
  end

  def mine
    Thread.current.thread_variable_get(:waiter) ||
      yield.tap { |connection| Thread.current.thread_variable_set(:waiter, connection) }
  end

  def text(part) = part && URI.decode_www_form_component(part)
end
