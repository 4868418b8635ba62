# Waits as a client of an app's Ruby does; doctor is at the other end of both pipes.
# Arguments: "commits", or "lookups" with the address of the database in HAKARU_PROBE_URL.
$stdout.sync = true
clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) }

# Each line asks for a commit and says how long the last one took, ns.
commits = lambda do
  took = nil
  loop do
    sleep 0.001
    begun = clock.call
    $stdout.write("#{took}\n")
    $stdin.getbyte or break
    took = clock.call - begun
  end
end

connect = lambda do |address|
  require "uri"
  url = URI(address)
  plain = ->(part) { part&.gsub(/%(\h\h)/) { $1.hex.chr } }
  # By that name the driver takes a socket, of which the address says nothing.
  host = url.host == "localhost" ? "127.0.0.1" : url.host
  options = {
    host: host, port: url.port, username: plain.(url.user), password: plain.(url.password), database: plain.(url.path[1..]),
    connect_timeout: 1, read_timeout: 2,
  }
  begin
    require "mysql2"
    Mysql2::Client.new(options)
  rescue LoadError
    require "trilogy"
    Trilogy.new(options)
  end
end

# Each line holds statements separated by tabs; returned is how long all of them took, and how long
# as many of the last one alone, ns.
lookups = lambda do
  client = connect.call(ENV.fetch("HAKARU_PROBE_URL"))
  puts "ready"
  while (line = $stdin.gets)
    row = line.chomp.split("\t")
    times = [row, [row.last] * row.size].map do |all|
      begun = clock.call
      all.each { |sql| client.query(sql).to_a }
      clock.call - begun
    end
    puts times.join(" ")
  end
end

{ "commits" => commits, "lookups" => lookups }.fetch(ARGV[0]).call
