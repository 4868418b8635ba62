# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :shelves do |t|
    t.integer :number, null: false
    t.index :number, unique: true
  end

  create_table :items do |t|
    t.references :shelf, null: false
    t.integer :position, null: false
    t.string :name, null: false
    t.integer :quantity, null: false
    t.datetime :counted_at
  end
end
