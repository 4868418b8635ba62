# frozen_string_literal: true

class Bicycle < ApplicationRecord
  belongs_to :owner

  scope :newest, -> { order(id: :desc) }
end
