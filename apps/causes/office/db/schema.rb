# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :people do |t|
    t.string :name, null: false
  end

  create_table :projects do |t|
    t.bigint :owner_id, null: false
    t.string :name, null: false
    t.index :name
  end

  create_table :tasks do |t|
    t.references :project, null: false
    t.bigint :person_id, null: false
    t.string :title, null: false
    t.date :due_on, null: false
    t.boolean :done, null: false
  end
end
