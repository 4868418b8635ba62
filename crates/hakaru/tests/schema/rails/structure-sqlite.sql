CREATE TABLE IF NOT EXISTS "authors" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "name" varchar(80) DEFAULT 'it''s \ so' NOT NULL, "nc" varchar COLLATE "NOCASE", "small" integer(2), "big" bigint DEFAULT 12345678901, "ok" boolean DEFAULT 0, "price" decimal(10,2) DEFAULT 0.0, "f" float DEFAULT 1.5, "at6" datetime(6) DEFAULT CURRENT_TIMESTAMP, "at" datetime, "clock" time, "day" date DEFAULT '2020-02-03', "txt" text DEFAULT (hex(randomblob(4))), "blob" blob, "j" json DEFAULT '{}', "loud" varchar GENERATED ALWAYS AS (upper(name)) STORED, "len" integer GENERATED ALWAYS AS (length(name)) VIRTUAL, CONSTRAINT small_pos CHECK (small > 0), CONSTRAINT chk_rails_9a8755ea15 CHECK (big > 0));
CREATE TABLE sqlite_sequence(name,seq);
CREATE UNIQUE INDEX "by_name" ON "authors" ("name") WHERE ok = 1;
CREATE INDEX "by_lower" ON "authors" (lower(name));
CREATE INDEX "by_both" ON "authors" ("small", "big" DESC);
CREATE TABLE IF NOT EXISTS "codes" ("code" varchar(36) NOT NULL PRIMARY KEY);
CREATE TABLE IF NOT EXISTS "pairs" ("a" bigint NOT NULL, "b" varchar NOT NULL, PRIMARY KEY ("a", "b"));
CREATE TABLE IF NOT EXISTS "posts" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "author_id" integer NOT NULL, "thing_type" varchar NOT NULL, "thing_id" integer NOT NULL, "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL, CONSTRAINT "fk_rails_04d13ef8c7"
FOREIGN KEY ("author_id")
  REFERENCES "authors" ("id")
 ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
CREATE INDEX "index_posts_on_thing" ON "posts" ("thing_type", "thing_id");
CREATE INDEX "index_posts_on_author_id" ON "posts" ("author_id");
CREATE TABLE IF NOT EXISTS "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY);
CREATE TABLE IF NOT EXISTS "ar_internal_metadata" ("key" varchar NOT NULL PRIMARY KEY, "value" varchar, "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL);
INSERT INTO "schema_migrations" (version) VALUES
('20240801000001');
