# frozen_string_literal: true

require "json"
require_relative "lib/clicker"

ROOMS = Hash.new { |rooms, name| rooms[name] = Clicker::Room.new }
ROOMS_LOCK = Mutex.new

# One message of a player, and its answer.
def handle(room, message)
  done =
    case message["action"]
    when "add" then room.add(Integer(message["amount"]))
    when "buy" then room.buy(message["item"])
    when "status" then true
    else false
    end
  { "id" => message["id"], "done" => done, "status" => room.status }
end

# After the hijack Puma knows no requests any more: each message is one where Hakaru looks on.
def as_request(route, &) = defined?(HakaruAgent) ? HakaruAgent.request(route, &) : yield

def answer(socket, room, text)
  action = "unknown"
  as_request(-> { "GET /:room #{action}" }) do
    message = JSON.parse(text)
    action = message["action"] if %w[add buy status].include?(message["action"])
    socket.write(JSON.generate(handle(room, message)))
  end
end

def play(stream, room)
  socket = Clicker::Socket.new(stream)
  while (text = socket.read)
    answer(socket, room, text)
  end
rescue IOError, SystemCallError
  # A player who goes without a word.
ensure
  stream.close
end

run(lambda do |env|
  key = env["HTTP_SEC_WEBSOCKET_KEY"]
  next [200, { "content-type" => "text/plain" }, ["GET /ROOM with a WebSocket\n"]] unless key

  room = ROOMS_LOCK.synchronize { ROOMS[env["PATH_INFO"]] }
  stream = env["rack.hijack"].call
  stream.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
               "Sec-WebSocket-Accept: #{Clicker::Socket.accept_key(key)}\r\n\r\n")
  stream.flush
  Thread.new { play(stream, room) }
  [-1, {}, []]
end)
