# frozen_string_literal: true

class Shelf < ApplicationRecord
  has_many :items

  # The scanner counts the boxes in the first place; each place behind it holds one more.
  def count(boxes)
    items.order(:position).each do |item|
      item.update!(quantity: boxes + item.position, counted_at: Time.current)
    end
  end
end
