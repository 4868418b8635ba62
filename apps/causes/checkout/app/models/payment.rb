# frozen_string_literal: true

require "net/http"

class Payment
  def self.charge(cents)
    Net::HTTP.get(PaymentService::HOST, "/charges?cents=#{cents}", PaymentService.port)
  end
end
