# frozen_string_literal: true

class CouriersController < ApplicationController
  def index
    @couriers = Courier.order(:name)
  end

  def show
    @courier = Courier.find(params[:id])
    @deliveries = @courier.deliveries.next_first.limit(15)
  end
end
