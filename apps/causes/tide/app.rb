# frozen_string_literal: true

require "json"
require "sequel"
require "sinatra/base"

DB = Sequel.connect(ENV.fetch("DATABASE_URL"), max_connections: 5)

# High and low water of a harbour.
class App < Sinatra::Base
  set :logging, false

  before do
    cache_control :public, max_age: 30
    content_type :json
  end

  get "/harbours/:id" do
    id = params[:id].to_i
    tides = DB[:tides].where(harbour_id: id).reverse(:at).limit(4).select_map(%i[at centimetres])
    JSON.generate(harbour: id, tides: tides)
  end

  get "/harbours/:id/highest" do
    id = params[:id].to_i
    JSON.generate(harbour: id, centimetres: DB[:tides].where(harbour_id: id).max(:centimetres))
  end
end

# Each worker opens connections of its own.
DB.disconnect
