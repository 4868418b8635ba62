# frozen_string_literal: true

require "sequel"

DB = Sequel.sqlite("printing.db")
exit if ARGV.include?("--reset") && DB.table_exists?(:labels)

DB.run("PRAGMA journal_mode = WAL")
DB.create_table(:customers) do
  primary_key :id
  String :name, null: false
end
DB.create_table(:labels) do
  primary_key :id
  Integer :customer_id, null: false, index: true
  String :receiver, null: false
  String :state, null: false
  Integer :printed_at, null: false
end
DB[:customers].import([:name], Array.new(200) { |n| ["Customer #{n}"] })
rows = Array.new(30_000) do |n|
  [1 + (n * 7 % 200), "Receiver #{n}", (n % 150).zero? ? "failed" : "printed", 1_709_251_200 + (n * 7_919 % 86_400)]
end
DB[:labels].import(%i[customer_id receiver state printed_at], rows)
