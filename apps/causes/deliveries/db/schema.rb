# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :couriers do |t|
    t.string :name, null: false
  end

  create_table :deliveries do |t|
    t.references :courier, null: false
    t.string :state, null: false, limit: 12
    t.string :address, null: false
    t.datetime :due_at, null: false
  end
end
