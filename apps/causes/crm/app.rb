# frozen_string_literal: true

require "sinatra/base"
require "sequel"
require "json"
require_relative "lib/phone"

DB = Sequel.connect(ENV.fetch("DATABASE_URL"), max_connections: 5)

# Contacts and the calls with them.
class App < Sinatra::Base
  get "/contacts" do
    contacts = DB[:contacts].order(:id).limit(8).all
    contacts.each do |contact|
      contact[:calls] = DB[:calls].where(contact_id: contact[:id]).count
      contact[:phone] = Phone.format(493_012_345_678 + contact[:id])
    end
    content_type :json
    JSON.generate(contacts)
  end

  get "/contacts/:id" do
    contact = DB[:contacts].first(id: params[:id].to_i)
    content_type :json
    JSON.generate(contact.merge(phone: Phone.format(493_012_345_678 + contact[:id])))
  end

  get "/export" do
    content_type :json
    JSON.generate(DB[:contacts].limit(100).all)
  end
end
