# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :customers do |t|
    t.string :name, null: false
    t.index :name
  end

  create_table :orders do |t|
    t.references :customer, null: false
    t.decimal :total, precision: 10, scale: 2, null: false
    t.date :placed_on, null: false
    t.text :note
  end
end
