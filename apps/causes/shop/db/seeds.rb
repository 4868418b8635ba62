# frozen_string_literal: true

placed = Date.new(2023, 1, 1)
ActiveRecord::Base.transaction do
  Customer.insert_all!((1..60).map { |id| { id: id, name: "Customer #{id}" } })
  (1..60).each do |customer|
    Order.insert_all!(Array.new(400) do |n|
      { customer_id: customer, total: 5 + (n * 13 % 90), placed_on: placed + n, note: "Leave it at the door, please" }
    end)
  end
end
