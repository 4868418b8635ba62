# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :reporters do |t|
    t.string :name, null: false
  end

  create_table :milestones do |t|
    t.string :title, null: false
  end

  create_table :labels do |t|
    t.string :name, null: false
  end

  create_table :bugs do |t|
    t.bigint :reporter_id, null: false
    t.bigint :milestone_id, null: false
    t.string :title, null: false
    t.boolean :closed, null: false
    t.index %i[closed id]
  end

  create_table :taggings do |t|
    t.references :bug, null: false
    t.references :label, null: false
  end
end
