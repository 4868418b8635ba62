# frozen_string_literal: true

class Ticket < ApplicationRecord
  belongs_to :customer
  belongs_to :agent
  has_many :comments

  scope :open, -> { where(state: "open").order(created_at: :desc) }
end
