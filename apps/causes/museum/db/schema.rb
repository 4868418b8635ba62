# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :exhibits do |t|
    t.string :title, null: false
    t.integer :room, null: false
    t.datetime :acquired_at, null: false
    t.datetime :updated_at, null: false
    t.index %i[room id]
    t.index %i[room updated_at]
  end
end
