# frozen_string_literal: true

require "connection_pool"
require "json"
require "pg"
require "sinatra/base"

# Where a parcel is. The database lends each program three connections.
class App < Sinatra::Base
  POOL = ConnectionPool.new(size: 3, timeout: 5) { PG.connect(ENV.fetch("DATABASE_URL")) }

  before { content_type :json }

  get "/parcels/:id" do
    POOL.with do |db|
      parcel = db.exec_params("SELECT id, code, receiver FROM parcels WHERE id = $1", [params[:id].to_i]).first
      state = Carrier.state(parcel["code"])
      db.exec_params("UPDATE parcels SET state = $2 WHERE id = $1 AND state <> $2", [parcel["id"], state])
      JSON.generate(receiver: parcel["receiver"], state: state)
    end
  end

  get "/receivers/:name" do
    codes = POOL.with do |db|
      db.exec_params("SELECT code FROM parcels WHERE receiver = $1 ORDER BY id LIMIT 10", [params[:name]]).column_values(0)
    end
    JSON.generate(codes)
  end
end
