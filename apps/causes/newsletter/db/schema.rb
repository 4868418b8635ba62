# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :lists do |t|
    t.string :name, null: false
  end

  create_table :subscribers do |t|
    t.references :list, null: false
    t.string :email, null: false
    t.string :source, null: false
  end
end
