# frozen_string_literal: true

class PeopleController < ApplicationController
  def show
    @person = Person.find(params[:id])
    @tasks = @person.tasks.where(done: false).order(:due_on).limit(10)
    @free_days = Calendar.free_days(@person)
  end
end
