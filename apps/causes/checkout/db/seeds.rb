# frozen_string_literal: true

InvoiceNumber.create!(last: 200)
Order.insert_all!((1..200).map do |number|
  { number: number, product: "Lamp #{number % 12}", cents: 1_990 + number, payment: "accepted" }
end)
