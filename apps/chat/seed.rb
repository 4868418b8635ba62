# frozen_string_literal: true

# Fills the chat's database. The same rows every time.
#
#   ruby seed.rb            make the tables anew and fill them
#   ruby seed.rb --reset    before a measured run: undo what earlier runs did (fill if need be),
#                           then add channels 11 to 100
#   ruby seed.rb --feeds    write flows/*.csv, the users that flows log in as
#   --small                 (or CHAT_SMALL=1) less of everything, for tests
#
# Which database: see README.md.

require "fileutils"
require_relative "vendor/gems/chat_database/lib/chat_database"
require_relative "lib/channels"
require_relative "lib/dataset"
require_relative "lib/seed/feeds"
require_relative "lib/seed/filler"

# The two jobs of this program.
class Seed
  def initialize(size)
    @size = size
  end

  def fill
    remove_file
    with_database { |db| Filler.new(db, @size).fill(schema) }
  end

  def reset
    fill unless filled?
    with_database do |db|
      Dataset.reset(db)
      db.filling { Filler.add_channels(db) }
    end
  end

  private

  def filled?
    with_database { |db| Dataset.seeded(db) == Dataset.last_ids(@size) }
  rescue StandardError => error
    # Each driver has its own error for a table that is not there; the fill will fail on all others.
    warn "chat: filling the database (#{error.message.lines.first.strip})"
    false
  end

  # Quicker than dropping tables of 300 MB.
  def remove_file
    ["", "-wal", "-shm"].each { |suffix| FileUtils.rm_f(ChatDatabase.file + suffix) } if ChatDatabase.file
  end

  def with_database
    db = ChatDatabase.open
    yield db
  ensure
    db&.close
  end

  def schema = File.read(File.join(__dir__, "schema", "#{ChatDatabase.kind}.sql"))
end

unknown = ARGV - %w[--reset --feeds --small]
abort "chat: unknown argument #{unknown.first}; known are --reset, --feeds and --small" unless unknown.empty?

small = ARGV.include?("--small") || ENV["CHAT_SMALL"] == "1"
seed = Seed.new(small ? Dataset::SMALL : Dataset::FULL)
if ARGV.include?("--feeds") then Feeds.write(File.join(__dir__, "flows"))
elsif ARGV.include?("--reset") then seed.reset
else seed.fill
end
