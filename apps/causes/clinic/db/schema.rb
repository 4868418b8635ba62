# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :doctors do |t|
    t.string :name, null: false
  end

  create_table :appointments do |t|
    t.bigint :doctor_id, null: false
    t.string :patient, null: false
    t.datetime :starts_at, null: false
    t.index :starts_at
    t.index %i[doctor_id starts_at]
  end
end
