# frozen_string_literal: true

require "socket"

# Another service: a few threads of this same process that wait about as long as the path says and answer a number.
# On a port of its own choice, so that nothing has to be started or stopped beside the app.
class Upstream
  # So many times the average at most.
  LONGEST = 5

  attr_reader :host

  # Every service has a loopback address of its own, as services have names.
  def initialize(host)
    @host = host
    @server = TCPServer.new(host, 0)
    Thread.new do
      loop { Thread.new(@server.accept) { |client| serve(client) } }
    end
  end

  def port = @server.addr[1]

  private

  # `GET /wait/40` is answered after 40 ms on average; a connection is kept until the other end closes it.
  def serve(client)
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = client.gets)
      nil until client.gets.to_s.strip.empty?
      milliseconds = line[%r{/wait/(\d+)}, 1].to_i
      sleep(milliseconds * spread / 1000.0)
      body = Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond).to_s
      client.write("HTTP/1.1 200 OK\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
    end
  rescue SystemCallError, IOError
    nil # The other end is gone.
  ensure
    client.close
  end

  # As random as the answers of a service are (exponential): in step with each other requests would hardly meet.
  def spread = [-Math.log(1 - rand), LONGEST].min
end
