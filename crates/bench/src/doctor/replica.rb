# Makes the server at REPLICA a copy of the one at DATABASE_URL, then lets it fall BEHIND or stop (STOPPED), by FAULT.
# Prints a line when that is so, and keeps it so until the end of its input.
require "mysql2"
require "uri"

LIMIT_S = 60
connect = lambda do |url|
  at = URI(url)
  client = Mysql2::Client.new(host: at.host, port: at.port, username: at.user, password: at.password, database: at.path[1..])
  [client, at]
end
source, at = connect.(ENV.fetch("DATABASE_URL"))
replica, = connect.(ENV.fetch("REPLICA"))
mariadb = source.query("SELECT VERSION()", as: :array).first.first.include?("MariaDB")
status = -> { replica.query(mariadb ? "SHOW SLAVE STATUS" : "SHOW REPLICA STATUS").first || {} }
upto = lambda do |what, &holds|
  deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + LIMIT_S
  until holds.call
    raise "not #{what} after #{LIMIT_S} s: #{status.call}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
    Thread.pass
  end
end

source.query("DROP TABLE IF EXISTS copied")
place = source.query(mariadb ? "SHOW MASTER STATUS" : "SHOW BINARY LOG STATUS").first
to = { host: "'#{at.host}'", port: at.port, user: "'#{at.user}'", password: "'#{at.password}'", log_file: "'#{place["File"]}'", log_pos: place["Position"] }
if mariadb
  replica.query("STOP SLAVE")
  replica.query("RESET SLAVE ALL")
  replica.query("CHANGE MASTER TO #{to.map { |name, value| "MASTER_#{name.upcase} = #{value}" }.join(", ")}")
  replica.query("START SLAVE")
else
  replica.query("STOP REPLICA")
  replica.query("RESET REPLICA ALL")
  of_mysql = to.merge(ssl: 0).map { |name, value| "SOURCE_#{name.upcase} = #{value}" }
  replica.query("CHANGE REPLICATION SOURCE TO #{of_mysql.join(", ")}, GET_SOURCE_PUBLIC_KEY = 1")
  replica.query("START REPLICA")
end
source.query("CREATE TABLE copied (id INT PRIMARY KEY, n INT NOT NULL)")
source.query("INSERT INTO copied VALUES (1, 0)")
copied = -> { replica.query("SELECT COUNT(*) AS n FROM copied").first["n"] == 1 rescue false }
upto.("copied", &copied)

case ENV.fetch("FAULT")
when "BEHIND"
  # A long transaction on the copy holds the row that the source changed, by its clock, long ago.
  replica.query("START TRANSACTION")
  replica.query("SELECT n FROM copied WHERE id = 1 FOR UPDATE")
  source.query("SET timestamp = UNIX_TIMESTAMP() - 100")
  source.query("UPDATE copied SET n = n + 1 WHERE id = 1")
  behind = -> { status.call.values_at("Seconds_Behind_Master", "Seconds_Behind_Source").compact.first.to_i >= 60 }
  upto.("behind", &behind)
when "STOPPED"
  # Somebody wrote into the copy.
  replica.query("INSERT INTO copied VALUES (2, 0)")
  source.query("INSERT INTO copied VALUES (2, 0)")
  stopped = -> { status.call.values_at("Slave_SQL_Running", "Replica_SQL_Running").compact.first == "No" }
  upto.("stopped", &stopped)
end
puts "ready"
$stdout.flush
$stdin.read
