# frozen_string_literal: true

class Order < ApplicationRecord
  def self.place(product, cents)
    transaction do
      order = create!(product: product, cents: cents, number: InvoiceNumber.take)
      order.update!(payment: Payment.charge(order.cents))
      order
    end
  end
end
