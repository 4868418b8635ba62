# frozen_string_literal: true

# Planted: comments.post_id has no index.
ActiveRecord::Schema[7.2].define(version: 2024_08_01_000001) do
  create_table "authors", force: :cascade do |t|
    t.string "name", null: false
    t.string "password_digest", null: false
    t.index ["name"], name: "index_authors_on_name", unique: true
  end

  create_table "posts", force: :cascade do |t|
    t.bigint "author_id", null: false
    t.string "title", null: false
    t.text "body", null: false
    t.datetime "created_at", null: false
    t.index ["author_id"], name: "index_posts_on_author_id"
    t.index ["created_at"], name: "index_posts_on_created_at"
  end

  create_table "comments", force: :cascade do |t|
    t.bigint "post_id", null: false
    t.string "name", null: false
    t.text "body", null: false
    t.datetime "created_at", null: false
  end

  create_table "tags", force: :cascade do |t|
    t.string "name", null: false
    t.index ["name"], name: "index_tags_on_name", unique: true
  end

  create_table "taggings", force: :cascade do |t|
    t.bigint "post_id", null: false
    t.bigint "tag_id", null: false
    t.index ["post_id"], name: "index_taggings_on_post_id"
    t.index ["tag_id"], name: "index_taggings_on_tag_id"
  end
end
