# frozen_string_literal: true

# The hours of a team in a month.
class Timesheet
  Entry = Struct.new(:person, :day, :minutes, :task)

  PEOPLE = 50
  DAYS = 30

  def self.entries(team)
    Array.new(PEOPLE * DAYS) do |n|
      Entry.new("Person #{team}-#{n / DAYS}", 1 + (n % DAYS), 240 + ((n * 37) % 300), "Task #{n % 45} of project #{team}")
    end
  end
  private_class_method :entries

  # Teams hand their month in once; it stays as it is.
  TEAMS = (1..4).to_h { |team| [team, entries(team).freeze] }.freeze

  def initialize(team)
    @team = team
    @entries = TEAMS.fetch(team)
  end

  def to_csv
    csv = "person,day,minutes,task\n"
    @entries.each do |entry|
      csv += "#{entry.person},#{entry.day},#{entry.minutes},#{entry.task}\n"
    end
    csv
  end

  def summary
    { team: @team, entries: @entries.size, minutes: @entries.sum(&:minutes) }
  end
end
