# frozen_string_literal: true

# Who writes posts.
class Author < ApplicationRecord
  has_many :posts
end
