# frozen_string_literal: true

class OwnersController < ApplicationController
  def show
    @owner = Owner.find(params[:id])
    @bicycles = @owner.bicycles.newest.limit(10)
  end
end
