# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 2024_03_01_000000) do
  create_table :members do |t|
    t.string :name, null: false
  end

  create_table :books do |t|
    t.string :title, null: false
    t.index :title
  end

  create_table :loans do |t|
    t.bigint :member_id, null: false
    t.bigint :book_id, null: false
    t.date :due_on, null: false
    t.boolean :returned, null: false
  end
end
