# frozen_string_literal: true

require "json"
require "pg"

# Which doors a badge opens, as the access system has it.
class App
  DB = PG.connect(ENV.fetch("DATABASE_URL"))
  LOCK = Mutex.new

  def call(env)
    case env["PATH_INFO"]
    when %r{\A/badges/(\d+)\z} then json(doors: query("SELECT name FROM doors_of($1)", $1.to_i).map { |door| door["name"] })
    when %r{\A/doors/(\d+)\z} then json(query("SELECT id, name FROM doors WHERE id = $1", $1.to_i).first)
    else [404, { "content-type" => "text/plain" }, ["no such page"]]
    end
  end

  private

  # A connection may be used by one thread at a time.
  def query(sql, *values)
    LOCK.synchronize { DB.exec_params(sql, values).to_a }
  end

  def json(value)
    [200, { "content-type" => "application/json" }, [JSON.generate(value)]]
  end
end
