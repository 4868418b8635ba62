# frozen_string_literal: true

class Hotel < ApplicationRecord
  # What a room costs beside a single one, in percent.
  ROOMS = { "Single" => 100, "Double" => 160 }.freeze

  belongs_to :city
  has_many :reviews
  has_many :pictures
end
