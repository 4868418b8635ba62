ActiveRecord::Schema[7.2].define(version: 2024_08_01_000001) do
  create_table "authors", force: :cascade do |t|
    t.string "name", limit: 80, default: "it's \\ so", null: false
    t.string "nc", collation: "NOCASE"
    t.integer "small", limit: 2
    t.bigint "big", default: 12345678901
    t.boolean "ok", default: false
    t.decimal "price", precision: 10, scale: 2, default: "0.0"
    t.float "f", default: 1.5
    t.datetime "at6", default: -> { "CURRENT_TIMESTAMP" }
    t.datetime "at", precision: nil
    t.time "clock"
    t.date "day", default: "2020-02-03"
    t.text "txt", default: -> { "hex(randomblob(4))" }
    t.binary "blob"
    t.json "j", default: {}
    t.virtual "loud", type: :string, as: "upper(name)", stored: true
    t.virtual "len", type: :integer, as: "length(name)", stored: false
    t.index ["name"], name: "by_name", unique: true, where: "ok = 1"
    t.index "lower(name)", name: "by_lower"
    t.index ["small", "big"], name: "by_both", order: { big: :desc }
    t.check_constraint "small > 0", name: "small_pos"
    t.check_constraint "big > 0"
  end
  create_table "codes", primary_key: "code", id: { type: :string, limit: 36 }, force: :cascade do |t|
  end
  create_table "posts", force: :cascade do |t|
    t.integer "author_id", null: false
    t.references "thing", polymorphic: true, null: false
    t.timestamps
    t.index ["author_id"], name: "index_posts_on_author_id"
  end
  create_table "pairs", primary_key: ["a", "b"], force: :cascade do |t|
    t.bigint "a", null: false
    t.string "b", null: false
  end
  add_foreign_key "posts", "authors", on_delete: :cascade, deferrable: :deferred
end
