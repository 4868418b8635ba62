# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :invoice_numbers do |t|
    t.integer :last, null: false
  end

  create_table :orders do |t|
    t.integer :number, null: false
    t.string :product, null: false
    t.integer :cents, null: false
    t.string :payment
    t.index :number, unique: true
  end
end
