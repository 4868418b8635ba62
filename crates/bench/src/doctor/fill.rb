# Makes what app.rb reads and writes: in DATABASE_URL, or in the SQLite file FILE with journal mode JOURNAL.
require "uri"

ROWS = 300_000
# Four documents fill a block.
DOCUMENTS = 60_000
SHELVES = 1000
BODY = 1900
address = URI(ENV["DATABASE_URL"].to_s)
case address.scheme
when "mysql2"
  require "mysql2"
  client = Mysql2::Client.new(host: address.host, port: address.port, username: address.user, password: address.password, database: address.path[1..])
  client.query("CREATE TABLE facts (id INT PRIMARY KEY, pad CHAR(200) NOT NULL)")
  (1..ROWS).each_slice(10_000) { |ids| client.query("INSERT INTO facts VALUES #{ids.map { |id| "(#{id}, REPEAT('x', 200))" }.join(",")}") }
  client.query("CREATE TABLE counts (id INT PRIMARY KEY, n INT NOT NULL)")
  client.query("INSERT INTO counts VALUES (1, 0)")
when "postgres"
  require "pg"
  client = PG.connect(ENV["DATABASE_URL"])
  client.exec("CREATE TABLE documents (id INT PRIMARY KEY, shelf INT NOT NULL, body CHAR(#{BODY}) NOT NULL)")
  # Documents of a shelf lie together, shelves in no order: what the planner takes for places all over the table.
  client.exec("INSERT INTO documents SELECT n, ((n - 1) / #{DOCUMENTS / SHELVES}) * 7919::bigint % #{SHELVES}, 'x' FROM generate_series(1, #{DOCUMENTS}) n")
  client.exec("CREATE INDEX ON documents (shelf)")
  client.exec("VACUUM ANALYZE documents")
else
  require "sqlite3"
  file = SQLite3::Database.new(ENV.fetch("FILE"))
  file.execute("PRAGMA journal_mode = #{ENV.fetch("JOURNAL")}")
  file.execute("CREATE TABLE counts (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)")
  file.execute("INSERT INTO counts VALUES (1, 0)")
end
