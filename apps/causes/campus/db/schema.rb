# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :students do |t|
    t.string :name, null: false
  end

  create_table :courses do |t|
    t.string :title, null: false
    t.index :title
  end

  create_table :enrolments do |t|
    t.references :course, null: false
    t.references :student, null: false
  end

  create_table :rooms do |t|
    t.string :name, null: false
  end

  create_table :lessons do |t|
    t.references :room, null: false
    t.integer :minutes, null: false
    t.boolean :cancelled, null: false
  end
end
