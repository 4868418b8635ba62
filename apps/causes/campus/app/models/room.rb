# frozen_string_literal: true

class Room < ApplicationRecord
  has_many :lessons

  def minutes_used
    lessons.to_a.reject(&:cancelled).sum(&:minutes)
  end
end
