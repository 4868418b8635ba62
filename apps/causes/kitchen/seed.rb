# frozen_string_literal: true

require "sequel"

DB = Sequel.connect(ENV.fetch("DATABASE_URL"))
exit if ARGV.include?("--reset") && DB.table_exists?(:recipes_tags)

DB.create_table(:cooks) do
  primary_key :id
  String :name, null: false
end
DB.create_table(:tags) do
  primary_key :id
  String :name, null: false
end
DB.create_table(:recipes) do
  primary_key :id
  Integer :cook_id, null: false, index: true
  String :title, null: false
end
DB.create_table(:ingredients) do
  primary_key :id
  Integer :recipe_id, null: false, index: true
  String :name, null: false
end
DB.create_join_table(recipe_id: :recipes, tag_id: :tags)

DB[:cooks].import([:name], Array.new(40) { |n| ["Cook #{n}"] })
DB[:tags].import([:name], %w[quick vegan spicy sweet baked raw].map { |name| [name] })
DB[:recipes].import(%i[cook_id title], Array.new(600) { |n| [1 + (n * 7 % 40), "Dish #{n}"] })
DB[:ingredients].import(%i[recipe_id name], Array.new(4_800) { |n| [1 + (n / 8), "Spice #{n * 13 % 90}"] })
DB[:recipes_tags].import(%i[recipe_id tag_id], Array.new(1_200) { |n| [1 + (n / 2), 1 + (((n / 2) + (n % 2 * 3)) % 6)] })
DB.run("ANALYZE")
