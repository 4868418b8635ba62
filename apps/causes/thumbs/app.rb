# frozen_string_literal: true

require "sinatra/base"
require "json"
require "digest"

# Pictures by the fingerprint of their content.
class App < Sinatra::Base
  FOLDER = File.expand_path("pictures", __dir__)

  helpers do
    def fingerprint(path)
      `sha256sum #{path}`.split.first
    end
  end

  get "/pictures/:name" do
    path = File.join(FOLDER, File.basename(params[:name]))
    halt 404 unless File.file?(path)
    content_type :json
    JSON.generate(name: params[:name], url: "/files/#{fingerprint(path)}", bytes: File.size(path))
  end
end
