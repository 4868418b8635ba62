# frozen_string_literal: true

# People and the days on which they work.
class Roster
  def initialize(people:)
    @shifts = Array.new(people) { |id| { person: id, day: id * 7 % 30 } }
    @people = Array.new(people) { |id| { id: id, name: "Person #{id}" } }
  end

  def names = @people.map { |person| person[:name] }

  def free_on(day)
    busy = @shifts.select { |shift| shift[:day] == day || shift[:day] == day - 1 }
    busy_ids = busy.map { |shift| shift[:person] }
    @people.reject { |person| busy_ids.include?(person[:id]) }
  end
end
