# frozen_string_literal: true

require "json"
require "sequel"
require "sinatra/base"
require_relative "lib/printer"

DB = Sequel.sqlite("printing.db", max_connections: 5)
PRINTER = Printer.new

# Labels of a warehouse: printed one at a time, and those of the last days.
class App < Sinatra::Base
  before { content_type :json }

  post "/labels" do
    job = PRINTER.print("#{params[:receiver]}, #{params[:city]}")
    sleep 0.05 until PRINTER.done?(job)
    status 201
    JSON.generate(label: PRINTER.take(job))
  end

  get "/labels" do
    labels = DB[:labels].where(state: "failed").reverse(:printed_at).limit(12)
    JSON.generate(labels.select_map(%i[id receiver]))
  end

  get "/customers" do
    customers = DB[:customers].order(:id).limit(30).all
    customers.each { |customer| customer[:labels] = DB[:labels].where(customer_id: customer[:id]).count }
    JSON.generate(customers)
  end
end
