# frozen_string_literal: true

class Project < ApplicationRecord
  belongs_to :owner, class_name: "Person"
  has_many :tasks

  def progress
    return 0 if tasks.empty?

    100 * tasks.select(&:done).size / tasks.size
  end
end
