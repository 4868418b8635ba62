# frozen_string_literal: true

Courier.insert_all!((1..8).map { |id| { id: id, name: "Courier #{id}" } })
ActiveRecord::Base.connection.execute(<<~SQL)
  INSERT INTO deliveries (courier_id, state, address, due_at)
  SELECT 1 + seq % 8, IF(seq % 97 = 0, 'open', 'delivered'), CONCAT('Mill Lane ', seq % 3000),
    '2024-03-01 08:00:00' + INTERVAL seq * 13 % 50000 MINUTE
  FROM seq_1_to_160000
SQL
ActiveRecord::Base.connection.execute("ANALYZE TABLE deliveries")
