# frozen_string_literal: true

class Subscriber < ApplicationRecord
  belongs_to :list
end
