# frozen_string_literal: true

# What the generator puts into the database, and how to get back to that state after a run.
module Dataset
  # Row counts; `image_bytes` is the range of one picture's size.
  Size = Data.define(:users, :channels, :messages, :image_rows, :image_bytes)

  FULL = Size.new(users: 1_000, channels: 10, messages: 10_000, image_rows: 1_001,
                  image_bytes: 20_000..760_000)
  # For tests: the same people, a tenth of the words and of each picture, two copies instead of 15.
  SMALL = Size.new(users: 1_000, channels: 10, messages: 1_000, image_rows: 133,
                   image_bytes: 2_000..76_000)

  # Row 1 of `image` is the picture of people who never chose one; PICTURES distinct ones follow,
  # again and again, and user n has the one in row avatar_row(n).
  PICTURES = 66
  DEFAULT_AVATAR = "default.png"

  # Tables whose rows above the seeded ones are removed by a reset.
  TABLES = %w[users image channel message].freeze

  module_function

  # The id of the image row that shows user `id` after seeding.
  def avatar_row(id) = 2 + ((id - 1) % PICTURES)

  # Last seeded id by table, or nil when the database is empty or has other tables.
  def seeded(db)
    last_ids = db.rows("SELECT name, last_id FROM seeded").to_h { |row| [row["name"], row["last_id"]] }
    last_ids.keys.sort == TABLES.sort ? last_ids : nil
  end

  # What `seeded` returns after a complete fill of this size.
  def last_ids(size)
    { "users" => size.users, "image" => size.image_rows, "channel" => size.channels, "message" => size.messages }
  end

  # Undoes all that was added or changed since the fill.
  def reset(db)
    seeded(db).each do |table, last_id|
      db.run("DELETE FROM #{table} WHERE id > ?", last_id)
      db.restart_ids(table, last_id)
    end
    db.run("DELETE FROM haveread")
    restore_profiles(db)
  end

  def restore_profiles(db)
    db.run("UPDATE users SET display_name = name, avatar_icon = " \
           "(SELECT image.name FROM image WHERE image.id = 2 + ((users.id - 1) % #{PICTURES}))")
  end
end
