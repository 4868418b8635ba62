# frozen_string_literal: true

require "socket"

# Stands for the provider of payments: a process of its own that takes 12 ms for an answer.
module PaymentService
  HOST = "127.0.0.1"
  ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\naccepted"

  def self.port = @server.addr[1]

  def self.start
    @server = TCPServer.new(HOST, 0)
    pid = fork { serve }
    at_exit { Process.kill("TERM", pid) }
  end

  def self.serve
    loop do
      Thread.new(@server.accept) do |client|
        nil until client.gets.to_s.strip.empty?
        sleep 0.012
        client.write(ANSWER)
        client.close
      end
    end
  end
  private_class_method :serve
end
