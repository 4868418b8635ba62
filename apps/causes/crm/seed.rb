# frozen_string_literal: true

require "sequel"

DB = Sequel.connect(ENV.fetch("DATABASE_URL"))
exit if ARGV.include?("--reset") && DB.table_exists?(:calls) && DB[:calls].count >= 40_000

DB.drop_table?(:calls, :contacts)
DB.create_table(:contacts) do
  primary_key :id
  String :name, null: false
  String :notes, text: true
end
DB.create_table(:calls) do
  primary_key :id
  Integer :contact_id, null: false
  Integer :seconds, null: false
end
DB[:contacts].import(%i[name notes], Array.new(1_000) { |n| ["Contact #{n}", "Prefers mornings. " * 4] })
(1..40_000).each_slice(5_000) do |ids|
  DB[:calls].import(%i[contact_id seconds], ids.map { |id| [1 + (id * 7 % 1_000), id % 600] })
end
