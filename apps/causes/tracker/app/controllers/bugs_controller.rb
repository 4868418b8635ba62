# frozen_string_literal: true

class BugsController < ApplicationController
  def index
    render json: Bug.open.limit(30)
  end

  def show
    render json: Bug.find(params[:id])
  end
end
