# frozen_string_literal: true

class CoursesController < ApplicationController
  def index
    @courses = Course.order(:title).limit(25)
  end
end
