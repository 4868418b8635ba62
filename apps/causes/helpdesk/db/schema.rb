# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :customers do |t|
    t.string :name, null: false
  end

  create_table :agents do |t|
    t.string :name, null: false
  end

  create_table :tickets do |t|
    t.references :customer, null: false
    t.references :agent, null: false
    t.string :subject, null: false
    t.string :state, null: false
    t.datetime :created_at, null: false
    t.index %i[state created_at]
  end

  create_table :comments do |t|
    t.references :ticket, null: false
    t.string :author, null: false
    t.string :text, null: false
  end
end
