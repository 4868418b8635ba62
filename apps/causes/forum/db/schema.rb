# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :topics do |t|
    t.string :title, null: false
  end

  create_table :posts do |t|
    t.references :topic, null: false
    t.string :author, null: false
    t.text :text, null: false
  end
end
