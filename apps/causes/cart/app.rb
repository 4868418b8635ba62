# frozen_string_literal: true

require "connection_pool"
require "json"
require "sinatra/base"
require_relative "lib/store"

# What is in a basket, with today's prices and stock.
class App < Sinatra::Base
  STORE = ConnectionPool.new(size: 5) { Store.new(StoreServer::HOST, StoreServer.port) }
  BASKET_SIZE = 24

  helpers do
    def products(basket)
      Array.new(BASKET_SIZE) { |n| 1 + (((basket * 31) + (n * 17)) % 400) }
    end

    def lines(ids)
      STORE.with do |store|
        ids.map do |id|
          { product: id, cents: store.get("price:#{id}").to_i, stock: store.get("stock:#{id}").to_i }
        end
      end
    end
  end

  get "/baskets/:id" do
    rows = lines(products(params[:id].to_i))
    content_type :json
    JSON.generate(lines: rows, total: rows.sum { |line| line[:cents] })
  end

  get "/products/:id" do
    content_type :json
    JSON.generate(lines([params[:id].to_i]).first)
  end
end
