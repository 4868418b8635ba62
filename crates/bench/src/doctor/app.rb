# An app whose one request does one kind of WORK, COUNT times. Answers GET on 127.0.0.1:PORT, one connection after another.
require "socket"
require "uri"

ROWS = 300_000
DOCUMENTS = 60_000
SHELVES = 1000
# The same draws in every process, so that both sides do the same work.
srand(7)
count = Integer(ENV.fetch("COUNT", "1"))
pause = Float(ENV.fetch("PAUSE", "0"))
address = URI(ENV["DATABASE_URL"].to_s)

def mysql(address)
  require "mysql2"
  Mysql2::Client.new(host: address.host, port: address.port, username: address.user, password: address.password, database: address.path[1..])
end

work = case ENV.fetch("WORK")
       when "cpu" then -> { i = 0; i += 1 while i < 10_000 }
       when "calls" then -> { Process.ppid }
       when "mysql-read"
         client = mysql(address)
         -> { client.query("SELECT pad FROM facts WHERE id = #{rand(ROWS) + 1}").first }
       when "mysql-commit"
         client = mysql(address)
         -> { sleep(pause) and client.query("UPDATE counts SET n = n + 1 WHERE id = 1") }
       when "postgres-range"
         require "pg"
         client = PG.connect(ENV["DATABASE_URL"])
         plan = lambda do |sql, cost|
           client.exec("SET random_page_cost = #{cost}")
           client.exec("EXPLAIN (COSTS OFF) #{sql}").values
         end
         ranges = [["id", DOCUMENTS], ["shelf", SHELVES]].product((1..50).to_a, ["*", "body"]).map do |(column, all), part, counted|
           width = all * part / 50
           first = rand(all - width + 1)
           "SELECT count(#{counted}) FROM documents WHERE #{column} BETWEEN #{first} AND #{first + width}"
         end
         # Those that the setting matters to, in the same order of widths on both sides.
         ranges.select! { |sql| plan.call(sql, 4) != plan.call(sql, 1.1) }
         client.exec("RESET random_page_cost")
         turns = ranges.shuffle.cycle
         -> { client.exec(turns.next).values }
       when "postgres-sum"
         require "pg"
         client = PG.connect(ENV["DATABASE_URL"])
         # Rows of 500 blocks, read by the key.
         lambda do
           first = rand(DOCUMENTS - 2000) + 1
           client.exec("SELECT sum(octet_length(body)) FROM documents WHERE id BETWEEN #{first} AND #{first + 1999}").values
         end
       when "sqlite-commit"
         require "sqlite3"
         file = SQLite3::Database.new(ENV.fetch("FILE"))
         file.execute("PRAGMA synchronous = #{ENV.fetch("SYNCHRONOUS")}")
         -> { sleep(pause) and file.execute("UPDATE counts SET n = n + 1 WHERE id = 1") }
       when "sync"
         file = File.open(ENV.fetch("FILE"), "r+b")
         page = "x" * 4096
         -> { sleep(pause) and file.pwrite(page, 4096 * rand(16)) and file.fdatasync }
       end

server = TCPServer.new("127.0.0.1", Integer(ENV.fetch("PORT")))
loop do
  socket = server.accept
  socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (line = socket.gets)
    next unless line == "\r\n"
    count.times { work.call }
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
  end
  socket.close
rescue Errno::ECONNRESET, Errno::EPIPE
  socket&.close
end
