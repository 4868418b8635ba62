# frozen_string_literal: true

class Customer < ApplicationRecord
  has_many :orders

  def spent
    orders.to_a.sum(&:total)
  end

  def last_order_on
    orders.map(&:placed_on).max
  end
end
