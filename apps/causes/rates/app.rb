# frozen_string_literal: true

require "sinatra/base"
require "json"
require "net/http"

# Prices in other currencies.
class App < Sinatra::Base
  RATES = {}
  LOCK = Mutex.new
  FRESH_FOR = 0.005

  helpers do
    def rate(currency)
      LOCK.synchronize do
        known = RATES[currency]
        now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        return known[:rate] if known && now - known[:at] < FRESH_FOR

        answer = Net::HTTP.get(Bank::HOST, "/rates/#{currency}", Bank.port)
        RATES[currency] = { rate: answer.to_f, at: Process.clock_gettime(Process::CLOCK_MONOTONIC) }
        answer.to_f
      end
    end
  end

  get "/price/:currency" do
    content_type :json
    JSON.generate(currency: params[:currency], price: (19.9 * rate(params[:currency])).round(2))
  end
end
