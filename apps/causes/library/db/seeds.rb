# frozen_string_literal: true

ActiveRecord::Base.transaction do
  Member.insert_all!((1..2_000).map { |id| { id: id, name: "Member #{id}" } })
  Book.insert_all!((1..5_000).map { |id| { id: id, title: "Book #{id * 7919 % 5_000}" } })
end
ActiveRecord::Base.connection.execute(<<~SQL)
  INSERT INTO loans (member_id, book_id, due_on, returned)
  SELECT 1 + n * 31 % 2000, 1 + n * 17 % 5000, DATE '2024-03-01' + n % 60, n / 2000 % 20 > 0
  FROM generate_series(1, 400000) AS n
SQL
ActiveRecord::Base.connection.execute("ANALYZE loans")
