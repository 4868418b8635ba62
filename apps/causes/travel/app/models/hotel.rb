# frozen_string_literal: true

class Hotel < ApplicationRecord
  belongs_to :city
  has_many :reviews
  has_many :pictures
end
