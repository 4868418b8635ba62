# frozen_string_literal: true

class ReservationsController < ApplicationController
  skip_forgery_protection

  def create
    Event.transaction do
      event = Event.lock.find(params[:event_id])
      code = Voucher.sign(event)
      event.reservations.create!(code: code)
      event.update!(reserved: event.reserved + 1)
    end
    head :created
  end
end
