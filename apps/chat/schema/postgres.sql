-- The chat's tables, for PostgreSQL.
-- Planted: no index on image(name), none on message(channel_id).
-- The users table is not called "user": that is a reserved word in PostgreSQL.
DROP TABLE IF EXISTS haveread;
DROP TABLE IF EXISTS message;
DROP TABLE IF EXISTS channel;
DROP TABLE IF EXISTS image;
DROP TABLE IF EXISTS users;
DROP TABLE IF EXISTS seeded;

CREATE TABLE users (
  id BIGSERIAL PRIMARY KEY,
  name VARCHAR(191) NOT NULL UNIQUE,
  salt VARCHAR(20) NOT NULL,
  password VARCHAR(40) NOT NULL,
  display_name TEXT NOT NULL,
  avatar_icon TEXT NOT NULL,
  created_at TIMESTAMP(0) NOT NULL
);

CREATE TABLE image (
  id BIGSERIAL PRIMARY KEY,
  name VARCHAR(191) NOT NULL,
  data BYTEA NOT NULL
);

CREATE TABLE channel (
  id BIGSERIAL PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  updated_at TIMESTAMP(0) NOT NULL,
  created_at TIMESTAMP(0) NOT NULL
);

CREATE TABLE message (
  id BIGSERIAL PRIMARY KEY,
  channel_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  content TEXT NOT NULL,
  created_at TIMESTAMP(0) NOT NULL
);

CREATE TABLE haveread (
  user_id BIGINT NOT NULL,
  channel_id BIGINT NOT NULL,
  message_id BIGINT NOT NULL,
  updated_at TIMESTAMP(0) NOT NULL,
  created_at TIMESTAMP(0) NOT NULL,
  PRIMARY KEY (user_id, channel_id)
);

-- How many rows the generator made; GET /initialize removes what came later.
CREATE TABLE seeded (
  name VARCHAR(191) PRIMARY KEY,
  last_id BIGINT NOT NULL
);
