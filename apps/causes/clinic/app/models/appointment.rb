# frozen_string_literal: true

class Appointment < ApplicationRecord
  belongs_to :doctor

  scope :next_first, -> { order(:starts_at) }
end
