# frozen_string_literal: true

class DeliveriesController < ApplicationController
  def show
    @delivery = Delivery.find(params[:id])
  end
end
