# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :events do |t|
    t.string :name, null: false
    t.integer :reserved, null: false, default: 0
  end

  create_table :reservations do |t|
    t.references :event, null: false
    t.string :code, null: false
  end
end
