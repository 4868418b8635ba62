# frozen_string_literal: true

# Plays: ruby play.rb HOST PORT SECONDS. Prints how many messages were answered.
require "json"
require "socket"
require_relative "lib/clicker/socket"

host, port, seconds = ARGV
ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + Float(seconds)

def join(host, port, room)
  stream = TCPSocket.new(host, Integer(port))
  key = [Random.bytes(16)].pack("m0")
  stream.write("GET /#{room} HTTP/1.1\r\nHost: #{host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: #{key}\r\n\r\n")
  head = stream.gets("\r\n\r\n")
  raise "refused: #{head}" unless head.include?(Clicker::Socket.accept_key(key))

  Clicker::Socket.new(stream, masked: true)
end

ASKED = [{ "action" => "add", "amount" => "1#{'0' * 500}" }, { "action" => "buy", "item" => 1 }, { "action" => "status" }].freeze

players = 3.times.map do |player|
  Thread.new do
    socket = join(host, port, "room#{player % 2}")
    id = 0
    while Process.clock_gettime(Process::CLOCK_MONOTONIC) < ends
      socket.write(JSON.generate(ASKED[id % ASKED.size].merge("id" => id)))
      answer = JSON.parse(socket.read)
      raise "wrong answer: #{answer}" unless answer["id"] == id && answer["status"]["items"].size == 4

      id += 1
    end
    socket.close
    id
  end
end
puts "#{players.sum(&:value)} messages answered"
