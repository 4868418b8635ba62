# frozen_string_literal: true

require "sinatra/base"
require "json"
require_relative "lib/roster"

# Who may still be asked for a shift.
class App < Sinatra::Base
  ROSTER = Roster.new(people: 900)

  get "/free/:day" do
    content_type :json
    JSON.generate(ROSTER.free_on(params[:day].to_i).first(20))
  end

  get "/people" do
    content_type :json
    JSON.generate(ROSTER.names.first(50))
  end
end
