# frozen_string_literal: true

class StudentsController < ApplicationController
  def show
    @student = Student.find(params[:id])
    @courses = @student.courses.order(:title).to_a
    logger.info { "Timetable of #{@student.name}: #{timetable.to_json}" }
  end

  private

  def timetable
    @courses.product((1..14).to_a).map do |course, week|
      { course: course.title, week: week, student: @student.name, room: "R#{course.id % 40}" }
    end
  end
end
