# frozen_string_literal: true

require "digest"
require_relative "../dataset"
require_relative "people"
require_relative "pictures"
require_relative "words"

# Makes the tables and fills them; the same seed gives the same rows on every database.
class Filler
  SEED = 20_171_021
  STARTED_AT = Time.utc(2017, 10, 21, 9)
  # Rows a statement: far below each database's limit on values in one statement.
  BATCH_ROWS = 500
  EXTRA_CHANNELS = 90

  # Channels beyond the seeded ones, as the contest's benchmark adds them before it measures.
  def self.add_channels(db, count: EXTRA_CHANNELS, first: Dataset::FULL.channels + 1)
    words = Words.new(Random.new(SEED + 1))
    (first...(first + count)).each do |number|
      Channels.add(db, name: words.channel_name(number), description: words.channel_description)
    end
  end

  def initialize(db, size)
    @db = db
    @size = size
    @random = Random.new(SEED)
    @words = Words.new(@random)
  end

  def fill(schema)
    schema.gsub(/^--.*$/, "").split(";").map(&:strip).reject(&:empty?).each { |statement| @db.run(statement) }
    @db.filling do
      @db.run("BEGIN")
      fill_tables
      @db.run("COMMIT")
    end
    Dataset.last_ids(@size).each { |table, last_id| @db.restart_ids(table, last_id) }
  end

  private

  def fill_tables
    avatars = fill_images
    fill_users(avatars)
    fill_channels
    fill_messages
    # Last, so that an interrupted fill is seen as such.
    insert_all("seeded", %w[name last_id], Dataset.last_ids(@size).to_a)
  end

  # Returns the picture names.
  def fill_images
    add_image(1, Dataset::DEFAULT_AVATAR, Pictures.png(@random, bytes: @size.image_bytes.min))
    names = Array.new(Dataset::PICTURES) { |index| add_picture(index + 2) }
    copy_images
    names
  end

  def add_picture(id)
    # The exponent puts more pictures on the small side: 20 to 760 KB with a mean near 320 KB.
    spread = (@size.image_bytes.max - @size.image_bytes.min) * (@random.rand**1.5)
    data = Pictures.png(@random, bytes: @size.image_bytes.min + spread.to_i)
    "#{Digest::SHA256.hexdigest(data)}.png".tap { |name| add_image(id, name, data) }
  end

  def add_image(id, name, data)
    @db.run("INSERT INTO image (id, name, data) VALUES (?, ?, ?)", id, name, data)
  end

  # Every picture comes many times, as if each user had uploaded it. The server copies: quicker.
  def copy_images
    (Dataset::PICTURES..).step(Dataset::PICTURES).each do |offset|
      last = [Dataset::PICTURES + 1, @size.image_rows - offset].min
      return if last < 2

      @db.run("INSERT INTO image (id, name, data) " \
              "SELECT id + ?, name, data FROM image WHERE id BETWEEN 2 AND ?", offset, last)
    end
  end

  def fill_users(avatars)
    rows = (1..@size.users).map do |id|
      name = People.name(id)
      salt = format("%020d", @random.rand(10**20))
      password = Digest::SHA1.hexdigest(salt + People.password(name))
      [id, name, salt, password, name, avatars[Dataset.avatar_row(id) - 2], at(id)]
    end
    insert_all("users", %w[id name salt password display_name avatar_icon created_at], rows)
  end

  def fill_channels
    rows = (1..@size.channels).map do |id|
      [id, @words.channel_name(id), @words.channel_description, at(id), at(id)]
    end
    insert_all("channel", %w[id name description updated_at created_at], rows)
  end

  def fill_messages
    rows = (1..@size.messages).map do |id|
      author = 1 + (id % @size.users)
      [id, 1 + @random.rand(@size.channels), author, @words.message(id, People.name(author)), at(id)]
    end
    insert_all("message", %w[id channel_id user_id content created_at], rows)
  end

  def insert_all(table, columns, rows)
    row = "(#{(['?'] * columns.size).join(', ')})"
    rows.each_slice(BATCH_ROWS) do |batch|
      values = ([row] * batch.size).join(", ")
      @db.run("INSERT INTO #{table} (#{columns.join(', ')}) VALUES #{values}", *batch.flatten(1))
    end
  end

  def at(second) = (STARTED_AT + second).strftime("%Y-%m-%d %H:%M:%S")
end
