# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :cities do |t|
    t.string :name, null: false
  end

  create_table :hotels do |t|
    t.bigint :city_id, null: false
    t.string :name, null: false
    t.integer :cents, null: false
    t.index :name
  end

  create_table :pictures do |t|
    t.references :hotel, null: false
    t.string :path, null: false
  end

  create_table :reviews do |t|
    t.references :hotel, null: false
    t.integer :stars, null: false
  end

  create_table :bookings do |t|
    t.references :hotel, null: false
    t.string :mail, null: false
    t.date :starts_on, null: false
    t.integer :nights, null: false
  end
end
