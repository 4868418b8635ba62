# frozen_string_literal: true

class Bug < ApplicationRecord
  belongs_to :reporter
  belongs_to :milestone
  has_many :taggings
  has_many :labels, through: :taggings

  scope :open, -> { where(closed: false).order(id: :desc) }

  def as_json(_options = nil)
    { id: id, title: title, reporter: reporter.name, milestone: milestone.title, labels: labels.map(&:name).sort }
  end
end
