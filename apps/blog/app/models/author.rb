# frozen_string_literal: true

# Who writes posts, and logs in for that by name.
class Author < ApplicationRecord
  has_many :posts
  has_secure_password
end
