# frozen_string_literal: true

class Loan < ApplicationRecord
  belongs_to :member
  belongs_to :book
end
