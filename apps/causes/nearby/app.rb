# frozen_string_literal: true

require "json"
require "sequel"
require "sinatra/base"
require_relative "lib/shops"

DB = Sequel.sqlite("nearby.db", max_connections: 5)
SHOPS = Shops.new(DB[:shops].order(:id).all)
DB.disconnect

# Which shops are near.
class App < Sinatra::Base
  get "/near/:latitude/:longitude" do
    shops = SHOPS.near(params[:latitude].to_f, params[:longitude].to_f)
    content_type :json
    JSON.generate(shops)
  end

  get "/shops/:id" do
    content_type :json
    JSON.generate(DB[:shops].first(id: params[:id].to_i))
  end
end
