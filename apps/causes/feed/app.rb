# frozen_string_literal: true

require "sinatra/base"
require "csv"
require "json"

# Stations and their distances, from the file of the agency.
class App < Sinatra::Base
  FILE = File.expand_path("stations.csv", __dir__)

  helpers do
    def stations
      CSV.read(FILE, headers: true).map(&:to_h)
    end
  end

  get "/stations/:id" do
    station = stations.find { |row| row["id"] == params[:id] }
    halt 404 unless station
    content_type :json
    JSON.generate(station)
  end
end
