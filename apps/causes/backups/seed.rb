# frozen_string_literal: true

require "json"
require "sequel"

DB = Sequel.sqlite("backups.db")
exit if ARGV.include?("--reset") && DB.table_exists?(:backups)

DB.create_table(:backups) do
  primary_key :id
  String :notebook, null: false
  String :text, text: true, null: false
end
(1..12).each do |id|
  notes = Array.new(2_400) { |n| { note: n, text: "Remember item #{n * id % 977}", done: (n % 3).zero?, weight: n * 7_919 % 1_009 } }
  DB[:backups].insert(id: id, notebook: "Notebook #{id}", text: JSON.generate(notes))
end
