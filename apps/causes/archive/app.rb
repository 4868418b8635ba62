# frozen_string_literal: true

require "connection_pool"
require "json"
require "mysql2"
require "rack"
require_relative "lib/database"

# Articles of a newspaper, by section, the newest first.
class App
  POOL = ConnectionPool.new(size: 5) { Database.connect }
  PER_PAGE = 20

  def call(env)
    request = Rack::Request.new(env)
    case request.path_info
    when %r{\A/sections/(\d+)\z} then json(section($1.to_i, [request.params["page"].to_i, 1].max))
    when %r{\A/articles/(\d+)\z} then json(article($1.to_i))
    else [404, { "content-type" => "text/plain" }, ["no such page"]]
    end
  end

  private

  def section(id, page)
    POOL.with do |db|
      count = db.query("SELECT COUNT(*) AS count FROM articles WHERE section_id = #{id}").first["count"]
      articles = db.query(<<~SQL)
        SELECT number, title, teaser FROM articles WHERE section_id = #{id}
        ORDER BY number DESC LIMIT #{PER_PAGE} OFFSET #{(page - 1) * PER_PAGE}
      SQL
      { page: page, pages: count.ceildiv(PER_PAGE), articles: articles.to_a }
    end
  end

  def article(id)
    POOL.with { |db| db.query("SELECT number, title, teaser FROM articles WHERE id = #{id}").first }
  end

  def json(value)
    [200, { "content-type" => "application/json" }, [JSON.generate(value)]]
  end
end
