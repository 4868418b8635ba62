# frozen_string_literal: true

class Picture < ApplicationRecord
end
