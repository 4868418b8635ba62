# frozen_string_literal: true

ActiveRecord::Base.transaction do
  Student.insert_all!((1..600).map { |id| { id: id, name: "Student #{id}" } })
  Course.insert_all!((1..80).map { |id| { id: id, title: "Course #{id * 37 % 1_000}" } })
  Enrolment.insert_all!((0...6_000).map { |n| { course_id: 1 + (n * 7 % 80), student_id: 1 + (n % 600) } })
  Room.insert_all!((1..20).map { |id| { id: id, name: "Room #{id}" } })
  Lesson.insert_all!((0...12_000).map do |n|
    { room_id: 1 + (n % 20), minutes: 45 + (n % 4 * 15), cancelled: (n % 11).zero? }
  end)
end
