# frozen_string_literal: true

class DoctorsController < ApplicationController
  def show
    @doctor = Doctor.find(params[:id])
    @appointments = @doctor.appointments.next_first.limit(10)
  end
end
