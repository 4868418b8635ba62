# frozen_string_literal: true

class BookingsController < ApplicationController
  def index
    @bookings = Booking.where(mail: params[:mail]).order(:starts_on)
  end
end
