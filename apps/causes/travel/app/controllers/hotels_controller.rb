# frozen_string_literal: true

class HotelsController < ApplicationController
  def index
    hotels = Hotel.order(:name).limit(25)
    render json: hotels.map { |hotel| HotelSerializer.new(hotel).to_h }
  end

  def show
    @hotel = Hotel.find(params[:id])
    @prices = Hotel::ROOMS.transform_values do |percent|
      Season.prices(@hotel.cents * percent / 100, Date.new(2024, 4, 1), 140)
    end
  end
end
