# frozen_string_literal: true

module Clicker
  LOOK_AHEAD = 3

  # A kind of machine. The n-th one costs `price(n)` and makes `power(n)` more a second; both grow exponentially,
  # and are computed anew each time, which is the app's planted slowness.
  Item = Data.define(:id, :power_step, :power_base, :price_step, :price_base) do
    def power(count) = ((power_step * count) + 1) * (power_base**((power_step * count) + 1))

    def price(count) = ((price_step * count) + 1) * (price_base**((price_step * count) + 1))

    # Power and price of each number of machines that a room may have soon.
    def power_table(owned)
      (0..(owned + LOOK_AHEAD)).map { |count| [power(count), price(count)] }
    end
  end

  ITEMS = [
    Item.new(id: 1, power_step: 1, power_base: 3, price_step: 2, price_base: 2),
    Item.new(id: 2, power_step: 3, power_base: 7, price_step: 5, price_base: 3),
    Item.new(id: 3, power_step: 9, power_base: 11, price_step: 11, price_base: 7),
    Item.new(id: 4, power_step: 21, power_base: 13, price_step: 19, price_base: 11)
  ].freeze
end
