# frozen_string_literal: true

require "sequel"

DB = Sequel.connect(ENV.fetch("DATABASE_URL"))
exit if ARGV.include?("--reset") && DB.table_exists?(:entries)

DB.create_table(:entries) do
  primary_key :id
  Integer :account_id, null: false, index: true
  Integer :cents, null: false
end
DB[:entries].import(%i[account_id cents], Array.new(5_000) { |n| [1 + (n % 50), (n * 37) % 900] })
