# frozen_string_literal: true

require "socket"

# A client of the key-value store.
class Store
  def initialize(host, port)
    @socket = TCPSocket.new(host, port)
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def get(key) = call("GET", key)

  def mget(*keys) = call("MGET", *keys)

  private

  def call(*words)
    @socket.write("*#{words.size}\r\n#{words.map { |word| "$#{word.bytesize}\r\n#{word}\r\n" }.join}")
    read
  end

  def read
    line = @socket.gets.chomp
    size = line[1..].to_i
    case line[0]
    when "$" then size.negative? ? nil : @socket.read(size + 2).delete_suffix("\r\n")
    when "*" then Array.new(size) { read }
    else raise line
    end
  end
end
