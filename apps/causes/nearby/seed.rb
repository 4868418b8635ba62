# frozen_string_literal: true

require "sequel"

DB = Sequel.sqlite("nearby.db")
exit if ARGV.include?("--reset") && DB.table_exists?(:shops)

DB.create_table(:shops) do
  primary_key :id
  String :name, null: false
  String :street, null: false
  String :city, null: false
  String :opens, null: false
  Float :latitude, null: false
  Float :longitude, null: false
end
columns = %i[name street city opens latitude longitude]
rows = Array.new(4_000) do |n|
  ["Shop #{n}", "Street #{n % 170}", "City #{n % 60}", "8 to #{18 + (n % 4)}",
   47 + ((n * 7_919 % 8_000) / 1_000.0), 6 + ((n * 104_729 % 9_000) / 1_000.0)]
end
DB[:shops].import(columns, rows)
