# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :brands do |t|
    t.string :name, null: false
    t.text :history, null: false
  end

  create_table :products do |t|
    t.references :brand, null: false
    t.string :name, null: false
    t.integer :price_cents, null: false
    t.text :description, null: false
    t.datetime :created_at, null: false
    t.datetime :updated_at, null: false
    t.index :name
  end

  create_table :variants do |t|
    t.references :product, null: false
    t.string :colour, null: false
    t.integer :stock, null: false
    t.datetime :created_at, null: false
    t.datetime :updated_at, null: false
  end
end
