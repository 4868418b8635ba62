# frozen_string_literal: true

require "sinatra/base"
require "sequel"
require "json"

DB = Sequel.connect(ENV.fetch("DATABASE_URL"), max_connections: 2)

# Balances; the audit asks a slow view of another department.
class App < Sinatra::Base
  get "/balance/:account" do
    cents = DB[:entries].where(account_id: params[:account].to_i).sum(:cents)
    content_type :json
    JSON.generate(balance: cents)
  end

  get "/audit/:account" do
    row = DB.fetch("SELECT pg_sleep(0.012), count(*) AS entries FROM entries WHERE account_id = ?", params[:account].to_i).first
    content_type :json
    JSON.generate(entries: row[:entries])
  end
end
