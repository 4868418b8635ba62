# frozen_string_literal: true

require "sinatra/base"
require "sequel"
require "json"

DB = Sequel.connect(ENV.fetch("DATABASE_URL"), max_connections: 5)

# The last messages of a room.
class App < Sinatra::Base
  get "/rooms/:id" do
    messages = DB[:messages].where(room_id: params[:id].to_i).order(Sequel.desc(:id)).limit(20)
    content_type :json
    JSON.generate(messages.map { |message| { author: message[:author_id], text: message[:text] } })
  end

  get "/messages/:id" do
    message = DB[:messages].first(id: params[:id].to_i)
    content_type :json
    JSON.generate(text: message[:text])
  end
end
