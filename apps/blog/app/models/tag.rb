# frozen_string_literal: true

# A word that posts are found by.
class Tag < ApplicationRecord
  has_many :taggings
  has_many :posts, through: :taggings
end
