# frozen_string_literal: true

require_relative "../dataset"
require_relative "people"

# The users that flows log in as, as CSV text by file name.
#
# Three groups, since some checks hold only if nobody else uses the account at the same time:
# readers and writers; people who change their profile; people who never read a message. Each is
# large enough for 200 connections, as every connection takes a row of its own.
module Feeds
  FILES = {
    "users.csv" => 1..600,
    "profile_users.csv" => 601..800,
    "silent_users.csv" => 801..1_000
  }.freeze
  CHANNELS = 100
  # Coprime to CHANNELS, so that every channel is used and neighbours are apart.
  STRIDE = 37

  module_function

  def texts = FILES.transform_values { |ids| ["name,password,channel,seeded_channel", *ids.map { |id| line(id) }, ""].join("\n") }

  def write(folder) = texts.each { |name, text| File.write(File.join(folder, name), text) }

  def line(id)
    name = People.name(id)
    channel = 1 + ((id * STRIDE) % CHANNELS)
    seeded_channel = 1 + (id % Dataset::FULL.channels)
    [name, People.password(name), channel, seeded_channel].join(",")
  end
end
