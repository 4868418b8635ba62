# frozen_string_literal: true

class Milestone < ApplicationRecord
end
