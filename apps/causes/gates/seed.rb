# frozen_string_literal: true

require "pg"

DB = PG.connect(ENV.fetch("DATABASE_URL"))
exit if ARGV.include?("--reset") && DB.exec("SELECT to_regclass('doors')").getvalue(0, 0)

# The function stands for a foreign table: the access system answers after 8 ms.
DB.exec(<<~SQL)
  CREATE TABLE doors (id serial PRIMARY KEY, badge_id integer NOT NULL, name text NOT NULL);
  INSERT INTO doors (badge_id, name) SELECT 1 + n % 500, 'Door ' || n FROM generate_series(1, 3000) AS n;
  CREATE INDEX ON doors (badge_id);
  CREATE FUNCTION doors_of(badge integer) RETURNS SETOF doors LANGUAGE sql AS
    'SELECT pg_sleep(0.008); SELECT * FROM doors WHERE badge_id = badge ORDER BY id';
  ANALYZE doors;
SQL
