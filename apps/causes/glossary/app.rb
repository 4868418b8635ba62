# frozen_string_literal: true

require "connection_pool"
require "json"
require "sqlite3"
require_relative "lib/glossary"

# Glossaries of translators. A term may be explained once.
class App
  FILES = ConnectionPool.new(size: 5) { SQLite3::Database.new("glossary.db", readonly: true) }

  def call(env)
    case env["PATH_INFO"]
    when "/glossaries" then json(titles)
    when %r{\A/glossaries/(\d+)\z} then json(check($1.to_i))
    else [404, { "content-type" => "text/plain" }, ["no such page"]]
    end
  end

  private

  def titles
    FILES.with { |db| db.execute("SELECT id, title FROM glossaries ORDER BY id LIMIT 20") }
  end

  def check(id)
    title, text = FILES.with { |db| db.get_first_row("SELECT title, text FROM glossaries WHERE id = ?", [id]) }
    { title: title, terms: text.lines.size, explained_twice: Glossary.explained_twice(text) }
  end

  def json(value)
    [200, { "content-type" => "application/json" }, [JSON.generate(value)]]
  end
end
