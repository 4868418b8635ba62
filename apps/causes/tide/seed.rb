# frozen_string_literal: true

require "sequel"

DB = Sequel.connect(ENV.fetch("DATABASE_URL"))
exit if ARGV.include?("--reset") && DB.table_exists?(:tides)

DB.create_table(:tides) do
  primary_key :id
  Integer :harbour_id, null: false
  DateTime :at, null: false
  Integer :centimetres, null: false
  index %i[harbour_id at]
  index %i[harbour_id centimetres]
end
start = Time.utc(2024, 3, 1)
(0...12_000).each_slice(4_000) do |numbers|
  rows = numbers.map { |n| [1 + (n % 80), start + (n / 80 * 22_350), (n * 31) % 420] }
  DB[:tides].import(%i[harbour_id at centimetres], rows)
end
DB.run("ANALYZE TABLE tides")
