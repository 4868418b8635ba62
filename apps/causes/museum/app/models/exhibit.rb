# frozen_string_literal: true

class Exhibit < ApplicationRecord
  def caption
    "#{title} (#{acquired_at.year}), room #{room}"
  end
end
