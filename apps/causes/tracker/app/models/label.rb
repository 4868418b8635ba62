# frozen_string_literal: true

class Label < ApplicationRecord
end
