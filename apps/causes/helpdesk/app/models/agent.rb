# frozen_string_literal: true

class Agent < ApplicationRecord
  has_many :tickets
end
