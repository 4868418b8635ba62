# frozen_string_literal: true

class Delivery < ApplicationRecord
  belongs_to :courier

  scope :next_first, -> { where(state: "open").order(:due_at) }
end
