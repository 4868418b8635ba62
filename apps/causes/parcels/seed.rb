# frozen_string_literal: true

require "pg"

DB = PG.connect(ENV.fetch("DATABASE_URL"))
exit if ARGV.include?("--reset") && DB.exec("SELECT to_regclass('parcels')").getvalue(0, 0)

DB.exec(<<~SQL)
  CREATE TABLE parcels (id serial PRIMARY KEY, code text NOT NULL, receiver text NOT NULL, state text NOT NULL);
  INSERT INTO parcels (code, receiver, state)
  SELECT 'P' || n * 7919 % 100000, 'Reader' || n % 300, 'sent' FROM generate_series(1, 6000) AS n;
  CREATE INDEX ON parcels (receiver, id);
  ANALYZE parcels;
SQL
