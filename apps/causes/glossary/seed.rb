# frozen_string_literal: true

require "sqlite3"

DB = SQLite3::Database.new("glossary.db")
exit if ARGV.include?("--reset") && DB.get_first_value("SELECT count(*) FROM sqlite_master").positive?

DB.execute("CREATE TABLE glossaries (id INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL)")
DB.transaction do
  (1..60).each do |id|
    lines = Array.new(120) { |n| "term#{n * id}: what the house means by number #{n}\n" }
    lines << lines.first if (id % 20).zero?
    DB.execute("INSERT INTO glossaries (id, title, text) VALUES (?, ?, ?)", [id, "Glossary #{id}", lines.join])
  end
end
