# frozen_string_literal: true

class Review < ApplicationRecord
end
