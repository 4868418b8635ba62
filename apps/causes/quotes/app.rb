# frozen_string_literal: true

require "json"
require "sinatra/base"
require_relative "lib/tariff"

# What a parcel costs, by carrier and day.
class App < Sinatra::Base
  QUOTES = {}
  LOCK = Mutex.new

  helpers do
    # People look at a quote several times before they order.
    def quote(from, to, grams)
      key = [from, to, grams]
      known = LOCK.synchronize { QUOTES[key] }
      return known if known

      quote = Tariff.offers(from, to, grams)
      LOCK.synchronize { QUOTES[key] = quote }
    end
  end

  get "/quotes" do
    offers = quote(params[:from], params[:to], params[:grams].to_i)
    content_type :json
    JSON.generate(cheapest: offers.min_by { |offer| offer[:cents] }, offers: offers.size)
  end
end
