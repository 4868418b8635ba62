# frozen_string_literal: true

# What a night costs more or less, by the time of year.
class Season
  ALL = [
    { from: "2024-03-28", to: "2024-04-07", percent: 125 },
    { from: "2024-04-08", to: "2024-05-16", percent: 90 },
    { from: "2024-05-17", to: "2024-05-20", percent: 130 },
    { from: "2024-05-21", to: "2024-07-10", percent: 110 },
    { from: "2024-07-11", to: "2024-08-25", percent: 150 }
  ].freeze

  def self.prices(cents, first, nights)
    (first...(first + nights)).map { |night| [night, cents * at(night)[:percent] / 100] }
  end

  def self.at(night)
    ALL.find { |season| night.between?(Date.parse(season[:from]), Date.parse(season[:to])) }
  end
  private_class_method :at
end
