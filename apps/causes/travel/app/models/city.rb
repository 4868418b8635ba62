# frozen_string_literal: true

class City < ApplicationRecord
end
