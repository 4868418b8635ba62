# frozen_string_literal: true

module Clicker
  # What the players of one room own together.
  class Room
    # A room begins rich, so that its numbers are large from the start.
    def initialize(wealth: 10**25_000, owned: 25)
      @lock = Mutex.new
      @milli = wealth * 1000
      @owned = ITEMS.to_h { |item| [item.id, owned] }
    end

    def add(amount)
      @lock.synchronize { @milli += amount * 1000 }
      true
    end

    # Whether the room could pay for one more.
    def buy(item_id)
      item = ITEMS.find { |known| known.id == item_id } or return false
      @lock.synchronize do
        price = item.price(@owned[item_id] + 1) * 1000
        return false if price > @milli

        @milli -= price
        @owned[item_id] += 1
      end
      true
    end

    # What every player sees: numbers as their first digits and how many follow.
    def status
      @lock.synchronize do
        items = ITEMS.map { |item| item_status(item) }
        { "wealth" => short(@milli / 1000), "power" => short(total_power), "items" => items }
      end
    end

    private

    def total_power
      ITEMS.sum { |item| item.power_table(@owned[item.id]).first(@owned[item.id]).sum(&:first) }
    end

    def item_status(item)
      owned = @owned[item.id]
      power, price = item.power_table(owned).last
      { "id" => item.id, "owned" => owned, "next_power" => short(power), "next_price" => short(price) }
    end

    DIGITS = 15

    def short(number)
      text = number.to_s
      return [number, 0] if text.size <= DIGITS

      [text[0, DIGITS].to_i, text.size - DIGITS]
    end
  end
end
