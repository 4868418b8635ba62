ActiveRecord::Schema[7.2].define(version: 2024_08_01_000001) do
  create_schema "billing"

  # These are extensions
  enable_extension "plpgsql"
  enable_extension "citext"
  enable_extension "hstore"
  enable_extension "btree_gist"
  enable_extension "pg_trgm"

  create_enum "mood", ["sad", "it's ok", "happy"]

  create_table "authors", comment: "who writes, it's them", force: :cascade do |t|
    t.string "name", limit: 80, default: "x \"y\" it's\n#z", null: false, comment: "say \\ it"
    t.citext "email"
    t.enum "mood", default: "happy", null: false, enum_type: "mood"
    t.integer "age", limit: 2
    t.bigint "big", default: 12345678901
    t.boolean "ok", default: false
    t.decimal "price", precision: 10, scale: 2, default: "0.0"
    t.decimal "whole", precision: 5
    t.decimal "any"
    t.float "f", default: 1.5
    t.datetime "at6", default: -> { "CURRENT_TIMESTAMP" }
    t.datetime "at", precision: nil
    t.datetime "at3", precision: 3
    t.timestamptz "tz"
    t.time "clock", default: "2000-01-01 12:30:00"
    t.date "day", default: "2020-02-03"
    t.binary "blob"
    t.json "j"
    t.jsonb "jb", default: {}, null: false
    t.jsonb "jl", default: [1, "a", { "b" => nil }]
    t.hstore "h", default: { "a" => "1" }
    t.string "tags", default: [], array: true
    t.text "names", default: ["a b", "c", "d\"e"], array: true
    t.integer "numbers", default: [1, 2], array: true
    t.uuid "key", default: -> { "gen_random_uuid()" }
    t.inet "ip", default: "127.0.0.1"
    t.cidr "net"
    t.macaddr "mac"
    t.xml "x"
    t.tsvector "tv"
    t.point "p"
    t.bit "b", limit: 3
    t.bit_varying "bv", limit: 5, default: "101"
    t.money "m"
    t.interval "i"
    t.int4range "r"
    t.tstzrange "tr"
    t.oid "o"
    t.column "real", "real"
    t.virtual "loud", type: :string, as: "upper((name)::text)", stored: true
    t.string "coll", collation: "C"
    t.index "lower((name)::text)", name: "by_lower"
    t.index ["age", "big"], name: "by_age", order: { age: :desc, big: "DESC NULLS LAST" }
    t.index ["name"], name: "by_name", unique: true, where: "(ok IS TRUE)"
    t.index ["name"], name: "trgm", opclass: :gin_trgm_ops, using: :gin
    t.index ["jb"], name: "gin", opclass: { jb: :jsonb_path_ops }, using: :gin, comment: "what for"
    t.index ["email"], name: "inc", include: ["age"]
    t.index ["email", "age"], name: "nnd", unique: true, nulls_not_distinct: true
    t.check_constraint "age > 0", name: "age_is_positive"
    t.check_constraint "big > 1"
    t.check_constraint "price >= 0::numeric", name: "later", validate: false
    t.exclusion_constraint "r WITH &&", using: :gist, name: "no_overlap"
    t.exclusion_constraint "tr WITH &&, age WITH =", where: "(ok IS TRUE)", using: :gist, deferrable: :deferred
    t.unique_constraint ["big"], deferrable: :deferred, name: "uniq_big"
    t.unique_constraint ["age", "big"]
  end

  create_table "posts", id: :uuid, default: -> { "gen_random_uuid()" }, force: :cascade do |t|
    t.bigint "author_id", null: false
    t.references "editor", foreign_key: { to_table: "authors", on_delete: :nullify }
    t.references "thing", polymorphic: true, null: false
    t.timestamps
    t.index ["author_id"], name: "index_posts_on_author_id"
  end

  create_table "codes", primary_key: "code", id: { type: :string, limit: 36, comment: "the key" }, force: :cascade do |t|
    t.serial "n", null: false
  end
  create_table "ints", id: :integer, default: nil, force: :cascade do |t|
    t.integer "a"
  end
  create_table "serials", id: :serial, force: :cascade do |t|
  end
  create_table "pairs", primary_key: ["a", "b"], force: :cascade do |t|
    t.bigint "a", null: false
    t.string "b", null: false
  end
  create_table "joins", id: false, force: :cascade do |t|
    t.bigint "author_id"
    t.uuid "post_id"
    t.bigint "a"; t.string "b"
  end
  create_table "billing.invoices", force: :cascade do |t|
    t.bigint "author_id"
    t.index ["author_id"], name: "inv_author"
  end

  add_foreign_key "billing.invoices", "authors"
  add_foreign_key "joins", "authors", on_delete: :cascade, on_update: :restrict, deferrable: :deferred
  add_foreign_key "joins", "pairs", column: ["a", "b"], primary_key: ["a", "b"], name: "fk_pair"
  add_foreign_key "joins", "posts", validate: false
  add_foreign_key "posts", "authors"
end
