# frozen_string_literal: true

require "digest/sha1"

module Clicker
  # The few parts of RFC 6455 that the game needs: text frames, not in fragments, and the end.
  class Socket
    GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    TEXT = 1
    CLOSE = 8
    # A longer message is nobody's game.
    BYTES_MAX = 1 << 16

    def self.accept_key(key) = [Digest::SHA1.digest(key + GUID)].pack("m0")

    # `masked` is what a client's frames must be and a server's must not.
    def initialize(stream, masked: false)
      @stream = stream
      @masked = masked
    end

    # The next text, nil when the other side has ended.
    def read
      head = @stream.read(2)&.bytes or return
      return unless head[0] & 0x0f == TEXT

      length = head[1] & 0x7f
      length = @stream.read(2).unpack1("n") if length == 126
      return if length > BYTES_MAX

      mask = head[1].anybits?(0x80) ? @stream.read(4) : nil
      body = @stream.read(length)
      (mask ? self.class.mask(body, mask) : body).force_encoding(Encoding::UTF_8)
    end

    def write(text) = frame(TEXT, text.b)

    def close = frame(CLOSE, "".b)

    def self.mask(body, key)
      keys = key.bytes
      body.bytes.each_with_index.map { |byte, index| byte ^ keys[index % 4] }.pack("C*")
    end

    private

    def frame(kind, body)
      bit = @masked ? 0x80 : 0
      head = body.size < 126 ? [0x80 | kind, bit | body.size].pack("CC") : [0x80 | kind, bit | 126, body.size].pack("CCn")
      key = @masked ? Random.bytes(4) : ""
      @stream.write(head + key + (@masked ? self.class.mask(body, key) : body))
      @stream.flush
    end
  end
end
