# frozen_string_literal: true

require "zlib"

# Valid PNG pictures of a wanted size whose pixels are noise, so that they weigh the same however
# they are packed.
module Pictures
  WIDTH = 256
  SIGNATURE = "\x89PNG\r\n\x1A\n".b.freeze
  # 8 bits a pixel, grey, default packing and filter, not interlaced.
  FORMAT = [8, 0, 0, 0, 0].freeze

  module_function

  # A PNG of about `bytes` bytes (never less than one row of pixels).
  def png(random, bytes:, width: WIDTH)
    height = [bytes / (width + 1), 1].max
    pixels = Array.new(height) { "\0".b + random.bytes(width) }.join
    SIGNATURE +
      chunk("IHDR", [width, height, *FORMAT].pack("NNC5")) +
      chunk("IDAT", Zlib.deflate(pixels, Zlib::NO_COMPRESSION)) +
      chunk("IEND", "".b)
  end

  def chunk(kind, data)
    body = kind.b + data
    [data.bytesize].pack("N") + body + [Zlib.crc32(body)].pack("N")
  end
end
