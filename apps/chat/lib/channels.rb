# frozen_string_literal: true

# How a channel comes into being; the page for it and the preparation of a measured run share it.
module Channels
  # Returns the new channel's id.
  def self.add(db, name:, description:)
    db.insert("INSERT INTO channel (name, description, updated_at, created_at) " \
              "VALUES (?, ?, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)", name, description)
  end
end
