# frozen_string_literal: true

class Reporter < ApplicationRecord
end
