# frozen_string_literal: true

class BicyclesController < ApplicationController
  def index
    @bicycles = Bicycle.newest.includes(:owner).limit(12)
  end

  def show
    @bicycle = Bicycle.includes(:owner).find(params[:id])
  end
end
