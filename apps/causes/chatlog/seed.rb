# frozen_string_literal: true

require "sequel"

DB = Sequel.connect(ENV.fetch("DATABASE_URL"))
exit if ARGV.include?("--reset") && DB.table_exists?(:messages) && DB[:messages].count >= 100_000

DB.drop_table?(:messages)
DB.create_table(:messages) do
  primary_key :id
  Integer :room_id, null: false
  Integer :author_id, null: false
  String :text, null: false
end
(1..100_000).each_slice(10_000) do |ids|
  rows = ids.map { |id| [id, 1 + (id * 13 % 500), 1 + (id % 90), "Message #{id}"] }
  DB[:messages].import(%i[id room_id author_id text], rows)
end
DB.run("ANALYZE messages")
