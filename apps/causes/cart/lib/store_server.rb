# frozen_string_literal: true

require "socket"

# Stands for the shop's key-value store: a process of its own that speaks as much of Redis' protocol as the app needs.
module StoreServer
  HOST = "127.0.0.1"
  PRODUCTS = 400

  def self.port = @server.addr[1]

  def self.start
    @server = TCPServer.new(HOST, 0)
    pid = fork { serve }
    at_exit { Process.kill("TERM", pid) }
  end

  def self.serve
    data = entries
    loop do
      Thread.new(@server.accept) do |client|
        client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
        while (words = read(client))
          client.write(answer(data, words))
        end
      end
    end
  end
  private_class_method :serve

  def self.entries
    (1..PRODUCTS).each_with_object({}) do |id, data|
      data["price:#{id}"] = (199 + (id * 37)).to_s
      data["stock:#{id}"] = (id % 60).to_s
    end
  end
  private_class_method :entries

  def self.read(client)
    count = client.gets&.delete_prefix("*") or return
    Array.new(count.to_i) do
      client.gets
      client.gets.chomp
    end
  end
  private_class_method :read

  def self.answer(data, words)
    command, *keys = words
    case command
    when "GET" then bulk(data[keys.first])
    when "MGET" then "*#{keys.size}\r\n#{keys.map { |key| bulk(data[key]) }.join}"
    else "-ERR unknown command\r\n"
    end
  end
  private_class_method :answer

  def self.bulk(value) = value ? "$#{value.bytesize}\r\n#{value}\r\n" : "$-1\r\n"
  private_class_method :bulk
end
