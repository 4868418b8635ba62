# frozen_string_literal: true

ActiveRecord::Base.connection.execute(<<~SQL)
  INSERT INTO exhibits (title, room, acquired_at, updated_at)
  SELECT 'Vase ' || n, n % 1600, TIMESTAMP '1900-01-01' + n * 7919 % 1000003 * INTERVAL '1 hour', TIMESTAMP '2024-03-01'
  FROM generate_series(1, 160000) AS n
SQL
ActiveRecord::Base.connection.execute("ANALYZE exhibits")
