# frozen_string_literal: true

# A remark under a post.
class Comment < ApplicationRecord
  belongs_to :post
  validates :name, :body, presence: true
end
