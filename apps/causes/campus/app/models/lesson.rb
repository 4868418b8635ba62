# frozen_string_literal: true

class Lesson < ApplicationRecord
  belongs_to :room
end
