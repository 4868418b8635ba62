# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :owners do |t|
    t.string :name, null: false
  end

  create_table :bicycles do |t|
    t.bigint :owner_id, null: false
    t.string :frame, null: false
    t.string :colour, null: false
    t.index %i[owner_id id]
  end
end
