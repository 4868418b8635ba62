# frozen_string_literal: true

first = Time.utc(2024, 3, 1, 8)
ActiveRecord::Base.transaction do
  Doctor.insert_all!((1..12).map { |id| { id: id, name: "Doctor #{id}" } })
  Appointment.insert_all!((1..3_000).map do |id|
    { id: id, doctor_id: 1 + (id % 12), patient: "Patient #{id}", starts_at: first + (id * 20).minutes }
  end)
end
