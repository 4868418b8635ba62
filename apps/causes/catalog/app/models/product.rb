# frozen_string_literal: true

class Product < ApplicationRecord
  belongs_to :brand
  has_many :variants
end
