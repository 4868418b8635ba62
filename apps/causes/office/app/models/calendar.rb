# frozen_string_literal: true

class Calendar
  # The calendar of the company allows so many questions a second.
  def self.free_days(_person)
    sleep 0.004
    12
  end
end
