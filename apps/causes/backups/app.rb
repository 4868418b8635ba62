# frozen_string_literal: true

require "json"
require "sequel"
require "sinatra/base"
require "zlib"

DB = Sequel.sqlite("backups.db", max_connections: 5)

# Backups of notebooks; each is written once and downloaded often.
class App < Sinatra::Base
  helpers do
    def archive(id)
      Zlib.gzip(DB[:backups].where(id: id).get(:text), level: Zlib::BEST_COMPRESSION)
    end
  end

  get "/backups" do
    content_type :json
    JSON.generate(DB[:backups].select_map(%i[id notebook]))
  end

  get "/backups/:id" do
    content_type "application/gzip"
    archive(params[:id].to_i)
  end
end
