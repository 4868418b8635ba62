ActiveRecord::Schema[7.2].define(version: 2024_08_01_000001) do
  create_table "authors", charset: "utf8mb4", collation: "utf8mb4_general_ci", comment: "who it's", force: :cascade do |t|
    t.string "name", limit: 80, default: "it's \\ so", null: false, comment: "say \\ it"
    t.string "bin", limit: 20, collation: "utf8mb4_bin"
    t.integer "tiny", limit: 1
    t.integer "small", limit: 2
    t.integer "medium", limit: 3, unsigned: true
    t.bigint "big", default: 12345678901
    t.boolean "ok", default: false
    t.boolean "yes", default: true, null: false
    t.decimal "price", precision: 10, scale: 2, default: "0.0"
    t.decimal "whole", precision: 5
    t.float "f", default: 1.5
    t.float "d", limit: 53
    t.datetime "at6", default: -> { "CURRENT_TIMESTAMP(6)" }
    t.datetime "at", precision: nil
    t.datetime "upd", precision: nil, default: -> { "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP" }
    t.timestamp "ts"
    t.timestamp "ts6", precision: 6, default: -> { "CURRENT_TIMESTAMP(6)" }, null: false
    t.time "clock", default: "2000-01-01 12:30:00"
    t.date "day", default: "2020-02-03"
    t.text "txt"
    t.text "mtxt", size: :medium
    t.text "ltxt", size: :long, null: false
    t.text "ttxt", size: :tiny
    t.binary "blob"
    t.binary "lblob", size: :long
    t.binary "vb", limit: 16
    t.column "color", "enum('red','it''s')", default: "red"
    t.column "flags", "set('a','b')"
    t.virtual "loud", type: :string, as: "upper(`name`)"
    t.virtual "len", type: :integer, as: "length(`name`)", stored: true
    t.index ["name"], name: "by_name", length: 10
    t.index ["name", "bin"], name: "by_both", length: { bin: 5 }, order: { name: :desc }, comment: "why"
    t.index ["small"], name: "uniq", unique: true
    t.index ["txt"], name: "ft", type: :fulltext
    t.check_constraint "`tiny` > 0", name: "tiny_pos"
    t.check_constraint "`small` > 1"
  end
  create_table "ints", id: :integer, charset: "utf8mb4", force: :cascade do |t|
  end
  create_table "uns", id: { type: :bigint, unsigned: true }, charset: "utf8mb4", force: :cascade do |t|
  end
  create_table "codes", primary_key: "code", id: { type: :string, limit: 36, comment: "k" }, charset: "utf8mb4", force: :cascade do |t|
  end
  create_table "noinc", id: :bigint, default: nil, charset: "utf8mb4", force: :cascade do |t|
  end
  create_table "old", id: :integer, options: "ENGINE=InnoDB DEFAULT CHARSET=latin1", force: :cascade do |t|
    t.string "a"
    t.references "author", foreign_key: true
  end
  create_table "posts", charset: "utf8mb4", force: :cascade do |t|
    t.bigint "author_id", null: false
    t.references "thing", polymorphic: true, null: false
    t.timestamps
    t.index ["author_id"], name: "index_posts_on_author_id"
  end
  create_table "pairs", primary_key: ["a", "b"], charset: "utf8mb4", force: :cascade do |t|
    t.bigint "a", null: false
    t.string "b", null: false
  end
  add_foreign_key "posts", "authors", on_delete: :cascade, on_update: :restrict
end
