# frozen_string_literal: true

# What readers come for.
class Post < ApplicationRecord
  belongs_to :author
  has_many :comments
  has_many :taggings
  has_many :tags, through: :taggings
  validates :title, :body, presence: true
end
