# frozen_string_literal: true

require "sinatra/base"
require "bcrypt"
require "json"

# Notes behind HTTP Basic.
class App < Sinatra::Base
  USERS = { "ana" => BCrypt::Password.create("sesame", cost: 8) }.freeze

  use Rack::Auth::Basic, "vault" do |name, password|
    digest = USERS[name]
    digest && digest == password
  end

  get "/notes" do
    content_type :json
    JSON.generate(notes: ["buy milk", "call home"])
  end

  get "/notes/:id" do
    content_type :json
    JSON.generate(id: params[:id].to_i, text: "buy milk")
  end
end
