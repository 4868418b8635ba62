# frozen_string_literal: true

# Invoices are numbered without gaps, one after another.
class InvoiceNumber < ApplicationRecord
  def self.take
    number = lock.first
    number.update!(last: number.last + 1)
    number.last
  end
end
