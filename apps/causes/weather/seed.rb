# frozen_string_literal: true

require "sequel"

DB = Sequel.sqlite("weather.db")
exit if ARGV.include?("--reset") && DB.table_exists?(:readings)

DB.run("PRAGMA journal_mode = WAL")
DB.create_table(:readings) do
  primary_key :id
  Integer :station_id, null: false
  Float :celsius, null: false
  index %i[station_id id]
end
DB[:readings].import(%i[station_id celsius], Array.new(20_000) { |n| [1 + (n % 100), (n * 17 % 400) / 10.0] })
