# frozen_string_literal: true

class Student < ApplicationRecord
  has_many :enrolments
  has_many :courses, through: :enrolments
end
