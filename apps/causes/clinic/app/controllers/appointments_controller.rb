# frozen_string_literal: true

class AppointmentsController < ApplicationController
  skip_forgery_protection

  def index
    @appointments = Appointment.includes(:doctor).next_first.limit(10)
  end

  def show
    @appointment = Appointment.find(params[:id])
    fresh_when @appointment
  end

  def create
    Appointment.create!(doctor_id: 1, patient: "Patient", starts_at: Time.utc(2030))
    head :created
  end
end
