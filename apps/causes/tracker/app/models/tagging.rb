# frozen_string_literal: true

class Tagging < ApplicationRecord
  belongs_to :bug
  belongs_to :label
end
