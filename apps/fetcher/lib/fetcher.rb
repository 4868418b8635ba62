# frozen_string_literal: true

require "net/http"
require_relative "pool"
require_relative "upstream"

# The app.
class Fetcher
  HEADERS = { "content-type" => "text/plain", "cache-control" => "no-store" }.freeze
  # Planted: the service for prices is slow, and each request asks it anew.
  PRICE_MS = 40
  # Planted: two connections for five threads.
  STOCK_MS = 20
  STOCK_CONNECTIONS = 2
  # Planted: one lock for all, held while another service is asked.
  AUDIT_MS = 8
  AUDIT = Mutex.new

  def initialize
    @prices = Upstream.new("127.0.0.2")
    stock = Upstream.new("127.0.0.3")
    @stock = Pool.new(STOCK_CONNECTIONS) { connection(stock) }
    @audit = connection(Upstream.new("127.0.0.4"))
  end

  def call(env)
    case env["PATH_INFO"]
    when %r{\A/price/} then answer("price", price)
    when %r{\A/stock/} then answer("stock", stock)
    when "/audit" then answer("audit", audit)
    else [404, HEADERS.dup, ["no such page\n"]]
    end
  end

  private

  def answer(name, number) = [200, HEADERS.dup, ["#{name} #{number}\n"]]

  def price = prices.get("/wait/#{PRICE_MS}").body

  def stock = @stock.with { |stock| stock.get("/wait/#{STOCK_MS}").body }

  def audit
    AUDIT.synchronize { @audit.get("/wait/#{AUDIT_MS}").body }
  end

  # A connection for each thread.
  def prices
    Thread.current.thread_variable_get(:prices) ||
      connection(@prices).tap { |made| Thread.current.thread_variable_set(:prices, made) }
  end

  def connection(service) = Net::HTTP.new(service.host, service.port).tap { |http| http.keep_alive_timeout = 60 }.start
end
