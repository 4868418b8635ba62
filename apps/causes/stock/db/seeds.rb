# frozen_string_literal: true

ActiveRecord::Base.transaction do
  Shelf.insert_all!((1..60).map { |id| { id: id, number: id - 1 } })
  Item.insert_all!((0...1_800).map do |n|
    { shelf_id: 1 + (n / 30), position: n % 30, name: "Box #{n * 7 % 400}", quantity: 1 }
  end)
end
