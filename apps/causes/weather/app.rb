# frozen_string_literal: true

require "sinatra/base"
require "sequel"
require "json"

DB = Sequel.sqlite("weather.db", max_connections: 5)

# The last readings of a station.
class App < Sinatra::Base
  set :logging, false

  get "/stations/:id" do
    cache_control :public, max_age: 10
    readings = DB[:readings].where(station_id: params[:id].to_i).reverse(:id).limit(5).select_map(:celsius)
    content_type :json
    JSON.generate(station: params[:id].to_i, celsius: readings)
  end
end
