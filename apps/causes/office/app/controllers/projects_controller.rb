# frozen_string_literal: true

class ProjectsController < ApplicationController
  def index
    @projects = Project.order(:name).limit(30)
  end

  def show
    @project = Project.find(params[:id])
    @tasks = @project.tasks.includes(:person).order(:due_on).limit(20)
  end
end
