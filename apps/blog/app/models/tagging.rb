# frozen_string_literal: true

# Joins posts and tags.
class Tagging < ApplicationRecord
  belongs_to :post
  belongs_to :tag
end
