# frozen_string_literal: true

# The offers of all carriers for the next four weeks.
module Tariff
  CARRIERS = %w[Blue\ Van Cargo\ North Night\ Post Wheels].freeze
  DAYS = 28

  def self.offers(from, to, grams)
    distance = (from.sum - to.sum).abs
    CARRIERS.each_with_index.flat_map do |carrier, index|
      Array.new(DAYS) do |day|
        { carrier: carrier, route: "#{from} to #{to}", day: day, cents: 290 + (grams / 20) + (distance * (index + 2)) - (day * 3) }
      end
    end
  end
end
